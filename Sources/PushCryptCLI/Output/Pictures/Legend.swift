/// What the lines and areas of a plot mean, in one row.
struct Legend {
    struct Entry {
        let style: String
        let words: String
    }

    enum Sample {
        case line, area
    }

    let sample: Sample
    let entries: [Entry]

    init(_ sample: Sample, _ entries: KeyValuePairs<String, String>) {
        self.sample = sample
        self.entries = entries.map(Entry.init)
    }

    /// - Parameter point: the left end of the row's base line.
    func parts(at point: SVG.Point) -> [String] {
        var left = point.x
        return entries.flatMap { entry in
            defer { left += 24 + Double(entry.words.count) * Self.characterWidth + 20 }
            let middle = point.y - 4
            let drawn =
                sample == .line
                ? SVG.line(from: .init(x: left, y: middle), to: .init(x: left + 18, y: middle), entry.style)
                : SVG.rectangle(Frame(left: left + 4, top: middle - 6, width: 12, height: 12), entry.style, radius: 2)
            return [drawn, SVG.text(entry.words, at: .init(x: left + 24, y: point.y), "label")]
        }
    }

    /// Of the labels' font size; no font of the list is wider.
    private static let characterWidth = 6.2
}
