import ArgumentParser
import PushCryptCore
import PushCryptExtension

struct Inspect: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show what an observer of a payload can see, and its byte budget.",
        discussion: "The payload comes on stdin. With --keys and --topic it is opened too, and padding shows apart."
    )

    @Flag(help: "One object, for machines.")
    var json = false

    @Option(help: ArgumentHelp("The recipient's keys, to tell padding from content.", valueName: "FILE|Keys/NAME"))
    var keys: String?

    @Option(help: ArgumentHelp("The app's bundle identifier; needed with --keys.", valueName: "TOPIC"))
    var topic: String?

    @Option(help: ArgumentHelp("Open with this device's key of a shared keyset.", valueName: "ID"))
    var device: String?

    @Option(help: ArgumentHelp("Pinned sender keys; needed with --keys for a signed payload.", valueName: "FILE"))
    var trust: String?

    @Option(help: ArgumentHelp("The most bytes of a payload.", valueName: "N"))
    var limit: Int = 4096

    @OptionGroup var timeOptions: TimeOptions
    @OptionGroup var demoKeys: DemoKeyOptions
    @OptionGroup(title: "Encrypted keysets") var secrets: SecretOptions

    func validate() throws {
        guard (keys == nil) == (topic == nil) else {
            throw ValidationError("--keys and --topic go together: the topic is part of what opens a payload.")
        }
        guard (1...Self.inputLimitInBytes).contains(limit) else {
            throw ValidationError("--limit takes 1 to \(Self.inputLimitInBytes) bytes.")
        }
    }

    var keyAccess: KeyAccess { KeyAccess(secrets, demoKeys) }

    func run() throws {
        let payload = try StandardStreams.readAll(limit: Self.inputLimitInBytes)
        guard payload.count <= Self.inputLimitInBytes else {
            throw Failure(.dataError, "more than \(Self.inputLimitInBytes) bytes on stdin: not a payload")
        }
        let text: JSONText
        do {
            text = try JSONText(payload.trimmingNewline)
        } catch {
            throw Failure(.dataError, "stdin is not strict JSON: \(error)")
        }
        guard text.root.kind == .object else { throw Failure(.dataError, "stdin is JSON, but not an object") }
        let view = ObservedPayload(text, padding: try padding(in: payload))
        if json {
            try StandardStreams.writeJSON(view.report(limitInBytes: limit))
        } else {
            let terminal = TerminalText(isColourful: StandardStreams.isColourful)
            try StandardStreams.write(view.text(terminal, limitInBytes: limit))
        }
    }

    /// Padding bytes of the message, where the keys to see them were given.
    private func padding(in payload: [UInt8]) throws -> Int? {
        guard let keys, let topic else { return nil }
        let opener = try Opener(topic: topic, keys: keys, device: device, trust: trust, keyAccess)
        switch opener.open(payload, at: timeOptions.time) {
        case .success(let push): return push.paddingByteCount
        case .failure(let failure): throw Failure(.dataError, "not opened, so its padding doesn't show: \(failure)")
        }
    }

    private static let inputLimitInBytes = 65_536
}

extension [UInt8] {
    /// The newline that `seal` prints isn't part of the payload.
    fileprivate var trimmingNewline: [UInt8] {
        last == UInt8(ascii: "\n") ? Array(dropLast()) : self
    }
}
