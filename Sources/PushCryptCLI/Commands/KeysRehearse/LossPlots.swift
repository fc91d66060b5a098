import PushCryptCore
import PushCryptKeystore
import PushCryptPrimitives

struct LossPlot {
    private typealias Layer = (style: String, heights: [Double])

    private let axis: RehearsalAxis
    /// Stacked, in percent of the pushes sent in the interval.
    private let layers: [Layer]
    private let highest: Double

    /// The number of intervals drawn as one: pushes to a device are sent in steps of that length.
    private static let width = RehearsalSeries.group

    init(_ axis: RehearsalAxis) {
        self.axis = axis
        let (fleet, series) = (axis.outcome.fleet, axis.outcome.tally.series)
        let width = Double(Self.width) * Double(series.widthInSeconds)
        let sent = Double(fleet.devices) * width / 86_400 * fleet.pushesPerDay
        var heights = [Double](repeating: 0, count: (series.count + Self.width - 1) / Self.width)
        let losses: [(style: String, RehearsalSeries.Loss)] = [
            ("lost", .keyNotFetched), ("late", .keyExpired), ("unseen", .deviceUnseen),
        ]
        layers = losses.map { style, loss in
            for (index, count) in series.losses(loss).enumerated() {
                heights[index / Self.width] += Double(count) / sent * 100
            }
            return (style, heights)
        }
        highest = heights.max() ?? 0
    }

    func parts(top: Double) -> [String] {
        let plot = axis.plot(top: top, height: 130, 0...max(highest * 1.08, 0.001))
        let ticks = Scale.ticks(upTo: max(highest, 0.001), count: 4).map { tick in
            (tick, NumberText.decimal(tick, 6) + "%")
        }
        var parts = axis.windows(plot)
        // The highest layer first: the lower ones cover part of it.
        parts += layers.reversed().map { area($0, plot) }
        parts += plot.axes(
            title: "Pushes that show the placeholder, in % of those sent at the time", subtitle: true,
            xTitle: axis.unit.name, xTicks: axis.ticks, yTicks: ticks)
        parts += Legend.parts(
            at: (plot.frame.left, top - 14), .area,
            [
                "lost": "lost to the policy: key not fetched yet", "late": "lost to the policy: key expired",
                "unseen": "device fetched nothing for over 30 days",
            ])
        if highest == 0 { parts.append(SVG.text("none", at: (plot.frame.left + 10, plot.frame.bottom - 8), "label")) }
        return parts
    }

    private func area(_ layer: Layer, _ plot: Plot) -> String {
        let series = axis.outcome.tally.series
        let points = layer.heights.enumerated().flatMap { index, height in
            [index, index + 1].map { edge in
                (x: axis.value(min(series.start(edge * Self.width), axis.end)), y: height)
            }
        }
        return plot.area(points, layer.style)
    }
}

/// Draws the share of pushes that would be lost with other values of publishLead or overlap. The logarithmic scale shows
/// the difference between few and none.
struct LeadPlot {
    private let outcome: RehearsalOutcome
    private let plot: Plot
    private let unit: TimeUnit
    /// The lowest line above "none" is 10^-exponent of all pushes.
    private let exponent: Int

    init(_ outcome: RehearsalOutcome, top: Double) {
        self.outcome = outcome
        var exponent = 2
        while exponent < 12, Double(outcome.tally.pushes.sent) > Self.power(exponent) { exponent += 1 }
        self.exponent = exponent
        let longest = max(
            outcome.rotation.publishLeadInSeconds, outcome.smallestLeadInSeconds, outcome.smallestOverlapInSeconds)
        let span = min(max(Double(longest) * 1.12, 7_200), 32 * 86_400)
        unit = TimeUnit(forSpan: span)
        plot = Plot(
            Frame(left: RehearsalPicture.left, top: top, width: RehearsalPicture.plotWidth, height: 150),
            x: 0...span / unit.seconds, y: -Double(exponent) - 1...0)
    }

    var parts: [String] {
        let lengths = Scale.ticks(upTo: plot.x.values.upperBound, count: 16).map { tick in
            (tick, NumberText.decimal(tick, 1))
        }
        return plot.axes(
            title: "Pushes lost with another publishLead or overlap, in % of all", subtitle: true,
            xTitle: "length in \(unit.name)", xTicks: lengths, yTicks: percents) + [
                curve(outcome.tally.overlap, "line dashed retiring-line"),
                curve(outcome.tally.lead, "line pending-line"),
            ] + marks + legend
    }

    private var percents: [Plot.Tick] {
        let step = exponent > 7 ? 2 : 1
        let powers = stride(from: 0, through: exponent, by: step).map { power in
            (-Double(power), NumberText.decimal(100 / Self.power(power), 10) + "%")
        }
        return powers + [(-Double(exponent) - 1, "none")]
    }

    private func curve(_ needs: PushNeeds, _ style: String) -> String {
        SVG.polyline(
            (0...HourHistogram.hours).map { hours in
                plot.point(value(Int64(hours) * 3_600), height(needs.histogram.count(above: hours)))
            }, style)
    }

    private func height(_ count: Int) -> Double {
        guard count > 0 else { return -Double(exponent) - 1 }
        return log10(Double(count) / Double(outcome.tally.pushes.sent))
    }

    private var marks: [String] {
        let (lead, smallest) = (outcome.rotation.publishLeadInSeconds, outcome.smallestLeadInSeconds)
        func mark(_ seconds: Int64, _ label: String, row: Int) -> [String] {
            let isRight = value(seconds) > plot.x.values.upperBound * 0.7
            let beyond = value(seconds) > plot.x.values.upperBound ? " →" : ""
            return plot.mark(value(seconds), label + beyond, "marker", anchor: isRight ? .end : .start, row: row)
        }
        return mark(lead, "this policy: \(DurationText.human(lead))", row: 0)
            + mark(smallest, "loses none from \(DurationText.human(smallest)) on", row: 1)
    }

    private var legend: [String] {
        Legend.parts(
            at: (plot.frame.left, plot.frame.top - 14), .line,
            [
                "line pending-line": "publishLead",
                "line dashed retiring-line": "overlap, without the protocol's minimum of 30 days",
            ])
    }

    private func value(_ seconds: Int64) -> Double { Double(seconds) / unit.seconds }

    private static func power(_ exponent: Int) -> Double { pow(10, Double(exponent)) }
}
