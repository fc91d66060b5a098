import ArgumentParser
import PushCryptCore
import PushCryptKeysets
import PushCryptKeystore

struct KeysShow: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Tell everything about one key: what it does now, what comes next and why, and how it came.",
        discussion: """
            Needs no secret, also where the keys are encrypted. A KID that begins with a dash, as imported ones may, \
            comes last, behind --.
            """)

    @Argument(help: ArgumentHelp("A keyset or a file.", valueName: "Keys/NAME|FILE"))
    var path: String

    @Argument(help: ArgumentHelp("The key.", valueName: "KID"))
    var kid: String

    @Flag(help: "One object, for machines.")
    var json = false

    @OptionGroup var timeOptions: TimeOptions

    func run() throws {
        let view = try KeysetView(path, at: timeOptions.time)
        guard let status = view.status(kid) else {
            let kids = view.listed.map(\.kid.description).joined(separator: ", ")
            throw Failure(.noInput, "no key \(kid) in \(path); there are: \(kids)")
        }
        let description = try KeyDescription(status, in: view)
        if json {
            try StandardStreams.writeJSON(description)
        } else {
            let terminal = TerminalText(isColourful: StandardStreams.isColourful)
            try StandardStreams.write(description.text(terminal, width: StandardStreams.columns))
        }
    }
}
