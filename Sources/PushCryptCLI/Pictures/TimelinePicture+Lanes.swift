import PushCryptCore

/// The rows: keys, the key that the policy asks for next, and below them the overlap.
extension TimelinePicture {
    var lanes: [String] {
        let count = timeline.lives.count
        let planned = view.successor.map { lane($0.phases, row: count) } ?? []
        return windows + timeline.lives.enumerated().flatMap { index, life in lane(life, row: index) } + planned
            + overlaps(from: count + (view.successor == nil ? 0 : 1))
    }

    func top(_ row: Int) -> Double { plot.frame.top + 8 + Double(row) * Self.rowHeight }

    // MARK: A key

    private func lane(_ life: KeyLife, row: Int) -> [String] {
        let base = top(row) + 15
        let isGone = life.state == .destroyed
        let bars = life.phases.flatMap { bar(life.kid, $0, top(row)) } + lead(life, top(row))
        return [
            SVG.text("\(life.state)", at: .init(x: Self.left, y: base), "state \(isGone ? "muted" : "\(life.state)")"),
            SVG.text("\(life.kid)", at: .init(x: plot.frame.left - 12, y: base), "text mono", anchor: .end),
            isGone ? faded(bars) : bars.joined(),
        ] + marks(life, top(row)) + [
            SVG.text(life.nextWords ?? "", at: .init(x: plot.frame.right + 12, y: base), "text")
        ]
    }

    func faded(_ parts: [String]) -> String { SVG.element("g", ["opacity": "0.45"], parts) }

    private func bar(_ kid: KeyID, _ phase: KeyPhase, _ top: Double) -> [String] {
        let (start, end) = span(phase)
        guard end - start > 0.3, phase.state != .destroyed else { return [] }
        let title = "key \(kid) is \(phase.state) \(told(phase))"
        guard phase.state.opens else {
            let frame = Frame(left: start, top: top + 8, width: end - start, height: 4)
            return [SVG.rectangle(frame, "\(phase.state)", radius: 2, title: title)]
        }
        let frame = Frame(left: start, top: top, width: end - start, height: Self.barHeight)
        let bar = SVG.rectangle(frame, "\(phase.state)", radius: 2, title: title)
        guard end - start > 60 else { return [bar] }
        return [bar, SVG.text("\(phase.state)", at: .init(x: start + 7, y: top + 14), "on-state")]
    }

    /// `from 2026-03-01T09:00:00Z to 2026-03-08T09:00:00Z (7d)`
    func told(_ phase: KeyPhase) -> String {
        guard let start = phase.start else { return phase.end.map { "to \($0)" } ?? "" }
        guard let end = phase.end else { return "from \(start) on" }
        return "from \(start) to \(end) (\(DurationText.human(end.seconds - start.seconds)))"
    }

    /// Where it was withdrawn or erased.
    private func marks(_ life: KeyLife, _ top: Double) -> [String] {
        life.phases.flatMap { phase -> [String] in
            guard let start = phase.start, axis.contains(start) else { return [] }
            let (x, middle) = (across(start), top + Self.barHeight / 2)
            switch phase.state {
            case .revoked:
                return [-6.0, 6].map { rise in
                    let (start, end) = (SVG.Point(x: x - 6, y: middle - rise), SVG.Point(x: x + 6, y: middle + rise))
                    return SVG.line(from: start, to: end, "line revoked-line")
                }
            case .destroyed:
                let (start, end) = (SVG.Point(x: x, y: middle - 8), SVG.Point(x: x, y: middle + 8))
                return [SVG.line(from: start, to: end, "line expired-line")]
            default: return []
            }
        }
    }

    /// How long the policy wants it published before it seals.
    private func lead(_ life: KeyLife, _ top: Double) -> [String] {
        guard let policy = view.policy, policy.publishLeadInSeconds > 0 else { return [] }
        let lead = DurationText.human(policy.publishLeadInSeconds)
        return zip(life.phases, life.phases.dropFirst()).flatMap { pending, primary -> [String] in
            guard pending.state == .pending, primary.state == .primary, let time = primary.start, axis.contains(time)
            else { return [] }
            return bracket(
                from: across(time - policy.publishLeadInSeconds), to: across(time), y: top + Self.barHeight + 4,
                "pending", label: nil, title: "the policy publishes a key \(lead) before it seals")
        }
    }

    // MARK: The next key

    private func lane(_ phases: [KeyPhase], row: Int) -> [String] {
        let top = top(row)
        let bars = phases.map { phase in
            let (start, end) = span(phase)
            return SVG.rectangle(
                Frame(left: start + 1, top: top + 1, width: max(end - start - 2, 0), height: Self.barHeight - 2),
                "line dashed \(phase.state)-line", radius: 2,
                title: "as the policy wants it: \(phase.state) \(told(phase))")
        }
        return [
            SVG.text("next key", at: .init(x: plot.frame.left - 12, y: top + 15), "muted", anchor: .end),
            SVG.text("planned", at: .init(x: Self.left, y: top + 15), "muted"),
        ] + bars
    }
}
