import ArgumentParser

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Refuses an option that takes one value and is given twice. The parser would silently take the last value.
enum RepeatedOptions {
    /// - Parameter arguments: the arguments of the process, which the parser has accepted.
    static func refuse(
        of command: any ParsableCommand.Type, in arguments: [String] = CommandLine.arguments
    ) throws(Failure) {
        let repeated = repeatedNames(in: arguments)
        guard !repeated.isEmpty, let single = singleOptions(of: command) else { return }
        guard let name = repeated.first(where: single.contains) else { return }
        throw Failure(.usage, "--\(name) is given more than once, but takes one value")
    }

    /// The long names that occur more than once. A value never begins with `--`, unless it follows `=`.
    private static func repeatedNames(in arguments: [String]) -> [String] {
        var seen: Set<String> = []
        return arguments.prefix { $0 != "--" }.filter { $0.hasPrefix("--") }.compactMap { argument in
            let name = argument.dropFirst(2).prefix { $0 != "=" }
            return seen.insert(String(name)).inserted ? nil : String(name)
        }
    }

    /// The options of the command that have one value, from the parser's own description of it.
    private static func singleOptions(of command: any ParsableCommand.Type) -> Set<String>? {
        guard let tool = try? JSONDecoder().decode(Tool.self, from: Data(command._dumpHelp().utf8)) else { return nil }
        let single = tool.command.arguments.filter { $0.kind == "option" && !$0.isRepeating }
        return Set(single.flatMap { $0.names ?? [] }.map(\.name))
    }

    private struct Tool: Decodable { let command: Command }

    private struct Command: Decodable { let arguments: [Argument] }

    private struct Argument: Decodable {
        struct Name: Decodable { let name: String }

        let kind: String
        let isRepeating: Bool
        let names: [Name]?
    }
}
