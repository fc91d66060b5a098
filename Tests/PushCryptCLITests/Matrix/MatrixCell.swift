import Testing

/// A mistake with one option or argument of a command.
enum Mistake: String, CaseIterable {
    case missing, missingValue, wrongType, twice, empty, tooLong
    case noFile, unreadable, wrongOwner, wrongMode, emptyFile, folder, hugeFile

    /// Whether the mistake is in what the option names, and not on the command line.
    var isInFile: Bool { Self.allCases.drop { $0 != .noFile }.contains(self) }
}

/// A command with one mistake, and how it ends.
struct MatrixCell {
    let arguments: [String]
    let stdin: String?
    let status: Int32
    /// One of these is in the message.
    let names: [String]
}

/// A command with one mistake, or why the mistake can't be made.
enum MatrixPlan {
    case run(MatrixCell)
    case skip(String)

    init(_ mistake: Mistake, _ argument: DescribedCommand.Argument, _ rule: ValueRule?, of path: String) throws {
        let command = try #require(MatrixCommand(path, for: argument.name), "\(path): add it to MatrixCommand.lines")
        guard let rule, argument.kind != "flag" else {
            guard mistake == .wrongType else {
                self = .skip("a flag has no value, and says the same if it is given twice")
                return
            }
            self = .run(
                MatrixCell(
                    arguments: command.arguments + [argument.name + "=1"], stdin: command.stdin, status: 64,
                    names: [argument.name]))
            return
        }
        let made = MistakenArgument(argument, rule, command)
        self = mistake.isInFile ? made.inFile(mistake) : made.onCommandLine(mistake)
    }
}

/// An argument of a command, given wrongly.
private struct MistakenArgument {
    let argument: DescribedCommand.Argument
    let rule: ValueRule
    let command: MatrixCommand

    init(_ argument: DescribedCommand.Argument, _ rule: ValueRule, _ command: MatrixCommand) {
        (self.argument, self.rule) = (argument, rule)
        self.command = argument.kind == "option" ? command.without(argument.name) : command
    }

    func onCommandLine(_ mistake: Mistake) -> MatrixPlan {
        switch mistake {
        case .missing:
            argument.isOptional ? .skip("it is optional") : cell([], 64)
        case .missingValue:
            argument.kind == "option" ? cell([], 64, adding: [argument.name]) : .skip("an argument is its value")
        case .wrongType:
            rule.kind.isParsed ? cell(["?!"], 64) : .skip("every text is a value of it, or the file is the value")
        case .twice:
            argument.isRepeating ? .skip("it takes several values") : cell([rule.example, rule.example], 64)
        case .empty where argument.valueName == "ARGUMENT", .tooLong where argument.valueName == "ARGUMENT":
            .skip("the argument of another program may be empty and may have any length")
        case .empty: cell([""], 64)
        case .tooLong: cell([String(repeating: "9", count: 5000)], 64)
        default: .skip("")
        }
    }

    func inFile(_ mistake: Mistake) -> MatrixPlan {
        guard let outcome = rule.kind.outcomes[mistake] else {
            return .skip("\(rule.kind) has no such mistake, or accepts it")
        }
        let path = outcome.path(rule.example)
        return cell([path], outcome.status, naming: path)
    }

    private func cell(
        _ values: [String], _ status: Int32, adding more: [String] = [], naming path: String? = nil
    ) -> MatrixPlan {
        var command = command
        if argument.kind == "option" {
            command.options += values.flatMap { [argument.name, $0] } + more
        } else {
            // The keyset comes before the key, which is a KID or the file of an import.
            let index = ["KID", "FILE|-"].contains(argument.valueName) ? 1 : 0
            if index < command.positionals.count { command.positionals.remove(at: index) }
            command.positionals.insert(contentsOf: values, at: index)
        }
        // A second value is that of the next argument, or of none. Of a keyset in a refused folder the folder is named.
        let isKeyset = [.keyset, .restored].contains(rule.kind)
        let keystore = path.flatMap { path in path.lastIndex(of: "/").map { String(path[..<$0]) } }
        let second = values.count == 2 ? rule.example : nil
        let names = [path, isKeyset ? keystore : nil, argument.name, second].compactMap(\.self)
        return .run(MatrixCell(arguments: command.arguments, stdin: command.stdin, status: status, names: names))
    }
}
