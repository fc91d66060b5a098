import PushCryptCore
import PushCryptKeystore
import PushCryptPrimitives

/// Draws the share of devices that hold each key over time. Each grid line stands for ten times fewer devices without
/// the key, because even the last per mille of devices loses pushes.
struct SpreadPlot {
    private let axis: RehearsalAxis
    /// The top grid line is all devices, the next one all but 10^-nines of them.
    private let nines: Int

    init(_ axis: RehearsalAxis) {
        self.axis = axis
        nines = min(max(Int(log10(Double(axis.outcome.fleet.devices))), 2), 6)
    }

    func parts(top: Double) -> [String] {
        let plot = axis.plot(top: top, height: 180, 0...Double(nines + 1))
        let left = plot.frame.left
        var parts = axis.windows(plot)
        parts += plot.axes(
            title: "Devices that hold each key, in % of all", subtitle: true, xTitle: axis.unit.name,
            xTicks: axis.ticks, yTicks: percents)
        parts += Legend.parts(
            at: (left, top - 14), .line,
            [
                Self.style(.pending): "while pending", Self.style(.primary): "while primary",
                Self.style(.retiring): "while retiring",
            ])
        for key in RehearsedRotation.keys {
            for stage in axis.stages(key) where stage.state != .expired {
                parts.append(SVG.polyline(curve(key, stage, plot), Self.style(stage.state)))
            }
        }
        return parts + RehearsedRotation.keys.flatMap { activation($0, plot) }
    }

    private static func style(_ state: KeyState) -> String {
        let dash = [.pending: " dotted", .retiring: " dashed"][state] ?? ""
        return "line \(state)-line" + dash
    }

    private var percents: [Plot.Tick] {
        let shares = (0...nines).map { count in
            (Double(count), NumberText.decimal(100 - 100 / pow(10, Double(count)), 6) + "%")
        }
        return shares + [(Double(nines + 1), "all")]
    }

    private func activation(_ key: Int, _ plot: Plot) -> [String] {
        let time = axis.outcome.rotation.activation(key)
        let point = plot.point(axis.value(time), height(holding(key, at: time)))
        let dot = SVG.circle(point, radius: 4, "primary")
        guard key == RehearsedRotation.keys.lowerBound else { return [dot] }
        let tally = axis.outcome.tally
        let label = "\(NumberText.percent(tally.heldAtActivation, of: tally.holders)) hold a key as it begins to seal"
        return [dot, SVG.text(label, at: (point.x + 10, min(point.y + 22, plot.frame.bottom - 8)), "label")]
    }

    private func curve(_ key: Int, _ stage: RehearsalAxis.Stage, _ plot: Plot) -> [SVG.Point] {
        let series = axis.outcome.tally.series
        let end = min(stage.end, axis.end)
        guard stage.start < end else { return [] }
        let inner = (1..<series.count).map(series.start).filter { $0 > stage.start && $0 < end }
        return ([stage.start] + inner + [end]).map { time in
            plot.point(axis.value(time), height(holding(key, at: time)))
        }
    }

    /// The number of devices that hold the key. Fetches are spread evenly over each interval.
    private func holding(_ key: Int, at time: Int64) -> Double {
        let series = axis.outcome.tally.series
        let fetches = series.firstFetches[key - RehearsedRotation.keys.lowerBound]
        let passed = max(time - series.period.lowerBound, 0)
        let complete = Int(passed / series.widthInSeconds)
        let before = Double(fetches.prefix(complete).reduce(0, +))
        guard complete < fetches.count else { return before }
        // Fetches in the interval of the publication follow the publication.
        let start = max(series.start(complete), axis.outcome.rotation.publication(key))
        let part = Double(time - start) / Double(max(series.start(complete + 1) - start, 1))
        return before + Double(fetches[complete]) * max(part, 0)
    }

    private func height(_ devices: Double) -> Double {
        let without = 1 - devices / Double(axis.outcome.fleet.devices)
        return without > 0 ? min(-log10(without), Double(nines) + 0.9) : Double(nines + 1)
    }
}

struct KeyLanes {
    let axis: RehearsalAxis

    func parts(top: Double) -> [String] {
        let plot = axis.plot(top: top, height: 112, 0...1)
        let left = plot.frame.left
        var parts = [SVG.text("The keys", at: (left, top - 36), "heading")]
        parts += Legend.states(
            at: (left, top - 14),
            [
                (.pending, "published, not sealing (publishLead)"), (.primary, "seals"), (.retiring, "opens only"),
                (.expired, "expired"),
            ])
        for key in 0...RehearsedRotation.keys.upperBound {
            let top = top + Double(key) * 28
            parts.append(SVG.text("key \(key + 1)", at: (left - 8, top + 15), "muted", anchor: .end))
            parts += axis.stages(key).flatMap { bar($0, key, top, plot) }
        }
        return parts
    }

    private func bar(_ stage: RehearsalAxis.Stage, _ key: Int, _ top: Double, _ plot: Plot) -> [String] {
        let (start, end) = (plot.x.clamped(axis.value(stage.start)), plot.x.clamped(axis.value(stage.end)))
        guard end - start > 0.5 else { return [] }
        let title = "key \(key + 1) is \(stage.state) for \(DurationText.human(stage.end - stage.start))"
        return StateBar.parts(
            stage.state, from: start, to: end, top: top, title: stage.state == .expired ? nil : title)
            + StateBar.label(stage.state, from: start, to: end, top: top)
    }
}
