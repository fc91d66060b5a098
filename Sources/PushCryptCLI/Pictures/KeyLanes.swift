import PushCryptCore
import PushCryptKeystore

/// The lives of the keys as bars in the colours of their states.
struct KeyLanes {
    private let axis: RehearsalAxis

    init(_ axis: RehearsalAxis) {
        self.axis = axis
    }

    func parts(top: Double) -> [String] {
        let plot = axis.plot(top: top, height: 112, 0...1)
        let left = plot.frame.left
        var parts = [SVG.text("The keys", at: .init(x: left, y: top - 36), "heading")]
        parts += Legend(
            .area,
            [
                "pending": "published, not sealing (publishLead)", "primary": "seals", "retiring": "opens only",
                "expired": "expired",
            ]
        ).parts(at: .init(x: left, y: top - 14))
        for key in 0...RehearsedRotation.keys.upperBound {
            let top = top + Double(key) * 28
            parts.append(SVG.text("key \(key + 1)", at: .init(x: left - 8, y: top + 15), "muted", anchor: .end))
            parts += axis.stages(key).flatMap { bar($0, key, top, plot) }
        }
        return parts
    }

    private func bar(_ stage: RehearsalAxis.Stage, _ key: Int, _ top: Double, _ plot: Plot) -> [String] {
        let (start, end) = (plot.x.clamped(axis.value(stage.start)), plot.x.clamped(axis.value(stage.end)))
        let width = end - start
        guard width > 0.5 else { return [] }
        let isOver = stage.state == .expired
        let frame = Frame(left: start, top: isOver ? top + 8 : top, width: width, height: isOver ? 4 : 20)
        let title = "key \(key + 1) is \(stage.state) for \(DurationText.human(stage.end - stage.start))"
        let bar = SVG.rectangle(frame, "\(stage.state)", radius: 2, title: isOver ? nil : title)
        guard !isOver, width > 60 else { return [bar] }
        return [bar, SVG.text("\(stage.state)", at: .init(x: start + 7, y: top + 14), "on-state")]
    }
}
