import Foundation

/// The documents of the package: their texts, fenced code blocks and links.
enum Documents {
    static let packageRoot = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// Documents whose Swift code is compiled and whose transcripts are run.
    static let tested =
        ["README.md", "Keys/README.md"] + files(in: "docs", withSuffix: ".md")
        + files(in: "docs/runbooks", withSuffix: ".md")

    /// Documents of examples, whose links and paths are checked. They name types of packages of their own.
    static let examples = ["Examples/backend", "Examples/queue", "Examples/spark", "Senders/python"].map {
        "\($0)/README.md"
    }

    /// Documents whose links, paths and shell commands are checked.
    static let all = named + examples

    /// Documents whose names of types are checked too.
    static let named =
        tested + [
            "SECURITY.md", "CONTRIBUTING.md", "Benchmarks/README.md", "Benchmarks/Cost.md", "Benchmarks/Delivery.md",
            "Conformance/vectors/README.md",
        ]

    static func text(of document: String) throws -> String {
        try String(contentsOf: packageRoot.appendingPathComponent(document), encoding: .utf8)
    }

    /// The paths of the files directly in a folder, sorted.
    static func files(in folder: String, withSuffix suffix: String) -> [String] {
        let names = try? FileManager.default.contentsOfDirectory(
            atPath: packageRoot.appendingPathComponent(folder).path)
        return (names ?? []).filter { $0.hasSuffix(suffix) }.sorted().map { "\(folder)/\($0)" }
    }

    /// The blocks between "```language" and "```", with the heading above each.
    ///
    /// - Parameters:
    ///   - languages: the languages of the blocks; none for all.
    ///   - document: a path in the package.
    static func blocks(of languages: String..., in document: String) throws -> [Block] {
        var blocks: [Block] = []
        var open: Block?
        var heading = ""
        for line in try text(of: document).components(separatedBy: "\n") {
            if var block = open {
                if line == "```" {
                    if languages.isEmpty || languages.contains(block.language) { blocks.append(block) }
                    open = nil
                } else {
                    block.lines.append(line)
                    open = block
                }
            } else if line.hasPrefix("```") {
                open = Block(heading: heading, language: String(line.dropFirst(3)))
            } else if line.hasPrefix("#") {
                heading = String(line.drop { $0 == "#" || $0 == " " })
            }
        }
        return blocks
    }

    /// The text without its fenced blocks.
    static func prose(of document: String) throws -> String {
        var isInBlock = false
        return try text(of: document).components(separatedBy: "\n").filter { line in
            if line.hasPrefix("```") {
                isInBlock.toggle()
                return false
            }
            return !isInBlock
        }.joined(separator: "\n")
    }

    struct Block {
        let heading: String
        let language: String
        var lines: [String] = []

        var text: String { lines.joined(separator: "\n") }
    }
}
