import PushCryptCore
import PushCryptExtension
import PushCryptFiles
import PushCryptNotifications
import PushCryptPrimitives
import PushCryptSimulator

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Two phones that receive the same pushes: one without the app's extension, and one with it.
final class SimulatedPhones {
    struct Settings {
        var topic: String
        var keyring: any RecipientKeyring
        /// The keys and the sender keys that were given, which explain a failure.
        var given: GivenKeys?
        /// nil if no sender keys were given: the phone accepts only unsigned pushes.
        var senders: TrustedSenders?
        var fallback: Fallback
        var startsAt: UnixTime
        var options = SimulatedDevice.Options()
        /// How long the system waits for the extension; nil if it wasn't given.
        var timeLimit: Duration?
        /// How long each transfer takes.
        var networkDelay: Duration = .zero
        /// The files that the network has, by address.
        var files: [(address: String, bytes: [UInt8])] = []
        /// The members of the sealed payload with the address of a file.
        var plainMembers: [String] = []
        var strings: (any StringTable)?
        var isBeforeFirstUnlock = false
        var hidesPreviews = false
        /// Whether the phone is off line at the start.
        var isOffline = false
        /// The time that the phone's own clock shows at the start; nil for the right one.
        var phoneClock: UnixTime?
        var calendar: ZoneCalendar?
        /// Whether a time zone was given.
        var hasTimeZone = false
        /// Whether the app shows pushes that aren't sealed.
        var showsUnsealed = false
        /// The form of the receipts that the extension posts; nil if it posts none.
        var receipts: ReceiptPosting.Encoding?
        var authorization = NotificationSettings.Authorization.authorized
        /// How the app presents notifications, if it is in the foreground at the start.
        var foreground: PresentationOptions?
        var categories: [AppCategory] = []

        var trust: SenderTrust { senders.map { .pinned($0) } ?? .unsigned }
    }

    let settings: Settings
    let plain: SimulatedDevice
    let phone: SimulatedDevice
    let app: SimulatedApp
    let plainApp: SimulatedApp
    var isInstalled = true
    /// Opens placeholders in the app. The app has one from its start to its end.
    private(set) var kept: KeptNotifications?
    /// The app's side of the store of receipts; nil if the extension posts none.
    private var receiptStore: SharedStore?
    private var (postedCount, waitingReceiptCount) = (0, 0)
    private let opened = OpenedPushes()
    private let attachmentFailures = AttachmentFailures()
    private let folder: String
    private var requestedCount = 0
    private var nextNumber = 1
    /// The numbers of the opened pushes, by the name of the message.
    private var numbers: [String: Int] = [:]
    /// The pushes that APNs keeps, by number.
    private var keptInputs: [Int: PayloadReader.Input] = [:]
    private var effects = OptionEffects()

