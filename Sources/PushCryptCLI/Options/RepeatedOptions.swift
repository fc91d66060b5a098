import ArgumentParser

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Refuses an option that takes one value and is given twice. The parser would silently take the last value. This applies only
/// to `simulate` and `diagnose`: scripts that use other commands append options to replace earlier ones.
enum RepeatedOptions {
    private static let commands = ["simulate", "diagnose"]

    /// - Parameter arguments: the arguments of the process, which the parser has accepted.
    /// - Throws: `ValidationError`.
    static func refuse(in arguments: [String]) throws {
        guard let command = arguments.first, commands.contains(command) else { return }
        let repeated = repeatedNames(in: arguments)
        guard !repeated.isEmpty, let single = singleOptions(of: arguments) else { return }
        guard let name = repeated.first(where: single.contains) else { return }
        throw ValidationError("--\(name) is given more than once, but takes one value.")
    }

    /// The long names that occur more than once. A value never begins with `--`, unless it follows `=`.
    private static func repeatedNames(in arguments: [String]) -> [String] {
        var seen: Set<String> = []
        return arguments.prefix { $0 != "--" }.filter { $0.hasPrefix("--") }.compactMap { argument in
            let name = argument.dropFirst(2).prefix { $0 != "=" }
            return seen.insert(String(name)).inserted ? nil : String(name)
        }
    }

    /// The options of the command that have one value, from the parser's own description of the tool.
    private static func singleOptions(of arguments: [String]) -> Set<String>? {
        guard let tool = try? JSONDecoder().decode(Tool.self, from: Data(PushCrypt._dumpHelp().utf8)) else {
            return nil
        }
        var command = tool.command
        for argument in arguments {
            guard let next = command.subcommands?.first(where: { $0.commandName == argument }) else { break }
            command = next
        }
        let single = (command.arguments ?? []).filter { $0.kind == "option" && !$0.isRepeating }
        return Set(single.flatMap { $0.names ?? [] }.map(\.name))
    }

    private struct Tool: Decodable { let command: Command }

    private struct Command: Decodable {
        let commandName: String
        let subcommands: [Command]?
        let arguments: [Argument]?
    }

    private struct Argument: Decodable {
        struct Name: Decodable { let name: String }

        let kind: String
        let isRepeating: Bool
        let names: [Name]?
    }
}
