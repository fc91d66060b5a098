import ArgumentParser
import PushCryptCore
import PushCryptExtension
import PushCryptFiles
import PushCryptNotifications
import PushCryptPrimitives
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

            Without --keys and --topic the phone has no keys, so no push is restored.

            With --json, each line on stdout is {"version": 1, "number", "line", "bytes", "outcome", "restored", "failure", \
            "refused", "verdict", "before", "after", "seconds", "badge"?, "sound"?, "category"?, "thread"?, "attachments"?, \
            "interruptionLevel"?, "missing"?, "missingTexts"?, "notes"?}, and "id", "token", "device", "to" and "tag" as they are beside \
            "payload" in the input. "line" is the number of the line in the input. "outcome" is what is shown: "restored" \
            (the sealed text; "restored" is false if an attachment or a text is missing), "placeholder", "original", \
            "nothing", or "refused" by APNs.

            With --picture the page has all pushes: what was sent, what is on the wire with its byte budget, and both lock \
            screens. It needs no network. It contains the text of the notifications, so only its owner can read it.

            Exit status: 0 every push was restored with all its texts and attachments; 65 one wasn't; anything else: see \
            pushcrypt --help.
            """)

    @OptionGroup var input: PayloadInput
    @Flag(help: "Print one JSON object for each push.") var json = false
    @Option(
        help: .init("Also write a page with the lock screen; an existing file is replaced.", "FILE.html"),
        transform: Self.page)
    var picture: PictureFile?
    @Option(help: .init("The phone's keys: private or shared.", "FILE|Keys/NAME")) var keys: String?
    @Option(help: .init("The app's bundle identifier; required with --keys.", "TOPIC")) var topic: String?
    @Option(help: .init("The phone has this device's key of a shared keyset.", "ID")) var device: String?
    @Option(
        help: .init(
            "The pinned sender keys: only signed pushes are accepted. Without it only unsigned ones are.", "FILE"))
    var trust: String?
    @Option(help: .init("The app's pins; needed if --trust is a signed sender set.", "FILE")) var pins: String?
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
    @OptionGroup(title: "Encrypted keysets") var secrets: SecretOptions

    func validate() throws {
        try RepeatedOptions.refuse(of: Self.self)
        guard (keys == nil) == (topic == nil) else {
            throw ValidationError("--keys and --topic are required together: opening a payload needs both.")
        }
        for (name, isGiven) in [
            ("--device", device != nil), ("--trust", trust != nil), ("--fallback", fallback != nil),
        ] {
            guard !isGiven || keys != nil else { throw ValidationError("\(name) needs --keys.") }
        }
        guard pins == nil || trust != nil else { throw ValidationError("--pins needs --trust.") }
        guard !phone.locked || app.foreground == nil else {
            throw ValidationError("--foreground and --locked exclude each other: a locked phone shows no app.")
        }
    }

    private static func page(_ argument: String) throws -> PictureFile {
        guard let file = PictureFile(argument: argument), file.isHTML else {
            throw ValidationError("--picture writes a page: the file's name must end with .html, as in push.html.")
        }
        return file
    }

    @MainActor func run() async throws {
        try picture.map { try FileSystem.checkReplaceable($0.path) }
        let phones = try await SimulatedPhones(settings())
        let reader = try PayloadReader(input)
        if keys == nil {
            StandardStreams.writeNote("without --keys the phone has no keys, and no push can be restored")
        }
        var output = SimulationOutput(asJSON: json, appName: appName)
        var results: [Int: SimulatedPush] = [:]
        while let line = try reader.next() {
            switch line {
            case .push(let input):
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
        guard output.count > 0 else { throw Failure(.dataError, "\(input.name) has no payload") }
        phones.optionsWithoutEffect.forEach(StandardStreams.writeNote)
        let pushes = results.values.sorted { $0.number < $1.number }
        noteKept(pushes)
        try writePicture(of: pushes, phones.lockScreens)
        let lost = pushes.count { !$0.isRestored }
        guard lost == 0 else {
            let next = pushes.contains(where: \.isUnexplained) ? "; pushcrypt diagnose can say why" : ""
            throw Failure(.dataError, "\(lost) of \(pushes.count) payloads not completely restored\(next)")
        }
    }

    /// Names the pushes that the phone hasn't received.
    private func noteKept(_ pushes: [SimulatedPush]) {
        let kept = pushes.filter(\.reception.isStored).map { "\($0.number)" }
        guard !kept.isEmpty else { return }
        StandardStreams.writeNote(
            "the phone hasn't received push \(kept.joined(separator: ", ")): it receives what APNs keeps with "
                + "{\"event\": \"online\"}")
    }

    private func writePicture(of pushes: [SimulatedPush], _ lockScreens: (before: LockScreen, after: LockScreen)) throws
    {
        guard let picture else { return }
        let page = SimulatedPage(
            appName: appName, topic: topic ?? Self.exampleTopic, pushes: pushes, lockScreens: lockScreens)
        try FileSystem.replace(picture.path, with: Array(page.html().utf8))
    }

    private var appName: String { texts.appName ?? topic?.split(separator: ".").last.map(String.init) ?? "app" }

    /// The topic of a phone without keys.
    private static let exampleTopic = "com.example.app"

    private var keyAccess: KeyAccess { KeyAccess(secrets: secrets, allowsDemoKeys: demoKeys.isAllowed) }

    private func settings() throws -> SimulatedPhones.Settings {
        let topic = try Topic(option: topic ?? Self.exampleTopic).description
        let keyset = try keys.map { try KeySource($0, keyAccess).openingKeyset(device: DeviceID(option: device)) }
        let keyring: any RecipientKeyring = keyset.map { KeysetKeyring($0) } ?? NoKeys()
        var settings = SimulatedPhones.Settings(
            topic: topic, keyring: keyring, hasKeys: keys != nil,
            senders: try TrustedFile(trust, pins: pins, topic: topic, at: timeOptions.time, keyAccess).trust,
            hasTrust: trust != nil, fallback: (fallback ?? .outer).fallback, startsAt: timeOptions.time)
        settings.lacksDevice =
            keyset?.entries.contains { $0.record.kind == .shared && !$0.record.isDeviceKey } ?? false
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

/// The state of the phone and its network.
struct PhoneOptions: ParsableArguments {
    @Flag(help: "The phone was restarted and not unlocked since: keys can't be read.") var locked = false
    @Option(help: .init("Whether the lock screen shows the text. (default: shown)", "hidden|shown"))
    var previews: Previews?
    @Option(
        help: .init("A file on the simulated network; may be repeated.", "URL=FILE"),
        transform: ServedFile.init(option:))
    var serve: [ServedFile] = []
    @Option(
        help: .init("How long each transfer takes. (default: 0s)", "DURATION"),
        transform: DurationArgument.init(option:))
    var slowNetwork: DurationArgument?
    @Option(
        help: .init("A member of the payload with an attachment's address, such as image_url; may be repeated.", "NAME")
    )
    var attachmentMember: [String] = []
    @Option(
        help: .init("The system ends the extension this long after each push.", "DURATION"),
        transform: DurationArgument.init(option:))
    var killAt: DurationArgument?
    @Option(
        help: .init("How long the system waits for the extension, 30s at most. (default: 30s)", "DURATION"),
        transform: DurationArgument.init(option:))
    var timeLimit: DurationArgument?

    @Option(help: .init("The phone is off line, and APNs keeps the last push or all.", "last|all"))
    var offline: Storage?
    @Option(
        help: .init("The time that the phone's own clock shows at the start. APNs has that of --at.", "TIME"),
        transform: TimeOptions.time(option:))
    var phoneClock: UnixTime?
    @Option(
        help: .init("How much memory the extension may use: bytes, or with KiB or MiB. (default: 24MiB)", "SIZE"),
        transform: MemorySize.init(option:))
    var memoryLimit: MemorySize?
    @Option(help: .init("The user's time zone, for calendar triggers. (default: UTC)", "NAME")) var timeZone: String?

    enum Previews: String, ExpressibleByArgument { case hidden, shown }
    enum Storage: String, ExpressibleByArgument { case last, all }

    func validate() throws {
        // The default is the system's own limit.
        let longest = SimulatedDevice.Options().timeLimit.components.seconds
        let limit = timeLimit?.seconds ?? longest
        guard (1...longest).contains(limit) else { throw ValidationError("--time-limit is 1s to \(longest)s.") }
        guard killAt.map({ $0.seconds <= limit }) ?? true else {
            throw ValidationError("--kill-at is after the time limit of \(limit)s: nothing runs then.")
        }
        let addresses = serve.map(\.address)
        if let twice = addresses.first(where: { address in addresses.count { $0 == address } > 1 }) {
            throw ValidationError("--serve has \(twice) more than once: an address has one file.")
        }
    }

    func apply(to settings: inout SimulatedPhones.Settings) throws {
        settings.isBeforeFirstUnlock = locked
        settings.hidesPreviews = previews == .hidden
        settings.networkDelay = .seconds(slowNetwork?.seconds ?? 0)
        settings.plainMembers = attachmentMember
        settings.files = try serve.map { ($0.address, try $0.read()) }
        settings.options.endsProcessAfter = killAt.map { .seconds($0.seconds) }
        settings.timeLimit = timeLimit.map { .seconds($0.seconds) }
        if let limit = settings.timeLimit { settings.options.timeLimit = limit }
        settings.isOffline = offline != nil
        settings.options.storage = offline == .all ? .all : .last
        settings.phoneClock = phoneClock
        if let memoryLimit { settings.options.memoryLimitInBytes = memoryLimit.byteCount }
        settings.calendar = try ZoneCalendar(timeZone: timeZone ?? "UTC")
        settings.hasTimeZone = timeZone != nil
    }
}

/// The state of the app, and what its user allows.
struct AppOptions: ParsableArguments {
    @Option(
        help: .init(
            "What the user allows. (default: authorized)", "authorized|denied|provisional|notDetermined"))
    var authorization: Authorization?
    @Option(
        help: .init(
            "The app is on the screen, and presents notifications so: banner, list, sound and badge, separated by commas; or "
                + "none.", "LIST"),
        transform: ForegroundPresentation.init(option:))
    var foreground: ForegroundPresentation?
    @Option(help: .init("The app's categories, a JSON file; see docs/simulator.md.", "FILE")) var categories: String?
    @Flag(help: "The extension has the entitlement for filtering, and may hide a push.") var filtering = false

    enum Authorization: String, ExpressibleByArgument { case authorized, denied, provisional, notDetermined }

    func apply(to settings: inout SimulatedPhones.Settings) throws {
        settings.authorization =
            switch authorization {
            case .denied: .denied
            case .provisional: .provisional
            case .notDetermined: .notDetermined
            case .authorized, nil: .authorized
            }
        settings.foreground = foreground?.options
        settings.options.hasFilteringEntitlement = filtering
        guard let categories else { return }
        do {
            settings.categories = try AppCategory.read(FileSystem.readFile(categories))
        } catch let error as MemberError {
            throw Failure(.dataError, "\(categories): \(error.reason)")
        }
    }
}

/// How an app in the foreground presents notifications.
struct ForegroundPresentation {
    let options: PresentationOptions

    init(option argument: String) throws {
        let names = argument == "none" ? [] : argument.split(separator: ",", omittingEmptySubsequences: false)
        let known = MemberReader.presentationOptions
        options = try PresentationOptions(
            names.map { name in
                guard let option = known.first(where: { $0.key == name }) else {
                    throw ValidationError(
                        "--foreground is none, or of \(known.map(\.key).joined(separator: ", ")), separated by commas.")
                }
                return option.value
            })
    }
}

/// A number of bytes, also as KiB or MiB.
struct MemorySize {
    let byteCount: Int

    init(option argument: String) throws {
        let unit = ["KiB": 10, "MiB": 20].first { argument.hasSuffix($0.key) }
        let digits = argument.dropLast(unit?.key.count ?? 0)
        guard let number = Int(digits), number > 0, number <= (1 << 30) >> (unit?.value ?? 0), digits.first != "+"
        else {
            throw ValidationError("A size is a number of bytes from 1 to 1024MiB, as in 24MiB, 64KiB or 4096.")
        }
        byteCount = number << (unit?.value ?? 0)
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

    func read() throws -> [UInt8] { try Self.read(path) }

    static func read(_ path: String) throws(FileError) -> [UInt8] {
        try FileSystem.readFile(path, limitInBytes: limitInBytes)
    }
}

struct TextOptions: ParsableArguments {
    @Option(help: .init("The app's texts: Localizable.strings, a string catalog or a JSON object.", "FILE"))
    var strings: String?
    @Option(
        help: .init(
            "The user's language, such as de-CH, for a string catalog. (default: its source language)", "LANGUAGE"))
    var language: String?
    @Option(help: .init("The app's name on the lock screen. (default: the end of TOPIC)", "NAME")) var appName: String?

    func validate() throws {
        guard appName?.isVisible ?? true else { throw ValidationError("--app-name has no visible character.") }
        guard language?.isEmpty != true else { throw ValidationError("--language is a language such as de or de-CH.") }
        guard language == nil || strings.map(LocalizedStrings.isCatalog) == true else {
            throw ValidationError(
                "--language needs --strings with a string catalog (.xcstrings): other files have one language.")
        }
    }
}
