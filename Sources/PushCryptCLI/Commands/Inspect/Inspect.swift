import ArgumentParser
import PushCryptCore
import PushCryptExtension
import PushCryptFiles

struct Inspect: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "Show what an observer of a payload can see, and its byte budget.",
        discussion:
            """
            Reads the payload from stdin or FILE. With --keys and --topic it also opens the payload, and shows its id, \
            padding, attachments and instructions, and whether a recorded push stays secret from a quantum computer: this \
            depends on the suite of the key, which a payload doesn't contain. For a payload that can't be opened, it shows \
            what an observer can see, writes the reason to stderr and exits with 65.

            Example: pushcrypt inspect sealed.json
            """)

    @OptionGroup var input: PayloadInput
    @Flag(help: "Print JSON, as docs/cli.md describes it.") var json = false
    @Option(help: .init("The recipient's keys, to distinguish padding from content.", "FILE|Keys/NAME"))
    var keys: String?
    @Option(
        name: .customLong("topic"),
        help: .init("The app's bundle identifier; required with --keys. (default: PUSHCRYPT_TOPIC)", "TOPIC"))
    var givenTopic: String?
    @Option(parsing: .unconditional, help: .init("Open with this device's key of a shared keyset.", "ID"))
    var device: String?
    @OptionGroup var senders: TrustOptions
    @OptionGroup var carriers: CarrierOptions
    @Option(help: .init("The maximum size of a payload in bytes.", "N")) var limit: Int = 4096
    @OptionGroup var timeOptions: TimeOptions
    @OptionGroup var demoKeys: DemoKeyOptions
    @OptionGroup var messages: MessageOptions
    @OptionGroup(title: "Encrypted keysets") var secrets: SecretOptions

    private var topic: String? { givenTopic ?? Defaults.topic }

    func validate() throws {
        for (name, isGiven) in [
            ("--device", device != nil), ("--trust", senders.isGiven), (secrets.name, secrets.isNamed),
        ] {
            guard !isGiven || keys != nil else { throw ValidationError("\(name) needs --keys.") }
        }
        guard keys == nil ? givenTopic == nil : topic != nil else {
            throw ValidationError("--keys and --topic are required together: opening a payload needs both.")
        }
        guard (1...Self.inputLimitInBytes).contains(limit) else {
            throw ValidationError("--limit accepts 1 to \(Self.inputLimitInBytes) bytes.")
        }
    }

    var keyAccess: KeyAccess { KeyAccess(secrets: secrets, allowsDemoKeys: demoKeys.isAllowed) }

    func run() throws {
        let payload = try input.readPayload(limit: Self.inputLimitInBytes)
        let text: JSONText
        // `seal` prints a newline after a payload.
        do {
            text = try JSONText(payload.last == .newline ? payload.dropLast() : payload)
        } catch {
            throw Failure(.dataError, "\(input.name) is not strict JSON: \(error)")
        }
        guard text.root.kind == .object else { throw Failure(.dataError, "\(input.name) is JSON, but not an object") }
        let opening = try opening(of: payload)
        let view = ObservedPayload(text, opened: opening.flatMap { try? $0.get() })
        try StandardStreams.write(view.json(limitInBytes: limit), asJSON: json) { terminal in
            view.text(terminal, limitInBytes: limit)
        }
        guard case .failure(let failure)? = opening else { return }
        throw Failure(.dataError, "the message was \(failure.text); only what an observer sees is shown")
    }

    /// nil if no keys are given.
    private func opening(of payload: [UInt8]) throws -> Result<OpenedPush, OpeningFailure>? {
        guard let keys, let topic else { return nil }
        let opener = try PayloadOpener(
            topic: topic, keys: keys, device: device,
            senders: TrustedFiles(senders, topic: topic, at: timeOptions.time, keyAccess).senders,
            carriers: carriers.set, keyAccess, at: timeOptions.time)
        return opener.open(payload, at: timeOptions.time)
    }

    private static let inputLimitInBytes = 65_536
}
