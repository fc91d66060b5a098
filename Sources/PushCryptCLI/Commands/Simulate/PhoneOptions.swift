import ArgumentParser
import PushCryptCore
import PushCryptFiles
import PushCryptNotifications
import PushCryptSimulator

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
    @Option(help: .init("The time that the phone's own clock shows at the start. APNs has that of --at.", "TIME"))
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
        settings.calendar = try ZoneCalendar(option: timeZone ?? "UTC")
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
    @Option(
        help: .init(
            "What a push that isn't sealed shows: itself, or the app's own text. (default: refused)", "shown|refused"))
    var unsealed: UnsealedChoice?
    @Option(help: .init("The extension posts receipts in this form; each push shows what is posted.", "json|form"))
    var receipts: ReceiptForm?

    enum Authorization: String, ExpressibleByArgument { case authorized, denied, provisional, notDetermined }
    enum UnsealedChoice: String, ExpressibleByArgument { case shown, refused }
    enum ReceiptForm: String, ExpressibleByArgument { case json, form }

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
        settings.showsUnsealed = unsealed == .shown
        settings.receipts = receipts.map { $0 == .form ? .form : .json }
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