    init(_ settings: Settings) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("pushcrypt." + UUID().uuidString)
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        self.folder = folder.path
        self.settings = settings
        let (path, opened, failures) = (folder.path, opened, attachmentFailures)
        func app() -> SimulatedApp {
            SimulatedApp(
                presents: settings.foreground ?? SimulatedPhones.allPlaces, isAllowed: settings.authorization != .denied
            )
        }
        func device(
            _ app: SimulatedApp, _ configure: (@Sendable (SimulatedDevice) throws -> ExtensionConfiguration)?
        ) -> SimulatedDevice {
            let clock = SimulatedClock(startingAt: settings.startsAt)
            let center = SimulatedNotificationCenter(clock, calendar: settings.calendar) { _ in app.isAllowed }
            return SimulatedDevice(
                topic: settings.topic, clock: clock, options: settings.options, center: center, extension: configure)
        }
        (self.app, plainApp) = (app(), app())
        plain = device(plainApp, nil)
        phone = device(self.app) { device in
            var configuration = try ExtensionConfiguration(
                topic: settings.topic, keyring: settings.keyring, senders: settings.trust, fallback: settings.fallback
            )
            configuration.hasFilteringEntitlement = settings.options.hasFilteringEntitlement
            configuration.store = SharedStore(folder: path + "/store", role: .extension)
            if settings.showsUnsealed { configuration.unsealed = .shown }
            configuration.receipts = try settings.receipts.map { try Self.posting($0, device) }
            configuration.attachments = AttachmentStage(
                configuration: .init(folder: path + "/attachments", plainMembers: settings.plainMembers),
                transport: device.network, onFailure: { failures.add($0, $1) })
            configuration.offload = OffloadFetcher(transport: device.network)
            configuration.stages = [opened]
            return configuration
        }
        phone.network.delay = settings.networkDelay
        for file in settings.files { phone.network.serve(file.bytes, at: file.address) }
        for device in [plain, phone] { try await begin(device) }
        plain.center.setResponder(plainApp)
        try connectApp()
    }

    /// The address only stands for the server's: the simulated network keeps what is posted.
    private static func posting(_ encoding: ReceiptPosting.Encoding, _ device: SimulatedDevice) throws -> ReceiptPosting
    {
        try ReceiptPosting(
            to: "https://receipts.invalid", transport: device.network, encoding: encoding, timer: device.clock)
    }

    /// Everything that the app can present.
    private static let allPlaces: PresentationOptions = [.banner, .list, .sound, .badge]

    /// Brings a phone into its state at the start.
    private func begin(_ device: SimulatedDevice) async throws {
        let center = device.center
        center.strings = settings.strings
        center.setCategories(settings.categories.map(\.category))
        for category in settings.categories { category.contentExtension.map(center.addContentExtension) }
        if settings.authorization != .notDetermined {
            let quiet: NotificationOptions = settings.authorization == .provisional ? [.provisional] : []
            _ = try await center.requestAuthorization(quiet.union([.alert, .sound, .badge]))
        }
        if settings.hidesPreviews { center.changeSettings { $0.previews = .never } }
        if let time = settings.phoneClock { device.clockError = .seconds(time.seconds - settings.startsAt.seconds) }
        if settings.isOffline { device.goOffline() }
        if settings.isBeforeFirstUnlock {
            device.restart()
        } else if settings.foreground != nil {
            center.appState = .foreground
        } else {
            device.lock()
        }
    }

    /// The app connects to the notification centre when it starts.
    func connectApp() throws {
        kept = try phone.keptNotifications()
        let store = SharedStore(folder: folder + "/store", role: .app)
        receiptStore = settings.receipts == nil ? nil : store
        let verifier = NotificationVerifier(store: store) { [phone] in phone.time }
        phone.center.setResponder(app, verifier: verifier, kept: kept)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    /// How many seconds the clock on the phone's screen is ahead of APNs' in UTC.
    var screenOffset: Int64 {
        phone.time.seconds - phone.clock.time.seconds + (settings.calendar?.offset(at: phone.time) ?? 0)
    }

    /// The lock screens after all pushes.
    var lockScreens: (before: LockScreen, after: LockScreen) { (plain.center.lockScreen, phone.center.lockScreen) }

    /// The options that changed nothing for any push.
    var optionsWithoutEffect: [String] { effects.unused(settings, phone, app) }

    func receive(_ input: PayloadReader.Input) async -> SimulatedPush {
        defer { nextNumber += 1 }
        let (headers, plain, phone) = (headers(input.headers), plain, phone)
        let push = await received(
            input, nextNumber, before: { await plain.receive(input.payload, headers) },
            { await phone.receive(input.payload, headers) })
        guard push.reception.isStored else { return push }
        effects.hasKept = true
        keptInputs[nextNumber] = input
        return push
    }

    /// The push of that number, which APNs keeps no more because the phone receives it.
    func keptInput(_ number: Int) -> PayloadReader.Input? { keptInputs.removeValue(forKey: number) }

    /// The numbers of the pushes that APNs keeps.
    var keptNumbers: [Int] { keptInputs.keys.sorted() }

    /// The numbers of the pushes that APNs has kept, and that have expired when the phone is on line.
    func takeKeptInputs() -> [Int] {
        defer { keptInputs = [:] }
        return keptNumbers
    }

    /// - Parameters:
    ///   - before: how the phone without the extension receives it.
    ///   - after: how the phone with the extension receives it.
    func received(
        _ input: PayloadReader.Input, _ number: Int, before: () async -> SimulatedDevice.Reception,
        _ after: () async -> SimulatedDevice.Reception
    ) async -> SimulatedPush {
        let payload = input.payload
        _ = attachmentFailures.take()
        let (start, presentedCount) = (phone.clock.elapsed, phone.center.presentations.count)
        let time = phone.time
        let before = banner(await before(), on: plain)
        let reception = await after()
        let duration = reception.shownAfter
        plain.clock.advance(by: phone.clock.elapsed - start)
        effects.note(reception, duration)
        let waitingCount = waitingReceiptCount
        let requested = phone.network.requested.dropFirst(requestedCount)
        requestedCount += requested.count
        // The app's stages receive neither a push without text nor one that is shown before its attachments are there.
        let staged = reception.requestID.flatMap { opened.take($0) }
        let push = staged ?? (reception.isRestored ? openedAgain(payload) : nil)
        let textless = reception.failure == .malformed ? openedAgain(payload) : nil
        let findings = PushFindings(
            settings: settings, payload: payload, reception: reception, opened: push ?? textless,
            attachmentFailures: attachmentFailures.take(), receivedAt: time)
        effects.note(findings, isOpened: push != nil)
        if phone.time != phone.clock.time, outcome(payload, at: phone.time) != outcome(payload, at: phone.clock.time) {
            effects.hasClockFailure = true
        }
        let retracted = push?.retractedNames.compactMap { numbers[$0] } ?? []
        if let name = push?.name, numbers[name] == nil { numbers[name] = number }
        return SimulatedPush(
            number: number, input: input, findings: findings, sent: push?.payload,
            paddingByteCount: push?.paddingByteCount, retractedNumbers: retracted,
            replacedNumbers: replacedInputs(), reception: reception, before: before,
            after: banner(reception, on: phone),
            presentation: phone.center.presentations.dropFirst(presentedCount).last {
                $0.notification.request.trigger == .push
            },
            attachments: reception.content?.attachments.compactMap(attachment) ?? [],
            duration: duration, exceedsMemory: exceedsMemory(after: duration),
            missingAddresses: requested.filter { address in !settings.files.contains { $0.address == address } },
            receipts: takeReceipts(), isReceiptWaiting: waitingReceiptCount > waitingCount)
    }

    /// The receipts that the phone has posted since the last call.
    func takeReceipts() -> [String] {
        waitingReceiptCount = (try? receiptStore?.receiptCount()) ?? 0
        effects.hasLeftReceipt = effects.hasLeftReceipt || waitingReceiptCount > 0
        let posts = phone.network.posts.dropFirst(postedCount)
        postedCount += posts.count
        return posts.map { String(decoding: $0.body, as: UTF8.self) }
    }

    /// Posts the receipts that wait, as the app does when it becomes active.
    func postWaitingReceipts() async throws {
        guard let receiptStore, let encoding = settings.receipts else { return }
        let sender = ReceiptSender(store: receiptStore, posting: try Self.posting(encoding, phone)) { [phone] in
            phone.time
        }
        _ = try await phone.clock.run(patience: settings.options.patience) { try await sender.flush() }
    }

    /// The pushes that APNs kept until it received this one.
    private func replacedInputs() -> [Int] {
        guard phone.isOffline else { return [] }
        let replaced = keptInputs.keys.filter { !phone.keptPushNumbers.contains($0) }.sorted()
        for number in replaced { keptInputs[number] = nil }
        return replaced
    }

    func noteTimeZone() { effects.hasUsedTimeZone = true }

    /// A copy of a file, which the system may move away. A path without a file stays as it is, and the system refuses it.
    func copy(of path: String) throws -> String {
        let bytes: [UInt8]
        do throws(FileError) { bytes = try ServedFile.read(path) } catch {
            guard error.code == .notFound else { throw error }
            return path
        }
        try FileSystem.makeFolders(folder + "/copies")
        let copy = folder + "/copies/\(UUID().uuidString)-\(FileSystem.name(of: path))"
        try FileSystem.replace(copy, with: bytes)
        return copy
    }

    /// - Parameter given: those of the line. A request without a topic or type is one of an alert for the app.
    private func headers(_ given: [String: String]) -> PushHeaders {
        PushHeaders(
            topic: given["apns-topic"] ?? settings.topic, pushType: given["apns-push-type"] ?? "alert",
            expiration: given["apns-expiration"].flatMap(Int64.init).map { UnixTime($0) },
            collapseID: given["apns-collapse-id"])
    }

    private func openedAgain(_ payload: [UInt8]) -> OpenedPush? { try? opened(payload, at: phone.time)?.get() }

    /// Whether the extension has used too much memory, and wasn't ended by `--kill-at` before.
    private func exceedsMemory(after duration: Duration) -> Bool {
        let wasEnded = settings.options.endsProcessAfter.map { $0 <= duration } ?? false
        return !wasEnded && phone.memory.peakInBytes > phone.memory.limitInBytes
    }

    /// The failure at a time; nil for a push that can be opened.
    private func outcome(_ payload: [UInt8], at time: UnixTime) -> FailureClass? {
        guard case .failure(let failure) = opened(payload, at: time) else { return nil }
        return failure
    }

    private func opened(_ payload: [UInt8], at time: UnixTime) -> Result<OpenedPush, FailureClass>? {
        guard let opener = try? Opener(topic: settings.topic, keyring: settings.keyring, senders: settings.trust)
        else {
            return nil
        }
        return opener.open(payload, at: time)
    }

    /// The notification of a push as the user sees it, wherever it is.
    private func banner(_ reception: SimulatedDevice.Reception, on device: SimulatedDevice) -> LockScreen.Banner? {
        guard reception.content != nil, let id = reception.requestID,
            let presentation = device.center.presentations.last(where: { $0.notification.id == id })
        else { return nil }
        return device.center.banner(presentation.notification)
    }

    func attachment(_ attachment: NotificationContent.Attachment) -> SimulatedPush.Attachment? {
        phone.center.file(attachment.path).map { bytes in
            let type = attachment.type ?? AttachmentType.recognize(Array(bytes.prefix(AttachmentType.headByteCount)))
            return SimulatedPush.Attachment(
                path: attachment.path, type: type?.fileExtension ?? "", bytes: bytes, mediaType: type?.mimeTypes.first)
        }
    }
}

/// Keeps what the extension has opened. It is a stage, because only stages see it.
private final class OpenedPushes: ContentStage {
    private let pushes = Locked<[String: OpenedPush]>([:])

    func process(_ content: NotificationContent, of push: OpenedPush) async throws -> NotificationContent {
        if let id = push.requestID { pushes.withLock { $0[id] = push } }
        return content
    }

    func take(_ requestID: String) -> OpenedPush? { pushes.withLock { $0.removeValue(forKey: requestID) } }
}

/// Why attachments of the running push couldn't be fetched.
private final class AttachmentFailures: Sendable {
    private let failures = Locked<[(identifier: String, error: any Error)]>([])

    func add(_ identifier: String, _ error: any Error) { failures.withLock { $0.append((identifier, error)) } }

    func take() -> [(identifier: String, error: any Error)] {
        failures.withLock { failures in
            defer { failures = [] }
            return failures
        }
    }
}

/// A phone without keys.
struct NoKeys: RecipientKeyring {
    func key(_ kid: KeyID, at time: UnixTime) throws(FailureClass) -> RecipientKey { throw .unknownKey }
}
