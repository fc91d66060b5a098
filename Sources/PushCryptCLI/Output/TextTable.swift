/// Columns of text under headings, two spaces apart.
struct TextTable {
    struct Column {
        let heading: String
        /// If the table is too wide, columns with the lowest importance are left out first. nil: never left out.
        var importance: Int?

        init(_ heading: String, importance: Int? = nil) {
            self.heading = heading
            self.importance = importance
        }
    }

    struct Cell {
        let text: String
        /// Adds escape sequences, which don't count as width.
        var styled: (String) -> String = { $0 }
    }

    private var columns: [Column]
    private var rows: [[Cell]]

    init(_ columns: [Column], _ rows: [[Cell]]) {
        self.columns = columns
        self.rows = rows
    }

    /// The lines, without trailing spaces.
    func lines(_ terminal: TerminalText, width: Int) -> [String] {
        var table = self
        while table.width > width, let index = table.leastImportant {
            table.columns.remove(at: index)
            for row in table.rows.indices { table.rows[row].remove(at: index) }
        }
        let heading = table.columns.map { column in Cell(text: column.heading) { terminal.styled($0, .heading) } }
        return ([heading] + table.rows).flatMap { table.wrapped($0, width: width) }
    }

    /// A row in lines: if the table is too wide, the last column's text goes on below.
    private func wrapped(_ row: [Cell], width: Int) -> [String] {
        let start = widths.dropLast().reduce(0) { $0 + $1 + 2 }
        let first = zip(row.dropLast(), widths).map { cell, width in
            cell.styled(cell.text) + String(repeating: " ", count: width - cell.text.columnCount) + "  "
        }.joined()
        guard let last = row.last else { return [] }
        let room = width - start
        let lines = room < 12 ? [last.text] : TerminalText.wrap(last.text, width: room)
        return lines.enumerated().map { index, line in
            (index == 0 ? first : String(repeating: " ", count: start)) + last.styled(line)
        }
    }
    private var widths: [Int] {
        columns.enumerated().map { index, column in
            rows.map { $0[index].text.columnCount }.reduce(column.heading.columnCount, max)
        }
    }

    private var width: Int { widths.reduce(0, +) + 2 * (columns.count - 1) }

    private var leastImportant: Int? {
        columns.indices.filter { columns[$0].importance != nil }
            .min { columns[$0].importance! < columns[$1].importance! }
    }
}

extension TextTable.Cell: ExpressibleByStringLiteral {
    init(stringLiteral text: String) { self.init(text: text) }
}
