import PushCryptCore
import PushCryptExtension
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
        /// The keys and the sender keys that were given, which explain a failure; nil for a phone without keys.
        var given: GivenKeys?
        var trust: SenderTrust
        var carriers: Set<Carrier> = [.apns]
        var time: UnixTime
        /// The files that the network has, by address.
        var files: [(address: String, bytes: [UInt8])] = []
        /// The members of the sealed payload with the address of a file.
        var plainMembers: [String] = []
        var strings: (any StringTable)?
        var isBeforeFirstUnlock = false
        /// Whether the app shows pushes that aren't sealed.
        var showsUnsealed = false
        /// The form of the receipts that the extension posts; nil if it posts none.
        var receipts: ReceiptPosting.Encoding?

        var opener: Opener? { try? Opener(topic: topic, keyring: keyring, senders: trust, carriers: carriers) }
    }

    private let settings: Settings
    private let plain: SimulatedDevice
    private let phone: SimulatedDevice
    private let opened = OpenedPushes()
    private let attachmentFailures = AttachmentFailures()
    private let folder: String
    private var (number, requestCount, postCount) = (0, 0, 0)
    /// The numbers of the opened pushes, by the name of the message.
    private var numbers: [String: Int] = [:]

    init(_ settings: Settings) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("pushcrypt." + UUID().uuidString)
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        self.folder = folder.path
        self.settings = settings
        let (path, opened, failures) = (folder.path, opened, attachmentFailures)
        plain = Self.device(settings, nil)
        phone = Self.device(settings) { device in
            var configuration = try ExtensionConfiguration(
                topic: settings.topic, keyring: settings.keyring, senders: settings.trust, carriers: settings.carriers,
                fallback: FallbackChoice.outer.fallback)
            configuration.store = SharedStore(folder: path + "/store", role: .extension)
            if settings.showsUnsealed { configuration.unsealed = .shown }
            // The address only stands for the server's: the simulated network keeps what is posted.
            configuration.receipts = try settings.receipts.map {
                try ReceiptPosting(
                    to: "https://receipts.invalid", transport: device.network, encoding: $0, timer: device.clock)
            }
            configuration.attachments = AttachmentStage(
                configuration: .init(folder: path + "/attachments", plainMembers: settings.plainMembers),
                transport: device.network, onFailure: { failures.add($0, $1) })
            configuration.offload = OffloadFetcher(transport: device.network)
            configuration.stages = [opened]
            return configuration
        }
        for file in settings.files { phone.network.serve(file.bytes, at: file.address) }
        for device in [plain, phone] {
            device.center.strings = settings.strings
            _ = try await device.center.requestAuthorization([.alert, .sound, .badge])
            if settings.isBeforeFirstUnlock { device.restart() } else { device.lock() }
        }
    }

    private static func device(
        _ settings: Settings, _ configure: (@Sendable (SimulatedDevice) throws -> ExtensionConfiguration)?
    ) -> SimulatedDevice {
        let clock = SimulatedClock(startingAt: settings.time)
        let center = SimulatedNotificationCenter(clock) { _ in true }
        return SimulatedDevice(topic: settings.topic, clock: clock, center: center, extension: configure)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    /// The lock screens after all pushes.
    var lockScreens: (before: LockScreen, after: LockScreen) { (plain.center.lockScreen, phone.center.lockScreen) }

    func receive(_ input: PayloadReader.Input) async -> SimulatedPush {
        number += 1
        let (payload, headers) = (input.payload, headers(input.headers))
        _ = attachmentFailures.take()
        let presentedCount = phone.center.presentations.count
        let before = banner(await plain.receive(payload, headers), on: plain)
        let reception = await phone.receive(payload, headers)
        let requested = phone.network.requested.dropFirst(requestCount)
        requestCount += requested.count
        // The app's stages receive neither a push without text nor one that is shown before its attachments are there.
        let staged = reception.requestID.flatMap { opened.take($0) }
        let push = staged ?? (reception.isRestored ? openedAgain(payload) : nil)
        let textless = reception.failure == .malformed ? openedAgain(payload) : nil
        let findings = PushFindings(
            settings: settings, payload: payload, reception: reception, opened: push ?? textless,
            attachmentFailures: attachmentFailures.take())
        let retracted = push?.retractedNames.compactMap { numbers[$0] } ?? []
        if let name = push?.name, numbers[name] == nil { numbers[name] = number }
        return SimulatedPush(
            number: number, input: input, findings: findings, sent: push?.payload,
            paddingByteCount: push?.paddingByteCount, retractedNumbers: retracted, reception: reception,
            before: before, after: banner(reception, on: phone),
            presentation: phone.center.presentations.dropFirst(presentedCount).last,
            attachments: reception.content?.attachments.compactMap(attachment) ?? [],
            missingAddresses: requested.filter { address in !settings.files.contains { $0.address == address } },
            receipts: takeReceipts())
    }

    /// The receipts that the phone has posted since the last call.
    private func takeReceipts() -> [String] {
        let posts = phone.network.posts.dropFirst(postCount)
        postCount += posts.count
        return posts.map { String(decoding: $0.body, as: UTF8.self) }
    }

    /// - Parameter given: those of the line. A request without a topic or type is one of an alert for the app.
    private func headers(_ given: [String: String]) -> PushHeaders {
        PushHeaders(
            topic: given["apns-topic"] ?? settings.topic, pushType: given["apns-push-type"] ?? "alert",
            collapseID: given["apns-collapse-id"])
    }

    private func openedAgain(_ payload: [UInt8]) -> OpenedPush? {
        return try? settings.opener?.open(payload, at: settings.time).get()
    }

    /// The notification of a push as the user sees it, wherever it is.
    private func banner(_ reception: SimulatedDevice.Reception, on device: SimulatedDevice) -> LockScreen.Banner? {
        guard reception.content != nil, let id = reception.requestID,
            let presentation = device.center.presentations.last(where: { $0.notification.id == id })
        else { return nil }
        return device.center.banner(presentation.notification)
    }

    private func attachment(_ attachment: NotificationContent.Attachment) -> SimulatedPush.Attachment? {
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
