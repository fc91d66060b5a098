import PushCryptCore

/// A rectangle with two axes. It maps values to pixels.
struct Plot {
    let frame: Frame
    let x: Scale
    let y: Scale

    typealias Tick = (value: Double, label: String)

    init(_ frame: Frame, x: ClosedRange<Double>, y: ClosedRange<Double>) {
        self.frame = frame
        self.x = Scale(values: x, start: frame.left, end: frame.right)
        self.y = Scale(values: y, start: frame.bottom, end: frame.top)
    }

    func point(_ xValue: Double, _ yValue: Double) -> SVG.Point { (x.clamped(xValue), y.clamped(yValue)) }

    /// - Parameter subtitle: whether there is a row between title and plot for a ``Legend``.
    func axes(title: String, subtitle: Bool, xTitle: String?, xTicks: [Tick], yTicks: [Tick]) -> [String] {
        let (left, right, bottom) = (frame.left, frame.right, frame.bottom)
        let grid = yTicks.flatMap { tick in
            [
                SVG.line(from: (left, y(tick.value)), to: (right, y(tick.value)), "grid"),
                SVG.text(tick.label, at: (left - 8, y(tick.value) + 4), "muted", anchor: .end),
            ]
        }
        let ticks = xTicks.flatMap { tick in
            [
                SVG.line(from: (x(tick.value), bottom), to: (x(tick.value), bottom + 5), "axis"),
                SVG.text(tick.label, at: (x(tick.value), bottom + 18), "muted", anchor: .middle),
            ]
        }
        let name = xTitle.map { [SVG.text($0, at: ((left + right) / 2, bottom + 36), "muted", anchor: .middle)] } ?? []
        return [SVG.text(title, at: (left, frame.top - (subtitle ? 36 : 14)), "heading")] + grid + ticks
            + [SVG.line(from: (left, bottom), to: (right, bottom), "axis")] + name
    }

    func band(_ values: ClosedRange<Double>, _ style: String, title: String? = nil) -> String {
        let (left, right) = (x.clamped(values.lowerBound), x.clamped(values.upperBound))
        return SVG.rectangle(
            Frame(left: left, top: frame.top, width: right - left, height: frame.height), style, title: title)
    }

    func mark(_ value: Double, _ label: String, _ style: String, anchor: SVG.Anchor = .start, row: Int = 0) -> [String]
    {
        let across = x.clamped(value)
        let shift = anchor == .end ? -5.0 : 5.0
        return [
            SVG.line(from: (across, frame.top), to: (across, frame.bottom), style),
            SVG.text(label, at: (across + shift, frame.top + 12 + 16 * Double(row)), "label", anchor: anchor),
        ]
    }

    /// Draws the area between the axis and a series that keeps each value until the next point.
    func area(_ points: [(x: Double, y: Double)], _ style: String) -> String {
        guard let first = points.first, let last = points.last else { return "" }
        let outline = points.map { point($0.x, $0.y) }
        return SVG.polygon(
            [point(first.x, y.values.lowerBound)] + outline + [point(last.x, y.values.lowerBound)], style)
    }
}

/// Maps the values of one axis to pixels.
struct Scale {
    let values: ClosedRange<Double>
    let start: Double
    let end: Double

    func callAsFunction(_ value: Double) -> Double {
        start + (value - values.lowerBound) / (values.upperBound - values.lowerBound) * (end - start)
    }

    /// The pixel of a value; of a value outside the axis the nearer end.
    func clamped(_ value: Double) -> Double { self(min(max(value, values.lowerBound), values.upperBound)) }

    /// About `count` round values from 0 to `limit`: multiples of 1, 2 or 5 times a power of ten.
    static func ticks(upTo limit: Double, count: Int) -> [Double] {
        guard limit > 0 else { return [0] }
        let rough = limit / Double(count)
        var power = 1.0
        while power > rough { power /= 10 }
        while power * 10 <= rough { power *= 10 }
        let step = [1, 2, 5, 10].map { $0 * power }.first { $0 >= rough * 0.999 } ?? 10 * power
        return (0...Int(limit / step * 1.000_001)).map { Double($0) * step }
    }
}

struct TimeUnit {
    let name: String
    let seconds: Double

    init(forSpan seconds: Double) {
        switch seconds {
        case ..<600: (name, self.seconds) = ("seconds", 1)
        case ..<10_800: (name, self.seconds) = ("minutes", 60)
        case ..<259_200: (name, self.seconds) = ("hours", 3_600)
        default: (name, self.seconds) = ("days", 86_400)
        }
    }
}

/// Explains the lines, areas or states of a plot in one row.
enum Legend {
    enum Sample { case line, area }

    /// - Parameter entries: pairs of a style and its meaning.
    static func parts(at point: SVG.Point, _ sample: Sample, _ entries: KeyValuePairs<String, String>) -> [String] {
        row(at: point, entries.map { ($0.value, $0.key) }) { style, left, middle in
            sample == .line
                ? [SVG.line(from: (left, middle), to: (left + 18, middle), style)]
                : [SVG.rectangle(Frame(left: left + 4, top: middle - 6, width: 12, height: 12), style, radius: 2)]
        }
    }

    /// - Parameter entries: pairs of a state and its meaning.
    static func states(at point: SVG.Point, _ entries: [(state: KeyState, meaning: String)]) -> [String] {
        row(at: point, entries.map { ($0.meaning, $0.state) }) { state, left, middle in
            StateBar.parts(state, from: left, to: left + 18, top: middle - StateBar.height / 2)
        }
    }

    /// Draws samples with their meanings.
    static func row<Kind>(
        at point: SVG.Point, _ entries: [(meaning: String, sample: Kind)],
        _ sample: (_ kind: Kind, _ left: Double, _ middle: Double) -> [String]
    ) -> [String] {
        var left = point.x
        return entries.flatMap { meaning, kind in
            defer { left += 24 + Double(meaning.count) * characterWidth + 20 }
            return sample(kind, left, point.y - 4) + [SVG.text(meaning, at: (left + 24, point.y), "label")]
        }
    }

    /// An upper bound for the fonts of the labels.
    private static let characterWidth = 6.2
}
