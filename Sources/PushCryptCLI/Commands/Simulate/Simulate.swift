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
            seal --batch writes it. Of the headers of the request, apns-topic, apns-push-type, apns-collapse-id and \
            apns-expiration count; "topic" is only the first. \
            All are received by one simulated phone that keeps the contract of the system with the app's extension: its \
            checks, its time limit and its lock screen. Each is shown as it looks without the extension, beside what the \
            extension makes of it. Simulated time costs no real time. Nothing is sent, and no address is contacted: \
            attachments come from --serve.

            A line may also be an event, which happens to the phone after the pushes before it: {"event": NAME, MEMBERS}. \
            docs/simulator.md describes them. NAME is one of: \(PhoneEvent.names.joined(separator: ", ")). An event that isn't \
            known, or that can't happen, ends the command with exit status 64.

            Without --keys and --topic the phone has no keys, so no push is restored.

            With --json, each line on stdout is {"version": 1, "number", "line", "bytes", "outcome", "restored", "failure", \
            "refused", "verdict", "before", "after", "seconds", "identifier"?, "places"?, "badge"?, "sound"?, "category"?, \
            "thread"?, "attachments"?, "interruptionLevel"?, "replaced"?, "missing"?, "missingTexts"?, "receipts"?, "notes"?}, and "id", \
            "token", "device", "to" and "tag" as they are beside "payload" in the input. "line" is the number of the line in \
            the input. "outcome" is what is shown: "restored" \
            (the sealed text; "restored" is false if an attachment or a text is missing), "placeholder", "original", \
            "nothing", "refused" by APNs, "stored" by APNs for a phone that is off line, or "dropped" instead. "identifier" is \
            the notification's name: push- and the number of the push, or its apns-collapse-id. A push that APNs has stored \
            has a second line when the phone receives it. The line of an event has "event"; docs/cli.md lists its members.

            With --picture the page has all pushes: what was sent, what is on the wire with its byte budget, and both lock \
            screens. It needs no network. It contains the text of the notifications, so only its owner can read it.

            Exit status: 0 every push was restored with all its texts and attachments, or is a quiet one that --filtering \
            hides, or an unsealed one that --unsealed shows; 65 one wasn't, also one that was taken back; 64 also an event that can't happen; anything else: see \
            pushcrypt --help.

            Example: pushcrypt simulate --keys Keys/phone --topic com.example.app --picture push.html < sealed.json
            """)

    @OptionGroup var input: PayloadInput
    @Flag(help: "Print one JSON object for each push.") var json = false
    @Option(
        help: .init("Also write a page with the lock screen; an existing file is replaced.", "FILE.html"),
        transform: Self.page)
    var picture: PictureFile?
    @Option(help: .init("The phone's keys: private or shared.", "FILE|Keys/NAME")) var keys: String?
    @Option(
        name: .customLong("topic"),
        help: .init("The app's bundle identifier; required with --keys. (default: PUSHCRYPT_TOPIC)", "TOPIC"))
    var givenTopic: String?
    @Option(parsing: .unconditional, help: .init("The phone has this device's key of a shared keyset.", "ID"))
    var device: String?
    @OptionGroup var senders: TrustOptions
    @Option(
        help: .init(
            "What a failure shows: the visible alert of a sealed payload, or the app's own text. (default: outer)",
            "outer|bundled"))
    var fallback: FallbackChoice?
    @OptionGroup(title: "The phone") var phone: PhoneOptions
    @OptionGroup(title: "The app at the start") var app: AppOptions
    @OptionGroup(title: "The app's texts") var texts: TextOptions
    @OptionGroup var timeOptions: TimeOptions
    @OptionGroup var demoKeys: DemoKeyOptions
    @OptionGroup var messages: MessageOptions
    @OptionGroup(title: "Encrypted keysets") var secrets: SecretOptions

    private var topic: String? { givenTopic ?? Defaults.topic }

    func validate() throws {
        guard keys == nil ? givenTopic == nil : topic != nil else {
            throw ValidationError("--keys and --topic are required together: opening a payload needs both.")
        }
        for (name, isGiven) in [
            ("--device", device != nil), ("--trust", senders.isGiven), ("--fallback", fallback != nil),
        ] {
            guard !isGiven || keys != nil else { throw ValidationError("\(name) needs --keys.") }
        }
        guard !phone.locked || app.foreground == nil else {
            throw ValidationError("--foreground and --locked exclude each other: a locked phone shows no app.")
        }
    }

    private static func page(_ argument: String) throws -> PictureFile {
        guard let file = PictureFile(argument: argument), file.format == .html else {
            throw ValidationError("--picture writes a page: the file's name must end with .html, as in push.html.")
        }
        return file
    }

    @MainActor func run() async throws {
        try picture.map { try FileSystem.checkReplaceable($0.path) }
        let phones = try await SimulatedPhones(settings())
        let reader = try PayloadReader(input)
        var output = SimulationOutput(asJSON: json, appName: appName)
        var results: [Int: SimulatedPush] = [:]
        var isDrawn = picture == nil
        defer {
            if !isDrawn, output.count > 0, let picture { StandardStreams.writeNote("\(picture.path) wasn't written") }
        }
        while let line = try reader.next() {
            switch line {
            case .push(let input):
                if keys == nil, results.isEmpty {
                    StandardStreams.writeNote("without --keys the phone has no keys, and no push can be restored")
                }
                let push = await phones.receive(input)
                results[push.number] = push
                try output.write(push)
            case .event(let input):
                let (event, pushes) = try await phones.apply(input)
                try output.write(event)
                for push in pushes {
                    results[push.number] = push
                    try output.write(push)
                }
            }
        }
        guard output.count > 0 else { throw Failure(.dataError, input.emptiness) }
        phones.optionsWithoutEffect.forEach(StandardStreams.writeNote)
        let pushes = results.values.sorted { $0.number < $1.number }
        noteKept(phones.keptNumbers)
        try writePicture(of: pushes, phones.lockScreens, screenOffset: phones.screenOffset)
        isDrawn = true
        let lost = pushes.count { !$0.isComplete }
        guard lost == 0 else {
            let next = pushes.contains(where: \.isUnexplained) ? "; pushcrypt diagnose can say why" : ""
            throw Failure(.dataError, "\(lost) of \(pushes.count) payloads not completely restored\(next)")
        }
    }

    /// Names the pushes that APNs still keeps.
    private func noteKept(_ numbers: [Int]) {
        guard !numbers.isEmpty else { return }
        StandardStreams.writeNote(
            "APNs still keeps push \(numbers.map { "\($0)" }.joined(separator: ", ")): the phone receives what it keeps with "
                + "{\"event\": \"online\"}")
    }

    private func writePicture(
        of pushes: [SimulatedPush], _ lockScreens: (before: LockScreen, after: LockScreen), screenOffset: Int64
    ) throws {
        guard let picture else { return }
        let page = SimulatedPage(
            appName: appName, topic: topic ?? Self.exampleTopic, pushes: pushes, lockScreens: lockScreens,
            screenOffset: screenOffset, timeZone: phone.timeZone ?? "UTC")
        try FileSystem.replace(picture.path, with: Array(page.html().utf8))
    }

    private var appName: String { texts.appName ?? topic?.split(separator: ".").last.map(String.init) ?? "app" }

    /// The topic of a phone without keys.
    private static let exampleTopic = "com.example.app"

    private var keyAccess: KeyAccess { KeyAccess(secrets: secrets, allowsDemoKeys: demoKeys.isAllowed) }

    private func settings() throws -> SimulatedPhones.Settings {
        let topic = try Topic(option: topic ?? Self.exampleTopic).description
        let source = try keys.map { try KeySource($0, keyAccess) }
        let device = try DeviceID(option: device)
        let keyset = try source?.openingKeyset(device: device)
        let keyring: any RecipientKeyring = keyset.map { KeysetKeyring($0) } ?? NoKeys()
        let trusted = try TrustedFiles(senders, topic: topic, at: timeOptions.time, keyAccess).senders
        var settings = SimulatedPhones.Settings(
            topic: topic, keyring: keyring,
            given: source.map { GivenKeys(keys: $0.keyset, device: device, senders: trusted) },
            senders: trusted, fallback: (fallback ?? .outer).fallback, startsAt: timeOptions.time)
        try phone.apply(to: &settings)
        try app.apply(to: &settings)
        if let path = texts.strings {
            let (strings, note) = try LocalizedStrings.read(path, language: texts.language)
            settings.strings = strings
            if let note { StandardStreams.writeNote(note) }
        }
        return settings
    }
}

/// Writes what became of pushes and what events did, one after the other.
private struct SimulationOutput {
    let asJSON: Bool
    let appName: String
    private(set) var count = 0

    init(asJSON: Bool, appName: String) {
        self.asJSON = asJSON
        self.appName = TerminalText.harmless(appName.utf8)
    }

    mutating func write(_ push: SimulatedPush) throws {
        try write(push.json, push.text)
    }

    mutating func write(_ event: SimulatedEvent) throws {
        try write(event.json, event.text)
    }

    private mutating func write(_ object: JSONObject, _ text: (TerminalText, String, Int) -> String) throws {
        defer { count += 1 }
        if asJSON { return try StandardStreams.writeJSON(object, []) }
        let text = text(
            TerminalText(isColourful: StandardStreams.isColourful), appName,
            StandardStreams.columns(atLeast: BannerText.smallestWidth))
        try StandardStreams.write((count > 0 ? "\n" : "") + text)
    }
}
