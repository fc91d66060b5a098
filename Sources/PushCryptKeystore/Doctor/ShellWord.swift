/// A word of a command line that somebody pastes into a shell.
enum ShellWord {
    /// In quotes where the shell would take it for anything but one word, or the command for an option.
    static func quoted(_ word: String) -> String {
        let word = word.hasPrefix("-") ? "./" + word : word
        guard word.isEmpty || !word.utf8.allSatisfy(isPlain) else { return word }
        return "'" + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#) + "'"
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
