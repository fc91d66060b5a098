import ArgumentParser
import PushCryptCore
import PushCryptExtension
import PushCryptFiles

/// The state of the phone, its network, and its app.
struct PhoneOptions: ParsableArguments {
    @Flag(help: "The phone was restarted and not unlocked since: keys can't be read.") var locked = false
    @Option(
        help: .init("A file on the simulated network; may be repeated.", "URL=FILE"),
        transform: ServedFile.init(option:))
    var serve: [ServedFile] = []
    @Option(
        help: .init("A member of the payload with an attachment's address, such as image_url; may be repeated.", "NAME")
    )
    var attachmentMember: [String] = []
    @Option(help: .init("The app's texts: Localizable.strings, a string catalog or a JSON object.", "FILE"))
    var strings: String?
    @Option(
        help: .init(
            "The user's language, such as de-CH, for a string catalog. (default: its source language)", "LANGUAGE"))
    var language: String?
    @Option(
        help: .init(
            "What a push that isn't sealed shows: itself, or the app's own text. (default: refused)", "shown|refused"))
    var unsealed: UnsealedChoice?
    @Option(help: .init("The extension posts receipts in this form; each push shows what is posted.", "json|form"))
    var receipts: ReceiptForm?

    enum UnsealedChoice: String, ExpressibleByArgument { case shown, refused }
    enum ReceiptForm: String, ExpressibleByArgument { case json, form }

    func validate() throws {
        let addresses = serve.map(\.address)
        if let twice = addresses.first(where: { address in addresses.count { $0 == address } > 1 }) {
            throw ValidationError("--serve has \(twice) more than once: an address has one file.")
        }
        guard language?.isEmpty != true else { throw ValidationError("--language is a language such as de or de-CH.") }
        guard language == nil || strings.map(LocalizedStrings.isCatalog) == true else {
            throw ValidationError(
                "--language needs --strings with a string catalog (.xcstrings): other files have one language.")
        }
    }

    func apply(to settings: inout SimulatedPhones.Settings) throws {
        settings.isBeforeFirstUnlock = locked
        settings.plainMembers = attachmentMember
        settings.files = try serve.map { ($0.address, try $0.read()) }
        settings.showsUnsealed = unsealed == .shown
        settings.receipts = receipts.map { $0 == .form ? .form : .json }
        guard let strings else { return }
        let (texts, note) = try LocalizedStrings.read(strings, language: language)
        settings.strings = texts
        if let note { StandardStreams.writeNote(note) }
    }
}

/// A file on the simulated network. The address may contain `=`, and the name of the file may not.
struct ServedFile {
    /// More than the system's largest limit, 50 MB for a film.
    private static let limitInBytes = 64 << 20

    let address: String
    let path: String

    init(option argument: String) throws {
        let split = argument.lastIndex(of: "=") ?? argument.startIndex
        (address, path) = (String(argument[..<split]), String(argument[split...].dropFirst()))
        guard !address.isEmpty, !path.isEmpty else {
            throw ValidationError("An address and a file are needed, as in https://example.com/p.png=p.png.")
        }
    }

    func read() throws -> [UInt8] { try FileSystem.readFile(path, limitInBytes: Self.limitInBytes) }
}
