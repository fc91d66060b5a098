/// Names that are nearly the same, for messages.
enum Spelling {
    /// The name that a misspelt one probably stands for: at most a third of its letters differ.
    static func nearest(to name: String, in names: [String]) -> String? {
        let wanted = Array(name.lowercased())
        let near = names.map { ($0, distance(wanted, Array($0.lowercased()))) }.min { $0.1 < $1.1 }
        guard let near, near.1 <= max(wanted.count, near.0.count) / 3 else { return nil }
        return near.0
    }

    /// How many letters are added, left out, replaced or exchanged with the next one.
    private static func distance(_ left: [Character], _ right: [Character]) -> Int {
        var rows = [Array(0...right.count)]
        for (index, letter) in left.enumerated() {
            var row = [index + 1]
            for (column, other) in right.enumerated() {
                let replaced = rows[index][column] + (letter == other ? 0 : 1)
                var least = min(replaced, row[column] + 1, rows[index][column + 1] + 1)
                if index > 0, column > 0, letter == right[column - 1], left[index - 1] == other {
                    least = min(least, rows[index - 1][column - 1] + 1)
                }
                row.append(least)
            }
            rows.append(row)
        }
        return rows[left.count][right.count]
    }
}
