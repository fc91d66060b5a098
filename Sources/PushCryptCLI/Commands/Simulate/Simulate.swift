import ArgumentParser
import PushCryptCore
import PushCryptExtension
import PushCryptFiles
import PushCryptSimulator

struct Simulate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: "Show what a push becomes on a phone, without a phone.",
        discussion: """
            Reads one payload from stdin or FILE, or one on each line: a payload, or {"payload": PAYLOAD, "headers"?: OBJECT} as \
            seal --batch writes it. Of the headers of the request, apns-topic, apns-push-type and apns-collapse-id count; \
            "topic" is only the first. One simulated phone with the app's extension receives all of them, and a phone \
            without the extension beside it. Nothing is sent, and no address is contacted: attachments come from --serve.

            Without --keys and --topic the phone has no keys, so no push is restored.

            With --picture the page has all pushes: what was sent, what is on the wire with its byte budget, and both lock \
            screens. It needs no network. It contains the text of the notifications, so only its owner can read it.

            Exit status: 0 every push was restored with all its texts and attachments, or is an unsealed one that --unsealed \
            shows; 65 one wasn't, also one that was taken back; anything else: see pushcrypt --help.

            Example: pushcrypt simulate --keys Keys/phone --topic com.example.app --picture push.html < sealed.json
            """)

    @OptionGroup var input: PayloadInput
    @Flag(help: "Print JSON, as docs/cli.md describes it.") var json = false
    @Option(
        help: .init("Also write a page with the lock screen; an existing file is replaced.", "FILE.html"),
        transform: Self.page)
    var picture: String?
    @Option(help: .init("The phone's keys: private or shared.", "FILE|Keys/NAME")) var keys: String?
    @Option(
        name: .customLong("topic"),
        help: .init("The app's bundle identifier; required with --keys. (default: PUSHCRYPT_TOPIC)", "TOPIC"))
    var givenTopic: String?
    @Option(parsing: .unconditional, help: .init("The phone has this device's key of a shared keyset.", "ID"))
    var device: String?
    @OptionGroup var senders: TrustOptions
    @OptionGroup var carriers: CarrierOptions
    @OptionGroup(title: "The phone") var phone: PhoneOptions
    @OptionGroup var timeOptions: TimeOptions
    @OptionGroup var demoKeys: DemoKeyOptions
    @OptionGroup var messages: MessageOptions
    @OptionGroup(title: "Encrypted keysets") var secrets: SecretOptions

    private var topic: String? { givenTopic ?? Defaults.topic }

    func validate() throws {
        guard keys == nil ? givenTopic == nil : topic != nil else {
            throw ValidationError("--keys and --topic are required together: opening a payload needs both.")
        }
        for (name, isGiven) in [("--device", device != nil), ("--trust", senders.isGiven)] {
            guard !isGiven || keys != nil else { throw ValidationError("\(name) needs --keys.") }
        }
    }

    private static func page(_ path: String) throws -> String {
        guard path.lowercased().hasSuffix(".html") else {
            throw ValidationError("--picture writes a page: the file's name must end with .html, as in push.html.")
        }
        return path
    }

    @MainActor func run() async throws {
        try picture.map { try FileSystem.checkReplaceable($0) }
        let phones = try await SimulatedPhones(settings())
        let reader = try PayloadReader(input)
        var pushes: [SimulatedPush] = []
        var isDrawn = picture == nil
        defer {
            if !isDrawn, !pushes.isEmpty, let picture { StandardStreams.writeNote("\(picture) wasn't written") }
        }
        while let input = try reader.next() {
            if keys == nil, pushes.isEmpty {
                StandardStreams.writeNote("without --keys the phone has no keys, and no push can be restored")
            }
            let push = await phones.receive(input)
            try write(push, isFirst: pushes.isEmpty)
            pushes.append(push)
        }
        guard !pushes.isEmpty else { throw Failure(.dataError, input.emptiness) }
        try writePicture(of: pushes, phones.lockScreens)
        isDrawn = true
        let lost = pushes.count { !$0.isComplete }
        guard lost == 0 else {
            let next = pushes.contains(where: \.isUnexplained) ? "; pushcrypt diagnose can say why" : ""
            throw Failure(.dataError, "\(lost) of \(pushes.count) payloads not completely restored\(next)")
        }
    }

    private func write(_ push: SimulatedPush, isFirst: Bool) throws {
        if json { return try StandardStreams.writeJSON(push.json, []) }
        let text = push.text(
            TerminalText(isColourful: StandardStreams.isColourful), appName: TerminalText.harmless(appName.utf8),
            columns: StandardStreams.columns(atLeast: BannerText.smallestWidth))
        try StandardStreams.write((isFirst ? "" : "\n") + text)
    }

    private func writePicture(of pushes: [SimulatedPush], _ lockScreens: (before: LockScreen, after: LockScreen)) throws
    {
        guard let picture else { return }
        let page = SimulatedPage(
            appName: appName, topic: topic ?? Self.exampleTopic, pushes: pushes, lockScreens: lockScreens)
        try FileSystem.replace(picture, with: Array(page.html().utf8))
    }

    private var appName: String { topic?.split(separator: ".").last.map(String.init) ?? "app" }

    /// The topic of a phone without keys.
    private static let exampleTopic = "com.example.app"

    private func settings() throws -> SimulatedPhones.Settings {
        let access = KeyAccess(secrets: secrets, allowsDemoKeys: demoKeys.isAllowed)
        let topic = try Topic(option: topic ?? Self.exampleTopic).description
        let source = try keys.map { try KeySource($0, access) }
        let device = try DeviceID(option: device)
        let keyset = try source?.openingKeyset(device: device)
        let keyring: any RecipientKeyring = keyset.map { KeysetKeyring($0) } ?? NoKeys()
        let trusted = try TrustedFiles(senders, topic: topic, at: timeOptions.time, access).senders
        var settings = SimulatedPhones.Settings(
            topic: topic, keyring: keyring,
            given: source.map {
                GivenKeys(
                    keys: $0.keyset, device: device, senders: trusted, places: EnvelopePlaces(carriers.set))
            },
            trust: trusted.map { .pinned($0) } ?? .unsigned, carriers: carriers.set, time: timeOptions.time)
        try phone.apply(to: &settings)
        return settings
    }
}
