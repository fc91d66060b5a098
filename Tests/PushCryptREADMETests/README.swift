import Foundation

/// The text of README.md and its fenced code blocks.
enum README {
    static let packageRoot = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The blocks between "```language" and "```" below the heading of that name, down to the next heading.
    static func blocks(of languages: String..., below heading: String? = nil) throws -> [Block] {
        let text = try String(contentsOf: packageRoot.appendingPathComponent("README.md"), encoding: .utf8)
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

    struct Block {
        let language: String
        var lines: [String] = []

        var text: String { lines.joined(separator: "\n") }
    }
}
