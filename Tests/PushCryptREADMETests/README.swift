import Foundation

/// The text of README.md, or of another document, and its fenced code blocks.
enum README {
    static let packageRoot = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The blocks between "```language" and "```" below the heading of that name, down to the next heading.
    ///
    /// - Parameter document: its path in the package.
    static func blocks(
        of languages: String..., below heading: String? = nil, in document: String = "README.md"
    ) throws -> [Block] {
        let text = try text(of: document)
        var blocks: [Block] = []
        var open: Block?
        var isBelow = heading == nil
        for line in text.components(separatedBy: "\n") {
            if let block = open {
                if line == "```" {
                    if isBelow, languages.contains(block.language) { blocks.append(block) }
                    open = nil
                } else {
                    open?.lines.append(line)
                }
            } else if line.hasPrefix("```") {
                open = Block(language: String(line.dropFirst(3)))
            } else if let heading, line.hasPrefix("#") {
                isBelow = line.drop { $0 == "#" || $0 == " " } == heading
            }
        }
        return blocks
    }

    static func text(of document: String) throws -> String {
        try String(contentsOf: packageRoot.appendingPathComponent(document), encoding: .utf8)
    }

    struct Block {
        let language: String
        var lines: [String] = []

        var text: String { lines.joined(separator: "\n") }
    }
}
