import ArgumentParser
import PushCryptCore
import PushCryptSender

struct Registrations: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "registrations",
        abstract: "Read and prove what apps upload, for a backend in any language: lines of JSON.",
        discussion: """
            Each line of stdin is an object with "op", and is answered by a line on stdout, in the same order:

            {"op": "challenge", "record": TEXT, "host": HOST, "requiring"?: ["psk", "asymmetric"]} is answered by {"challenge": TEXT, \
            "pending": OBJECT}. The record is the upload, byte for byte, and not parsed. Send the challenge to the app. Store "pending" under its "id", with the \
            account and the device token: it has the record, which is a secret.

            {"op": "confirm", "answer": TEXT, "pending": OBJECT} is answered by {"record", "kid", "suite"}. Delete the row of \
            "pending" before, whose id is "registration" of the answer: a challenge has one answer.

            {"op": "change", "upload": ROW, "stored": [ROW, ...], "proven": BOOLEAN, "allowsLowerSuite"?: BOOLEAN} is answered by \
            {"write": BOOLEAN, "remove": [KID, ...]}. ROW is {"record": TEXT, "account": TEXT, "deviceToken": TEXT, \
            "environment"?: "sandbox" or "production"}. "stored" are the rows with the kid or the device token of the upload.

            {"op": "receipt", "body": TEXT} is answered by {"receipt": OBJECT}, with the "name" of the push.

            The answer to a refused line is {"error": {"code": CLASS, "reason": TEXT}}. Answers repeat "id" and "tag" of the line, \
            and end with {"pushcrypt": {"line": NUMBER}}. The end of stdin is exit status 0.

            Example: pushcrypt registrations --stream --topic com.example.app --sign-with Keys/backend
            """)

    @Flag(help: "Answer lines until stdin ends.") var stream = false
    @Option(name: .customLong("topic"), help: .init("The app's bundle identifier. (default: PUSHCRYPT_TOPIC)", "TOPIC"))
    var givenTopic: String?
    @Option(
        help: .init(
            "Sign challenges with the primary key of this keyset, as apps demand that pin a sender.", "FILE|Keys/NAME"))
    var signWith: String?
    @OptionGroup var timeOptions: TimeOptions
    @OptionGroup var clock: ClockOptions
    @OptionGroup var demoKeys: DemoKeyOptions
    @OptionGroup var keystore: KeystoreOptions
    @OptionGroup var messages: MessageOptions
    @OptionGroup(title: "Encrypted keysets") var secrets: SecretOptions

    func validate() throws {
        try Defaults.requireTopic(givenTopic)
        guard stream else { throw ValidationError("--stream is missing: registrations answers lines of stdin.") }
    }

    func run() throws {
        let access = KeyAccess(
            secrets: secrets, keystore: keystore, allowsDemoKeys: demoKeys.isAllowed, confirmsClock: clock.isConfirmed)
        let givenTime = timeOptions.givenTime
        let clock: @Sendable () -> UnixTime = { givenTime ?? .now }
        let signer = try signWith.map { path in
            let source = try KeySource(path, access)
            _ = try source.senderKey(at: timeOptions.time)
            return try source.followed(allowsDemoKeys: demoKeys.isAllowed, clock: clock)
        }
        let topic = try Topic(option: givenTopic ?? Defaults.topic ?? "").description
        let sealer = try Sealer(topic: topic, signer: signer?.signer, clock: clock)
        var run = try BatchRun<RegistrationWorker>(
            workers: 1, errors: nil, refusals: .answer, resumption: nil)
        try run.processAllLines { RegistrationWorker(sealer: sealer, clock: clock) }
    }
}
