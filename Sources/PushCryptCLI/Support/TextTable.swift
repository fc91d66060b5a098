/// Columns of text under a header, for people.
struct TextTable {
    let text: String

    /// - Parameter rows: as many cells as `header`, harmless and without newlines.
    init(_ header: [String], _ rows: [[String]]) {
        let lines = [header] + rows
        let widths = header.indices.map { column in lines.map { $0[column].count }.max() ?? 0 }
        text =
            lines.map { line in
                zip(line, widths).map { cell, width in
                    cell + String(repeating: " ", count: width - cell.count)
                }.joined(separator: "  ").trimmingSpaces
            }.joined(separator: "\n") + "\n"
    }
}

extension String {
    fileprivate var trimmingSpaces: String {
        String(reversed().drop { $0 == " " }.reversed())
    }
}
