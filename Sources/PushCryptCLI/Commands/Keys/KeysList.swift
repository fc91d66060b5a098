import ArgumentParser
import PushCryptCore
import PushCryptKeyFiles
import PushCryptKeyStore

struct KeysList: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Show the keys of a keyset: states, what comes next, and a timeline of their overlap.",
        discussion: """
            Of a keystore, which is a folder of keysets, a line for each keyset. Needs no secret, also where the keys \
            are encrypted. The timeline is as wide as the terminal, or as COLUMNS says.
            """)

    @Argument(help: ArgumentHelp("A keyset, a file, or a whole keystore.", valueName: "Keys/NAME|FILE|Keys"))
    var path: String

    @Flag(help: "An array of objects, for machines.")
    var json = false

    @OptionGroup var timeOptions: TimeOptions

    func run() throws {
        let time = timeOptions.time
        let terminal = TerminalText(isColourful: StandardStreams.isColourful)
        if FileSystem.isFolder(path), !KeysetFolder(path).exists {
            return try KeystoreList(path, at: time).print(asJSON: json, terminal, width: StandardStreams.columns)
        }
        let view = try KeysetView(path, at: time)
        if json {
            try StandardStreams.writeJSON(view.rows)
        } else {
            try StandardStreams.write(KeysetText(view: view, terminal: terminal, width: StandardStreams.columns).text)
        }
    }
}
