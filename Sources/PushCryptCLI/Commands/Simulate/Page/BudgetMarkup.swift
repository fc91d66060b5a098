import PushCryptCore

/// The byte budget of a payload: a bar, and a table of its parts.
struct BudgetMarkup {
    private let bar: BudgetBar

    /// - Parameter paddingByteCount: nil if it is unknown, because the payload wasn't opened.
    init(_ text: JSONText, paddingByteCount: Int?) {
        let breakdown = PayloadBreakdown(text)
        bar = BudgetBar(
            breakdown, padding: paddingByteCount.map(breakdown.ciphertextCharacters(ofPadding:)),
            limitInBytes: PayloadBudget.apnsLimitInBytes)
    }

    var html: String {
        HTML.element(
            "figure", class: "budget", [:], [HTML.text("figcaption", caption), picture, table])
    }

    private var caption: String {
        let over = bar.byteCount - bar.limitInBytes
        return "\(NumberText.grouped(bar.byteCount)) of \(NumberText.grouped(bar.limitInBytes)) bytes"
            + (over > 0 ? ", \(NumberText.grouped(over)) over the limit" : "")
    }

    /// One unit of the picture is one byte.
    private var picture: String {
        let total = max(bar.limitInBytes, bar.byteCount)
        var start = 0
        let rectangles = bar.parts.filter { $0.byteCount > 0 }.map { part in
            defer { start += part.byteCount }
            return SVG.element(
                "rect",
                [
                    "x": "\(start)", "y": "0", "width": "\(part.byteCount)", "height": "1",
                    "class": "part \(part.name)",
                ], [HTML.text("title", "\(part.name): \(NumberText.grouped(part.byteCount)) bytes")])
        }
        return SVG.element(
            "svg",
            ["viewBox": "0 0 \(total) 1", "preserveAspectRatio": "none", "aria-hidden": "true", "class": "bar"],
            rectangles)
    }

    private var table: String {
        let rows = bar.parts.map { part in
            row(HTML.element("i", class: "key \(part.name)"), part.name, part.byteCount, part.meaning)
        }
        let head = HTML.element(
            "thead", [:],
            [
                HTML.element(
                    "tr", [:], ["Part", "Bytes", "What it is"].map { HTML.element("th", ["scope": "col"], [$0]) })
            ])
        return HTML.element("table", [:], [head, HTML.element("tbody", [:], rows)])
    }

    private func row(_ key: String, _ name: String, _ byteCount: Int, _ meaning: String) -> String {
        HTML.element(
            "tr", [:],
            [
                HTML.element("th", ["scope": "row"], [key, HTML.escaped(name)]),
                HTML.text("td", class: "count", NumberText.grouped(byteCount)), HTML.text("td", meaning),
            ])
    }
}
