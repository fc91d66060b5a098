import ArgumentParser

/// Adds to the parser's messages what it doesn't know: the format of a value, and the nearest command.
enum UsageAdvice {
    /// - Parameters:
    ///   - message: the parser's message about bad usage.
    ///   - arguments: those of the process, without its name.
    static func added(to message: String, _ arguments: [String]) -> String {
        var lines = message.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard let first = lines.first else { return message }
        if let unknown = unknownCommand(arguments) {
            lines[0] = "Error: There is no command '\(unknown)'."
            if let near = nearestCommand(arguments) { lines.insert(near, at: 1) }
        } else if let advice = format(first) ?? dash(first, arguments) ?? policyOption(first) ?? secret(first) {
            lines.insert(advice, at: 1)
        }
        return lines.joined(separator: "\n")
    }

    private static let formats = [
        "TIME": "A TIME is RFC 3339, as in 2026-03-01T09:00:00Z, or Unix seconds, as in 1772355600.",
        "DURATION": "A DURATION has s, m, h, d and w, as in 30d, 36h or 1d12h. A year is 365d.",
        "KID": "A KID is the id of a key, 11 characters as in qi99zniTdWc; `pushcrypt keys list` shows them.",
        "N": "N is a whole number.",
        "PERCENT|none": "A share of devices is a percentage up to 100%, as in 99.9%.",
        "PERCENT": "A share of devices is a percentage up to 100%, as in 99.9%.",
        "SHARE": "A SHARE is a percentage or a fraction, as in 2% or 0.02.",
    ]

    /// The format of the value in `The value 'X' is invalid for '--at <TIME>'`.
    private static func format(_ line: String) -> String? {
        guard let match = line.firstMatch(of: /The value '(.*)' is invalid for '[^'<]*<([^>']*)>'/) else { return nil }
        let (value, name) = (String(match.1), String(match.2))
        if name == "TIME", let flaw = TimeAdvice.flaw(of: value) { return flaw }
        if name == "KID", value.utf8.count < KeyIDPrefix.minimumCharacterCount {
            return
                "Give the whole id, or at least its first \(KeyIDPrefix.minimumCharacterCount) characters where the help "
                + "allows it; `pushcrypt keys list` shows the ids."
        }
        if name == "N", value.wholeMatch(of: /[0-9]+/) != nil { return "N is too large." }
        return formats[name]
    }

    /// The parser takes a value that begins with a dash for the next option.
    private static func dash(_ line: String, _ arguments: [String]) -> String? {
        guard let match = line.firstMatch(of: /Missing value for '(--[a-z-]+) </), case let option = String(match.1),
            let index = arguments.firstIndex(of: option), arguments.indices.contains(index + 1)
        else { return nil }
        return "A value that begins with a dash is written with an equals sign: \(option)=\(arguments[index + 1])"
    }

    /// `rotate --overlap 5d`: the keyset's policy has the option.
    private static func policyOption(_ line: String) -> String? {
        guard let match = line.firstMatch(of: /Unknown option '(--[a-z-]+)'/), case let option = String(match.1),
            PolicyOptions.Member.allCases.contains(where: { $0.option == option })
        else { return nil }
        return "It is an option of the keyset's policy: pushcrypt keys policy Keys/NAME \(option) VALUE"
    }

    /// `rotate --passphrase horse`
    private static func secret(_ line: String) -> String? {
        guard line.contains("Unknown option '--passphrase'") else { return nil }
        return "Others can read a command line. Did you mean '--passphrase-file'?"
    }

    /// `pushcrypt keys lits`; nil if the arguments begin with a command. The parser reports the first option instead.
    private static func unknownCommand(_ arguments: [String]) -> String? {
        var (command, path): (any ParsableCommand.Type, [String]) = (PushCrypt.self, ["pushcrypt"])
        for argument in arguments {
            guard !command.configuration.subcommands.isEmpty, !argument.hasPrefix("-"), argument != "help" else {
                return nil
            }
            path.append(argument)
            guard let child = command.configuration.subcommands.first(where: { $0._commandName == argument }) else {
                return path.joined(separator: " ")
            }
            command = child
        }
        return nil
    }

    /// `Did you mean 'pushcrypt keys list'?`; nil if no command is near.
    private static func nearestCommand(_ arguments: [String]) -> String? {
        var (command, path): (any ParsableCommand.Type, [String]) = (PushCrypt.self, ["pushcrypt"])
        for argument in arguments {
            if let child = command.configuration.subcommands.first(where: { $0._commandName == argument }) {
                (command, path) = (child, path + [argument])
                continue
            }
            guard !command.configuration.subcommands.isEmpty else { return nil }
            let paths = paths(below: command, path) + paths(below: PushCrypt.self, ["pushcrypt"])
            let near = paths.map { (path: $0, distance: distance(Array($0.last ?? ""), Array(argument))) }
                .filter { $0.distance <= max(1, argument.count / 3) }
            return near.min { $0.distance < $1.distance }.map { "Did you mean '\($0.path.joined(separator: " "))'?" }
        }
        return nil
    }

    private static func paths(below command: any ParsableCommand.Type, _ path: [String]) -> [[String]] {
        command.configuration.subcommands.flatMap { child in
            [path + [child._commandName]] + paths(below: child, path + [child._commandName])
        }
    }

    /// The number of characters to insert, remove, replace or exchange with the next one.
    private static func distance(_ left: [Character], _ right: [Character]) -> Int {
        var rows = [Array(0...right.count)]
        for (i, character) in left.enumerated() {
            var row = [i + 1]
            for (j, other) in right.enumerated() {
                var cost = min(rows[i][j] + (character == other ? 0 : 1), rows[i][j + 1] + 1, row[j] + 1)
                if i > 0, j > 0, character == right[j - 1], left[i - 1] == other {
                    cost = min(cost, rows[i - 1][j - 1] + 1)
                }
                row.append(cost)
            }
            rows.append(row)
        }
        return rows[left.count][right.count]
    }
}
