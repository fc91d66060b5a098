/// Writes SVG elements. All text and attribute values are escaped.
enum SVG {
    typealias Point = (x: Double, y: Double)

    enum Anchor: String { case start, middle, end }

    static func element(
        _ name: String, _ attributes: KeyValuePairs<String, String>, _ children: [String] = []
    ) -> String {
        let list = attributes.map { " \($0.key)=\"\(escaped($0.value))\"" }.joined()
        guard !children.isEmpty else { return "<\(name)\(list)/>" }
        return "<\(name)\(list)>\(children.joined())</\(name)>"
    }

    static func text(_ content: String, at point: Point, _ style: String = "text", anchor: Anchor = .start) -> String {
        element(
            "text", ["x": number(point.x), "y": number(point.y), "class": style, "text-anchor": anchor.rawValue],
            [escaped(content)])
    }

    static func line(from start: Point, to end: Point, _ style: String) -> String {
        element(
            "line",
            ["x1": number(start.x), "y1": number(start.y), "x2": number(end.x), "y2": number(end.y), "class": style])
    }

    static func rectangle(_ frame: Frame, _ style: String, radius: Double = 0, title: String? = nil) -> String {
        element(
            "rect",
            [
                "x": number(frame.left), "y": number(frame.top), "width": number(frame.width),
                "height": number(frame.height), "rx": number(radius), "class": style,
            ], title.map { [element("title", [:], [escaped($0)])] } ?? [])
    }

    static func polyline(_ points: [Point], _ style: String) -> String {
        element("polyline", ["points": coordinates(points), "class": style])
    }

    static func polygon(_ points: [Point], _ style: String) -> String {
        element("polygon", ["points": coordinates(points), "class": style])
    }

    static func circle(_ centre: Point, radius: Double, _ style: String) -> String {
        element("circle", ["cx": number(centre.x), "cy": number(centre.y), "r": number(radius), "class": style])
    }

    /// The number with at most two decimals.
    static func number(_ value: Double) -> String {
        let hundredths = Int((value * 100).rounded())
        let (whole, rest) = (abs(hundredths) / 100, abs(hundredths) % 100)
        let sign = hundredths < 0 ? "-" : ""
        guard rest > 0 else { return "\(sign)\(whole)" }
        let digits = rest % 10 == 0 ? "\(rest / 10)" : rest < 10 ? "0\(rest)" : "\(rest)"
        return "\(sign)\(whole).\(digits)"
    }

    /// Escapes as XML 1.0 section 2.4 requires, and replaces all control and format characters.
    static func escaped(_ text: String) -> String { HTML.escaped(TerminalText.harmless(text.utf8)) }

    private static func coordinates(_ points: [Point]) -> String {
        points.map { "\(number($0.x)),\(number($0.y))" }.joined(separator: " ")
    }
}

struct Frame {
    var left: Double
    var top: Double
    var width: Double
    var height: Double

    var right: Double { left + width }
    var bottom: Double { top + height }
}
