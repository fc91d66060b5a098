import ArgumentParser
import PushCryptCore
import PushCryptKeysets
import PushCryptKeystore

struct KeysShow: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show one key: its properties, its state, the next change and its history.",
        discussion: """
            It needs no secret, not even for encrypted keys. The KID of an imported key may begin with a \
            dash: give it as the last argument, after --.
            """)

    @Argument(help: .init("A keyset or a file.", valueName: "Keys/NAME|FILE")) var path: String
    @Argument(help: .init("The key.", valueName: "KID")) var kid: String
    @Flag(help: "Print JSON: one object.") var json = false
    @OptionGroup var timeOptions: TimeOptions

    func run() throws {
        let view = try KeysetView(path, at: timeOptions.time)
        guard let status = view.status(kid) else {
            let kids = view.listed.map(\.kid.description).joined(separator: ", ")
            throw Failure(.noInput, "no key \(kid) in \(path); there are: \(kids)")
        }
        let description = try KeyDescription(status, in: view)
        try StandardStreams.write(description.json, asJSON: json) { terminal in
            description.text(terminal, width: StandardStreams.columns)
        }
    }
}
