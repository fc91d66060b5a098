import PushCryptCore

/// The windows in which keys overlap, and the legend.
extension TimelinePicture {
    /// Behind the bars: from the key that only opens to the one that seals.
    var windows: [String] {
        timeline.overlaps.joined().compactMap { overlap in
            let (kid, window, lives) = (overlap.kid, overlap.window, timeline.lives)
            let (start, end) = span(window)
            guard end > start, let row = lives.firstIndex(where: { $0.kid == kid }),
                let other = lives.firstIndex(where: { $0.seals(at: window.start ?? axis.start) })
            else { return nil }
            let rows = [top(row), top(other)].sorted()
            let title =
                "overlap: key \(lives[other].kid) seals, key \(kid) opens what is on its way, \(told(window))"
            return SVG.rectangle(
                Frame(left: start, top: rows[0], width: end - start, height: rows[1] - rows[0] + Self.barHeight),
                "retiring band", title: title)
        }
    }

    func overlaps(from first: Int) -> [String] {
        timeline.overlaps.enumerated().flatMap { index, overlaps in
            let top = top(first + index)
            let label = index == 0 ? "overlap" : ""
            return [SVG.text(label, at: .init(x: plot.frame.left - 12, y: top + 15), "muted", anchor: .end)]
                + overlaps.flatMap { bracket($0, top) }
        }
    }

    private func bracket(_ overlap: Timeline.Overlap, _ top: Double) -> [String] {
        let (start, end) = span(overlap.window)
        guard end - start > 0.3 else { return [] }
        var length: String?
        if let start = overlap.window.start, let end = overlap.window.end {
            length = TimeDistance.rough(end.seconds - start.seconds)
        }
        return bracket(
            from: start, to: end, y: top + 14, "retiring", label: length,
            isOpenAt: (start <= plot.frame.left, end >= plot.frame.right),
            title: "key \(overlap.kid) overlaps \(told(overlap.window))")
    }

    func bracket(
        from start: Double, to end: Double, y: Double, _ style: String, label: String?,
        isOpenAt open: (start: Bool, end: Bool) = (false, false), title: String
    ) -> [String] {
        let ends = [(start + 0.5, open.start), (end - 0.5, open.end)].filter { !$0.1 }
        let caps = ends.map { x, _ in
            SVG.line(from: .init(x: x, y: y - 3), to: .init(x: x, y: y + 3), "line \(style)-line")
        }
        let line = SVG.line(from: .init(x: start, y: y), to: .init(x: end, y: y), "line \(style)-line")
        let drawn = SVG.element("g", [:], [SVG.element("title", [:], [SVG.escaped(title)]), line] + caps)
        guard let label, Double(label.count) * 6.5 + 8 < end - start else { return [drawn] }
        return [drawn, SVG.text(label, at: .init(x: (start + end) / 2, y: y - 5), "label", anchor: .middle)]
    }

    var legend: [String] {
        let y = plot.frame.bottom + 52
        var parts = Legend(
            .area,
            [
                "pending": "pending", "primary": "seals and opens", "retiring": "opens only",
                "expired": "expired, not destroyed", "revoked": "revoked",
            ]
        ).parts(at: .init(x: Self.left, y: y))
        parts.append(
            faded([SVG.rectangle(Frame(left: 629, top: y - 10, width: 12, height: 12), "primary", radius: 2)]))
        parts.append(SVG.text("destroyed by now", at: .init(x: 649, y: y), "label"))
        let x = 774.0
        if view.policy != nil {
            parts += bracket(from: x, to: x + 18, y: y - 4, "pending", label: nil, title: "publish lead")
            parts.append(SVG.text("publish lead", at: .init(x: x + 24, y: y), "label"))
        }
        return parts
    }
}
