import ArgumentParser

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What the parser would accept, and must not: an empty value, a very long one, and a second one for an option that takes one
/// value, of which it would silently take the last. It would also read letters of a key's id that begins with a dash as options,
/// among them `h` for help.
enum GivenValues {
    /// Longer than every value that an option accepts: the longest path of the system.
    static let limitInBytes = 4096

    /// - Parameter arguments: those of the process, without its name.
    /// - Returns: the arguments for the parser. A value that begins with a dash follows `--`, with the later ones.
    static func checked(_ arguments: [String] = Array(CommandLine.arguments.dropFirst())) throws(Failure) -> [String] {
        guard needsDescription(arguments) else { return arguments }
        let (command, rest) = command(of: arguments[...])
        guard let known = description(of: command) else { return arguments }
        try refuse(rest, known)
        return arguments.dropLast(rest.count) + separated(rest, known)
    }

    private static func refuse(_ rest: ArraySlice<String>, _ known: [Argument]) throws(Failure) {
        var seen: Set<String> = []
        for (argument, value) in values(in: rest, known) {
            guard argument.isRepeating || argument.kind == "positional" || seen.insert(argument.name).inserted else {
                throw Failure(.usage, "\(argument.name) is given more than once, but takes one value")
            }
            guard !value.isEmpty else {
                throw Failure(
                    .usage,
                    "\(argument.name) has an empty value; if it comes from a variable, that is not set. Help: \(argument.help)"
                )
            }
            guard value.utf8.count <= limitInBytes else {
                throw Failure(
                    .usage,
                    "\(argument.name) has a value of \(value.utf8.count) bytes, and at most \(limitInBytes) are accepted"
                )
            }
        }
    }

    /// Whether a value may have to be refused. Nearly all commands need no description of their options, which takes time.
    private static func needsDescription(_ arguments: [String]) -> Bool {
        var seen: Set<Substring> = []
        return arguments.contains { argument in
            guard !argument.isEmpty, !argument.hasSuffix("="), argument.utf8.count <= limitInBytes, !isDashed(argument)
            else { return true }
            return argument.hasPrefix("--") && !seen.insert(argument.prefix { $0 != "=" }).inserted
        }
    }

    /// Whether the word is a value with a dash: no option of one dash has more than one letter.
    private static func isDashed(_ word: String) -> Bool {
        word.hasPrefix("-") && !word.hasPrefix("--") && word.utf8.count > 2
    }

    /// The options and their values, then the other values from the first one that begins with a dash.
    private static func separated(_ arguments: ArraySlice<String>, _ known: [Argument]) -> [String] {
        var (rest, options, values) = (arguments, [String](), [String]())
        while let word = rest.popFirst(), word != "--" {
            guard !isDashed(word), values.isEmpty || (word.hasPrefix("-") && word != "-") else {
                values.append(word)
                continue
            }
            options.append(word)
            if known.contains(where: { $0.kind == "option" && $0.name == word }), let value = rest.popFirst() {
                options.append(value)
            }
        }
        values += rest
        return values.isEmpty ? options : options + ["--"] + values
    }

    private static func command(
        of arguments: ArraySlice<String>
    ) -> (any ParsableCommand.Type, rest: ArraySlice<String>) {
        var (command, rest): (any ParsableCommand.Type, ArraySlice<String>) = (PushCrypt.self, arguments)
        while let child = command.configuration.subcommands.first(where: { $0._commandName == rest.first }) {
            (command, rest) = (child, rest.dropFirst())
        }
        return (command, rest)
    }

    /// The values and what they are given for, in their order.
    private static func values(in arguments: ArraySlice<String>, _ known: [Argument]) -> [(Argument, String)] {
        var (rest, given) = (arguments, [(Argument, String)]())
        var positionals = known.filter { $0.kind == "positional" }[...]
        func addPositional(_ value: String) {
            guard let argument = positionals.first else { return }
            given.append((argument, value))
            if !argument.isRepeating { positionals.removeFirst() }
        }
        while let word = rest.popFirst() {
            guard word != "--" else {
                rest.forEach(addPositional)
                break
            }
            guard word.hasPrefix("-"), word != "-", !isDashed(word) else {
                addPositional(word)
                continue
            }
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let option = known.first(where: { $0.kind == "option" && $0.name == parts[0] }) else { continue }
            if parts.count == 2 {
                given.append((option, String(parts[1])))
            } else if let value = rest.first, option.takesDashes || !value.hasPrefix("-") || value == "-" {
                given.append((option, value))
                rest.removeFirst()
            }
        }
        return given
    }

    /// The parser's own description of the command.
    private static func description(of command: any ParsableCommand.Type) -> [Argument]? {
        struct Tool: Decodable { let command: Command }
        struct Command: Decodable { let arguments: [Argument]? }
        return try? JSONDecoder().decode(Tool.self, from: Data(command._dumpHelp().utf8)).command.arguments ?? []
    }

    private struct Argument: Decodable {
        struct Name: Decodable { let name: String }

        let kind: String
        let isRepeating: Bool
        let parsingStrategy: String
        let preferredName: Name?
        let valueName: String?
        let abstract: String?

        /// The option with its dashes, or `<FILE>`.
        var name: String { preferredName.map { "--" + $0.name } ?? "<\(valueName ?? "")>" }

        var help: String { (preferredName == nil ? "" : "\(name) ") + "<\(valueName ?? "")>: \(abstract ?? "")" }

        /// Whether the next argument is its value even if it begins with a dash.
        var takesDashes: Bool { parsingStrategy == "unconditional" }
    }
}
