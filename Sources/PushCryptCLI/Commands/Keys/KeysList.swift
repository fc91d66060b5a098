import ArgumentParser
import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptKeystore

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

    @OptionGroup var picture: PictureOptions
    @OptionGroup var timeOptions: TimeOptions

    func run() throws {
        let time = timeOptions.time
        let terminal = TerminalText(isColourful: StandardStreams.isColourful)
        if FileSystem.isFolder(path), !KeysetFolder(path).exists {
            let list = try KeystoreList(path, at: time)
            guard picture.file == nil else {
                throw Failure(.usage, "--picture draws one keyset; \(path) is a keystore of \(list.count)")
            }
            return try list.print(asJSON: json, terminal, width: StandardStreams.columns)
        }
        let view = try KeysetView(path, at: time)
        if let file = picture.file { try TimelinePicture(view).picture.write(to: file) }
        if json {
            try StandardStreams.writeJSON(view.rows)
        } else {
            try StandardStreams.write(
                KeysetOverview(view: view, terminal: terminal, width: StandardStreams.columns).text)
        }
    }
}
