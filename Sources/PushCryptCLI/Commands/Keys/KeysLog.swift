import ArgumentParser
import PushCryptCore
import PushCryptKeysets
import PushCryptKeystore

struct KeysLog: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log", abstract: "Show a keyset's log: who did what, when and why.",
        discussion: """
            The log is the keyset: all states follow from its lines. With the secret, the log is authenticated; a changed one \
            isn't shown. Without it, and for keys in clear, nothing authenticates the log: who can write the file can write \
            another one. stderr says which it is.

            --json prints the rows as they stand in the file: an array of objects; see docs/keyset-log.md.

            Example: pushcrypt keys log Keys/backend
            """)

    @Argument(help: .init("The keyset.", "Keys/NAME")) var path: String
    @Flag(help: "Print JSON, as docs/cli.md describes it.") var json = false
    @OptionGroup var keystore: KeystoreOptions
    @OptionGroup var messages: MessageOptions
    @OptionGroup(title: "Encrypted keysets") var secrets: SecretOptions

    func run() throws {
        let keysets = try HostKeysets(keystore, at: .now, secrets)
        let location = keysets.location(path)
        var log = try keysets.read(location)
        var isAuthentic = false
        if try secrets.isGiven || keysets.settings?.secret(for: location, id: log.state.id) != nil {
            let keyset = try keysets.load(location)
            (log, isAuthentic) = (keyset.log, keyset.material.historyKey != nil)
        }
        let advice = log.state.secrets.isEmpty ? "its keys are in clear" : "no secret was given"
        let verdict = isAuthentic ? "the secret authenticates this log" : "nothing authenticates this log: \(advice)"
        StandardStreams.writeNote("\(location): \(verdict)")
        guard !json else { return try StandardStreams.write(log.rowsAsArray) }
        let width = StandardStreams.wrappingColumns
        try StandardStreams.write(
            log.lines.flatMap { $0.lines(TerminalText(isColourful: false), width: width) }.map { $0 + "\n" }.joined())
    }
}

extension KeysetLog {
    /// The rows as a JSON array. Control and format characters are escaped.
    fileprivate var rowsAsArray: [UInt8] {
        let rows = bytes.split(separator: UInt8(ascii: "\n")).joined(separator: Array(",\n".utf8))
        return JSONWriter.escapingInvisible(Array("[\n".utf8) + Array(rows) + Array("\n]\n".utf8))
    }
}

extension KeysetLine {
    /// ```
    ///   2  2026-03-01T09:00:00Z  added key AVvUe-T2G40, primary from 2026-03-08T09:00:00Z, by root
    ///      reason: a drill
    /// ```
    fileprivate func lines(_ terminal: TerminalText, width: Int) -> [String] {
        let what = deeds.isEmpty ? action.rawValue : deeds.joined(separator: "; ")
        let rows = ["\(at)  \(what), by \(who)"] + (why.map { ["reason: \($0.text)"] } ?? [])
        return rows.enumerated().flatMap { index, text in
            let label = index == 0 ? "\(number)".leftPadded(to: 3) + "  " : "     "
            return terminal.wrapped(label, text, indent: 5, width: width)
        }
    }
}
