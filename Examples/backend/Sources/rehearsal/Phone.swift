import APNsStandIn
import Crypto
import Foundation
import PushBackend
import PushCryptExtension
import PushCryptNotifications
import PushCryptSimulator
import Synchronization

/// A simulated phone with the app: its extension, its notification centre, and the app's registration with the service.
final class Phone: Sendable {
    /// Suite 3 where OpenSSL has it. The service is on the same machine, so it can seal to the record.
    static let suite: Suite = Suite.xWing.isAvailable ? .xWing : .p256

    let user: String
    let token: String
    let environment: APNsEnvironment
    let device: SimulatedDevice
    private let clock: SimulatedClock
    private let identity: DeviceIdentity
    private let pins: SenderPins
    private let registration: PushRegistration
    private let store: SharedStore
    private let receipts: ReceiptPosting
    private let backend: PhoneBackend
    private let uploads = Uploads()

    init(_ user: String, _ environment: APNsEnvironment, scene: Scene, backend: BackendClient) async throws {
        self.user = user
        self.environment = environment
        let token = SymmetricKey(size: .bits256).withUnsafeBytes { Data($0) }
        self.token = token.map { String(format: "%02x", $0) }.joined()
        let folder = "\(scene.folder)/phones/\(user)"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let clock = SimulatedClock(startingAt: .now)
        self.clock = clock
        let keyring = FileKeyring(folder: "\(folder)/keys")
        let identity = DeviceIdentity(storage: keyring, options: .init(suite: Self.suite), clock: { clock.time })
        self.identity = identity
        let pins = try SenderPins(folder: "\(folder)/senders", publishers: scene.pins, topic: Scene.topic)
        self.pins = pins
        store = SharedStore(folder: "\(folder)/store", role: .app)
        let phoneBackend = PhoneBackend(
            client: backend, user: user,
            token: scene.userTokens.token(for: user, until: Int64(Date().timeIntervalSince1970) + 86_400),
            environment: environment)
        self.backend = phoneBackend
        receipts = try ReceiptPosting(to: "\(backend.base)/v1/receipts", transport: phoneBackend)
        let uploads = uploads
        let set = PushRegistration.SenderSet(pins: pins) { try await phoneBackend.senders() }
        let now: @Sendable () -> UnixTime = { clock.time }
        registration = PushRegistration(
            identity: identity, folder: "\(folder)/registration", senders: set, store: store,
            opener: try Opener(topic: Scene.topic, keyring: keyring, senders: .pinned(pins)), clock: now
        ) { upload in
            try await phoneBackend.upload(upload)
            uploads.last.withLock { $0 = upload }
        }
        let receipts = receipts
        device = SimulatedDevice(topic: Scene.topic, clock: clock) { _ in
            var configuration = try ExtensionConfiguration(
                topic: Scene.topic, keyring: keyring, senders: .pinned(pins), fallback: .outerAlert(orElse: .standard))
            configuration.store = SharedStore(folder: "\(folder)/store", role: .extension)
            configuration.receipts = receipts
            // A push that arrives twice has the collapse id of the first one, so it replaces it silently.
            configuration.replays = .passive
            return configuration
        }
        _ = try await device.center.requestAuthorization([.alert, .sound, .badge])
        scene.apns[environment]?.add(token: self.token, topic: Scene.topic)
        scene.phones.add(self)
        try await backend.setSegments(["everyone"], of: user)
        try await register()
    }

    /// What the app does at each start: it makes keys, fetches sender keys, and uploads what the service lacks.
    ///
    /// - Parameter isAsked: whether the service has asked for it, so that it gets an upload in any case.
    func register(isAsked: Bool = false) async throws {
        let bytes = stride(from: 0, to: token.count, by: 2).compactMap { index -> UInt8? in
            let start = token.index(token.startIndex, offsetBy: index)
            return UInt8(token[start..<token.index(start, offsetBy: 2)], radix: 16)
        }
        let outcome = try await registration.register(deviceToken: Data(bytes), account: user)
        if let failure = outcome.senderSetFailure { throw failure }
        if isAsked, !outcome.isUploaded, let last = uploads.last.withLock({ $0 }) { try await backend.upload(last) }
    }

