import Foundation

/// The parser's own description of a command.
struct DescribedCommand: Decodable {
    let commandName: String
    let discussion: String?
    let subcommands: [DescribedCommand]?
    let arguments: [Argument]?

    struct Argument: Decodable {
        struct Name: Decodable { let name: String }

        /// `positional`, `option` or `flag`.
        let kind: String
        let isOptional: Bool
        let isRepeating: Bool
        let names: [Name]?
        let preferredName: Name?
        let valueName: String?
        let parsingStrategy: String
        let sectionTitle: String?

        /// `--topic`, or `<FILE>`.
        var name: String { preferredName.map { "--" + $0.name } ?? "<\(valueName ?? "")>" }
    }

    /// The names of its options and flags without dashes, also the short ones.
    var optionNames: Set<String> { Set((arguments ?? []).flatMap { $0.names ?? [] }.map(\.name)) }

    /// The commands without subcommands, with their paths.
    func leaves(_ path: String = "") -> [(path: String, command: DescribedCommand)] {
        let path = path.isEmpty ? commandName : path + " " + commandName
        let children = (subcommands ?? []).filter { $0.commandName != "help" }
        return children.isEmpty ? [(path, self)] : children.flatMap { $0.leaves(path) }
    }

    /// Every command of the tool without subcommands, with its path: `pushcrypt keys list`.
    static let all = Result {
        struct Tool: Decodable { let command: DescribedCommand }
        let dump = try CLI.run(["--experimental-dump-help"]).stdout
        return try JSONDecoder().decode(Tool.self, from: dump).command.leaves()
    }
}
