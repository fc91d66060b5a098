/// Quotes an argument of a command that a person pastes into a shell.
package enum ShellArgument {
    /// Adds quotes if the shell would split or expand the argument, and `./` to a path that begins with `-`.
    package static func quoted(_ argument: String) -> String {
        quotedValue(argument.hasPrefix("-") ? "./" + argument : argument)
    }

    /// Adds quotes if the shell would split or expand an argument that isn't a path.
    package static func quotedValue(_ argument: String) -> String {
        guard argument.isEmpty || !argument.utf8.allSatisfy(isPlain) else { return argument }
        return "'" + argument.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#) + "'"
    }

    /// A key's id as the last argument of a command: one that begins with a dash follows `--`.
    package static func last(_ kid: some CustomStringConvertible) -> String {
        let text = kid.description
        return text.hasPrefix("-") ? "-- " + text : text
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "/._-+,:@%".utf8.contains(byte)
        }
    }
}
