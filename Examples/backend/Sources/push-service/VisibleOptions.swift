import ArgumentParser
import PushBackend
import PushCryptSender

/// The options for the unencrypted parts of each push.
struct VisibleOptions: ParsableArguments {
    @Option(help: "What a device shows that can't open a push: its title. (default: New message)")
    var placeholderTitle: String?
    @Option(help: "The same: its body. (default: Open the app to read it)") var placeholderBody: String?
    @Option(help: "The title's key in the app's Localizable.strings.") var placeholderTitleLocKey: String?
    @Option(help: "The body's key in the app's Localizable.strings.") var placeholderBodyLocKey: String?
    @Option(help: "Pad each message to a multiple of this number of bytes, to the limit (max), or not at all (none).")
    var pad = "128"
    @Option(
        help:
            "A member of aps that Apple may read too, such as badge; may be repeated. Payloads without it stay as they are."
    )
    var expose: [String] = []

    private var padding: PaddingPolicy? {
        switch pad {
        case "max": .limit
        case "none": PaddingPolicy.none
        default: Int(pad).flatMap { (1...4_096).contains($0) ? .multiple(of: $0) : nil }
        }
    }

    func validate() throws {
        guard padding != nil else { throw ValidationError("--pad is 1 to 4096, max or none") }
    }

    var parts: PushSealer.VisibleParts {
        var parts = PushSealer.VisibleParts()
        let given = Placeholder(
            title: placeholderTitle, body: placeholderBody, titleLocKey: placeholderTitleLocKey,
            bodyLocKey: placeholderBodyLocKey)
        if given != Placeholder() { parts.placeholder = given }
        if let padding { parts.padding = padding }
        parts.exposed = expose
        return parts
    }
}
