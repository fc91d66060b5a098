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
        /// Whether keys were given.
        var hasKeys: Bool
        /// Whether they have a shared key itself, and no device's.
        var lacksDevice = false
        var senders: SenderTrust
        /// Whether sender keys were given.
        var hasTrust: Bool
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
    }

    private let settings: Settings
    private let plain: SimulatedDevice
    private let phone: SimulatedDevice
    private let opened = OpenedPushes()
    private let attachmentFailures = AttachmentFailures()
    private let folder: String
    private var requestedCount = 0
    private var nextNumber = 1
    /// The numbers of the opened pushes, by the id of the message.
    private var numbers: [String: Int] = [:]
    /// The members of --attachment-member that a push had.
    private var knownMembers: Set<String> = []
    private var hasOpened = false
    private var hasTextKeys = false
    /// Whether the system ended the extension during a push.
    private var hasDied = false
    /// How long the extension has worked for a push at most.
    private var longestDuration: Duration = .zero

    init(_ settings: Settings) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("pushcrypt." + UUID().uuidString)
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        self.folder = folder.path
        self.settings = settings
        let (path, opened, failures) = (folder.path, opened, attachmentFailures)
        plain = SimulatedDevice(
            topic: settings.topic, clock: SimulatedClock(startingAt: settings.startsAt), extension: nil)
        phone = SimulatedDevice(
            topic: settings.topic, clock: SimulatedClock(startingAt: settings.startsAt), options: settings.options
        ) { device in
            var configuration = try ExtensionConfiguration(
                topic: settings.topic, keyring: settings.keyring, senders: settings.senders, fallback: settings.fallback
            )
            configuration.store = SharedStore(folder: path + "/store", role: .extension)
            configuration.attachments = AttachmentStage(
                configuration: .init(folder: path + "/attachments", plainMembers: settings.plainMembers),
                transport: device.network, onFailure: { failures.add($0, $1) })
            configuration.offload = OffloadFetcher(transport: device.network)
            configuration.stages = [opened]
            return configuration
        }
        for device in [plain, phone] {
            device.center.strings = settings.strings
            _ = try await device.center.requestAuthorization([.alert, .sound, .badge])
            if settings.hidesPreviews { device.center.changeSettings { $0.previews = .never } }
        }
        phone.network.delay = settings.networkDelay
        for file in settings.files { phone.network.serve(file.bytes, at: file.address) }
        if settings.isBeforeFirstUnlock {
            phone.restart()
        } else {
            phone.lock()
        }
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    /// The lock screens after all pushes.
    var lockScreens: (before: LockScreen, after: LockScreen) { (plain.center.lockScreen, phone.center.lockScreen) }

    /// The options that changed nothing for any push.
    var optionsWithoutEffect: [String] {
        let requested = Set(phone.network.requested)
        var notes = settings.files.map(\.address).filter { !requested.contains($0) }
            .map { "served and never requested: \($0)" }
        if settings.networkDelay > .zero, requested.isEmpty {
            notes.append("--slow-network has no effect: no push has requested a file")
        }
        if settings.options.endsProcessAfter != nil, !hasDied {
            notes.append("--kill-at has no effect: the extension was ready with each push before")
        }
        if let limit = settings.timeLimit, longestDuration < limit - settings.options.grace {
            notes.append("--time-limit has no effect: the extension was ready with each push before")
        }
        if settings.strings != nil, !hasTextKeys {
            notes.append("--strings has no effect: no push has a key of the app's texts")
        }
        if hasOpened {
            notes += settings.plainMembers.filter { !knownMembers.contains($0) }
                .map { "--attachment-member \($0) has no effect: no push has this member" }
        }
        return notes
    }

    func receive(_ input: PayloadReader.Input) async -> SimulatedPush {
        defer { nextNumber += 1 }
        let payload = input.payload
        _ = attachmentFailures.take()
        let start = phone.clock.elapsed
        let headers = headers(input.headers)
        let before = await plain.receive(payload, headers)
        let reception = await phone.receive(payload, headers)
        let duration = phone.clock.elapsed - start
        plain.clock.advance(by: duration)
        hasDied = hasDied || reception.presentation?.origin == .died
        longestDuration = max(longestDuration, duration)
        let requested = phone.network.requested.dropFirst(requestedCount)
        requestedCount += requested.count
        // The app's stages receive neither a push without text nor one that is shown before its attachments are there.
        let staged = reception.requestID.flatMap { opened.take($0) }
        let push = staged ?? (reception.isRestored ? openedAgain(payload) : nil)
        let textless = reception.failure == .malformed ? openedAgain(payload) : nil
        let findings = PushFindings(
            settings: settings, payload: payload, reception: reception, opened: push ?? textless,
            attachmentFailures: attachmentFailures.take())
        hasTextKeys = hasTextKeys || findings.hasTextKeys
        hasOpened = hasOpened || push != nil
        knownMembers.formUnion(settings.plainMembers.filter { findings.member($0) != nil })
        let retracted = push?.retractedMessageIDs.compactMap { numbers[$0] } ?? []
        if let id = push?.messageID, numbers[id] == nil { numbers[id] = nextNumber }
        return SimulatedPush(
            number: nextNumber, input: input, findings: findings, sent: push?.payload,
            paddingByteCount: push?.paddingByteCount, retractedNumbers: retracted,
            reception: reception, before: banner(before, on: plain), after: banner(reception, on: phone),
            attachments: reception.content?.attachments.compactMap(attachment) ?? [],
            duration: duration,
            missingAddresses: requested.filter { address in !settings.files.contains { $0.address == address } })
    }

    /// - Parameter given: those of the line. A request without a topic or type is one of an alert for the app.
    private func headers(_ given: [String: String]) -> PushHeaders {
        PushHeaders(
            topic: given["apns-topic"] ?? settings.topic, pushType: given["apns-push-type"] ?? "alert",
            expiration: given["apns-expiration"].flatMap(Int64.init).map { UnixTime($0) },
            collapseID: given["apns-collapse-id"])
    }

    private func openedAgain(_ payload: [UInt8]) -> OpenedPush? {
        guard let opener = try? Opener(topic: settings.topic, keyring: settings.keyring, senders: settings.senders)
        else {
            return nil
        }
        return try? opener.open(payload, at: phone.time).get()
    }

    private func banner(_ reception: SimulatedDevice.Reception, on device: SimulatedDevice) -> LockScreen.Banner? {
        guard reception.content != nil, let id = reception.requestID else { return nil }
        return device.center.banner(of: id)
    }

    private func attachment(_ attachment: NotificationContent.Attachment) -> SimulatedPush.Attachment? {
        phone.center.file(attachment.path).map { bytes in
            SimulatedPush.Attachment(
                path: attachment.path, type: attachment.type?.fileExtension ?? "", bytes: bytes,
                mediaType: attachment.type?.mimeTypes.first)
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
