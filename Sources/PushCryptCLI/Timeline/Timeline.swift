import PushCryptCore

/// What of a keyset's statuses is drawn, in characters or as a picture.
struct Timeline {
    let view: KeysetView
    let axis: TimeAxis
    /// In the order in which they came. What was destroyed before the axis begins isn't drawn.
    let statuses: [KeyStatus]
    /// When a key that seals no more opens beside the one that does. Windows in a row don't touch each other's inside.
    let overlaps: [[Overlap]]

    struct Overlap {
        let kid: KeyID
        let window: KeyPhase
    }

    init(_ view: KeysetView) {
        let axis = TimeAxis(view)
        self.view = view
        self.axis = axis
        statuses = view.statuses.filter { status in
            status.phases.contains { $0.state != .destroyed && axis.shows($0) }
        }
        overlaps = Self.rows(
            statuses.flatMap { status in
                status.phases.filter { $0.state == .retiring && axis.shows($0) }.map {
                    Overlap(kid: status.kid, window: $0)
                }
            })
    }

    /// `2 keys destroyed earlier`; nil for none.
    var leftOut: String? {
        let count = view.statuses.count - statuses.count
        return count > 0 ? "\(count) \(count == 1 ? "key" : "keys") destroyed earlier" : nil
    }

    /// Each window into the first row that is free from its start on.
    private static func rows(_ overlaps: [Overlap]) -> [[Overlap]] {
        let always = UnixTime(.min)
        var rows = [[Overlap]]()
        for overlap in overlaps.sorted(by: { $0.window.start ?? always < $1.window.start ?? always }) {
            let free = rows.firstIndex { row in
                guard let end = row.last?.window.end, let start = overlap.window.start else { return false }
                return end <= start
            }
            if let free { rows[free].append(overlap) } else { rows.append([overlap]) }
        }
        return rows
    }
}

extension TimeAxis {
    func shows(_ phase: KeyPhase) -> Bool {
        (phase.start ?? start) < end && (phase.end ?? end) > start
    }
}
