package import PushCryptCore
import PushCryptPrimitives

/// Quotes an argument of a command that a person pastes into a shell.
package enum ShellArgument {
    /// Adds quotes if the shell would split or expand the argument, and `./` to a path that begins with `-`.
    package static func quoted(_ argument: String) -> String {
        let argument = argument.hasPrefix("-") ? "./" + argument : argument
        guard argument.isEmpty || !argument.utf8.allSatisfy(isPlain) else { return argument }
        return "'" + argument.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#) + "'"
    }

    private static func isPlain(_ byte: UInt8) -> Bool { byte.isAlphanumeric || byte.isOne(of: "/._-+,:@%") }

    /// A key's id as the last argument of a command: one that begins with a dash follows `--`.
    package static func last(_ kid: KeyID) -> String {
        let text = kid.description
        return text.hasPrefix("-") ? "-- " + text : text
    }
}