    /// The last upload, which an app can repeat.
    private final class Uploads: Sendable {
        let last = Mutex<PushRegistration.Upload?>(nil)
    }

    /// What the service's log must not contain: the device token, the user, the bearer token, and the values of the record.
    var secrets: [String] {
        let record = uploads.last.withLock { $0 }.flatMap { try? JSONSerialization.jsonObject(with: Data($0.record)) }
        let values = (record as? [String: Any] ?? [:]).values.compactMap { $0 as? String }
        return [token, user, backend.token] + values.filter { $0.utf8.count > 30 }
    }

    /// What the app does once a day.
    func fetchSenders() async throws { try pins.accept(Array(try await backend.senders()), at: clock.time) }

    /// Loses all keys, as if the keychain was reset. The service learns of it from a receipt.
    func loseKeys() throws { try identity.eraseAll() }

    /// Posts the receipts that the service couldn't take when it was down.
    func flushReceipts() async throws -> Int {
        try await ReceiptSender(store: store, posting: receipts, clock: { [clock] in clock.time }).flush().leftCount
    }

    @discardableResult
    func receive(_ push: AcceptedPush) async -> SimulatedDevice.Reception {
        clock.advance(by: .seconds(max(UnixTime.now.seconds - clock.time.seconds, 0)))
        let headers = PushHeaders(
            topic: push.topic, pushType: push.pushType, expiration: push.expiration.map(UnixTime.init),
            collapseID: push.collapseID)
        let reception = await device.receive(push.payload, headers)
        if push.pushType == "background" {
            // The system starts the app. If the service can't be reached, the app tries again at its next start.
            for _ in 0..<50 where (try? await register(isAsked: true)) == nil {
                try? await Task.sleep(for: .milliseconds(200))
            }
        }
        return reception
    }

    /// The bodies on the screen, the oldest first.
    var texts: [String] { device.center.deliveredNotifications.map { $0.request.content.body.literal ?? "" } }
}

/// Hands each push to its phone. A phone receives one push after the other.
final class PhoneBook: Sendable {
    private struct Line {
        let pushes: AsyncStream<AcceptedPush>.Continuation
        let work: Task<Void, Never>
    }

    private final class Counts: Sendable {
        let arrived = Atomic(0)
        let handled = Atomic(0)
    }

    private let lines = Mutex<[String: Line]>([:])
    private let counts = Counts()
    private let onReceive: @Sendable (Phone, AcceptedPush) -> Void

    init(onReceive: @escaping @Sendable (Phone, AcceptedPush) -> Void) { self.onReceive = onReceive }

    func add(_ phone: Phone) {
        let (stream, continuation) = AsyncStream.makeStream(of: AcceptedPush.self)
        let work = Task { [counts, onReceive] in
            for await push in stream {
                await phone.receive(push)
                onReceive(phone, push)
                counts.handled.add(1, ordering: .sequentiallyConsistent)
            }
        }
        lines.withLock { $0[phone.token] = Line(pushes: continuation, work: work) }
    }

    func deliver(_ push: AcceptedPush) {
        counts.arrived.add(1, ordering: .sequentiallyConsistent)
        _ = lines.withLock { $0[push.token]?.pushes.yield(push) }
    }

    /// How many pushes have reached phones.
    var arrivedCount: Int { counts.arrived.load(ordering: .sequentiallyConsistent) }
    /// Whether the phones have nothing to do.
    var isIdle: Bool { counts.handled.load(ordering: .sequentiallyConsistent) == arrivedCount }

    func end() {
        for line in lines.withLock({ Array($0.values) }) {
            line.pushes.finish()
            line.work.cancel()
        }
    }
}
