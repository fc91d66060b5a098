import ArgumentParser
import PushCryptCore
import PushCryptSender

struct Reseal: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Seal queued payloads again under a shared keyset's primary, after a rotation.",
        discussion: """
            JSON lines {"payload": OUTER PAYLOAD, "device"?: ID} come on stdin and go to stdout in the same order. Of \
            a payload only kid, sealed and skid change; the message keeps its id, its times and its padding. Other \
            members of a line stay as they are. Old keys open whatever their state, revoked ones too, so feed it from \
            your own queue only: who has an old key can write what is sealed again here.

            A payload that was sealed to a device needs its "device": without, it is opened with the bare shared key, \
            and that fails as undecryptable. Signed payloads need --sign-with.

            Lines that aren't sealed again go to the errors file, which is always written: {"line": NUMBER, "reason": \
            CLASS, "message": WORDS, "input": LINE}, or "inputBase64" for a line over 1 MiB or not UTF-8. To feed them \
            again: jq -r '.input // empty' FILE. The exit status is 65 when there are any. When the output breaks off, stderr \
            says with which line to go on; a last line on stdout without its newline is incomplete.
            """
    )

    @Option(help: ArgumentHelp("The shared keys, old and new.", valueName: "FILE|Keys/NAME"))
    var keys: String

    @Option(help: ArgumentHelp("The app's bundle identifier.", valueName: "TOPIC"))
    var topic: String

    @Option(
        help: ArgumentHelp(
            "Sign with the primary key of this keyset what one of its keys has signed before.",
            valueName: "FILE|Keys/NAME"))
    var signWith: String?

    @Option(help: ArgumentHelp("Where lines go that aren't sealed again: a new file.", valueName: "FILE"))
    var errors: String

    @OptionGroup var timeOptions: TimeOptions
    @OptionGroup var demoKeys: DemoKeyOptions
    @OptionGroup(title: "Encrypted keysets") var secrets: SecretOptions

    func validate() throws {
        guard !errors.isEmpty else { throw ValidationError("--errors names no file.") }
    }

    var keyAccess: KeyAccess { KeyAccess(secrets, demoKeys) }

    func run() throws {
        let resealer = try resealer()
        var run = try BatchRun<ResealWorker>(
            workers: BatchOptions.coreCount, errors: errors, resumption: "line")
        try run.takeAllLines { ResealWorker(resealer: resealer) }
    }

    /// One time for all lines, so that all of them come out under one key.
    private func resealer() throws -> Resealer {
        let time = timeOptions.time
        let source = try KeySource(keys, keyAccess)
        let senders = try signWith.map { path in try KeySource(path, keyAccess) }
        // The library would refuse these too, but can't say which file it is.
        guard source.keyset.kind == .shared else {
            let kind = source.keyset.kind.rawValue
            throw Failure(.dataError, "\(keys): these are \(kind) keys; reseal takes shared keys")
        }
        _ = try source.recipient(device: nil, at: time)
        _ = try senders?.senderKey(at: time)
        return try Resealer(topic: topic, keyset: source.keyset, senders: senders?.keyset, clock: { time })
    }
}
