import PushCryptPrimitives
import PushCryptSimulator
import PushCryptTestSupport

@testable import PushCryptExtension

/// A session whose timer and keyring the test controls.
///
/// After ``abandon()`` this object has only a weak reference to the session.
final class TestSession: Sendable {
    let timer: ManualTimer
    /// Given when the session asks for its key.
    let asked = Signal()
    /// Given when the session was deallocated, so that no further call can come.
    private let gone = Signal()
    /// Given after the handler was called.
    let delivered = Signal()
    private let received = Locked<[DeliverySession.Delivery]>([])
    private let inHandler = Locked<(@Sendable () -> Void)?>(nil)
    private let owned: Locked<Owned?>
    private let observed: Locked<Observed>

    private struct Owned: Sendable {
        let session: DeliverySession
        let keyring: GatedKeyring
    }

    private struct Observed: Sendable {
        weak var session: DeliverySession?
        weak var keyring: GatedKeyring?
    }

    init(
        payload: [UInt8], key: String = "p256", timer: ManualTimer = ManualTimer(),
        configuration: ExtensionConfiguration? = nil, at time: UnixTime = TestPush.now
    ) throws {
        self.timer = timer
        let keyring = GatedKeyring(try KeysetKeyring(TestKeys.keyset(key)), asked: asked, gone: gone)
        var configuration = try configuration ?? .test()
        configuration.opener = try Opener(topic: TestPush.topic, keyring: keyring, senders: .unsigned)
        configuration.clock = { time }
        configuration.timer = timer
        let session = DeliverySession(
            payload: payload, configuration: configuration,
            handler: { [received, inHandler, delivered] delivery in
                received.withLock { $0.append(delivery) }
                inHandler.withLock { $0 }?()
                delivered.give()
            })
        owned = Locked(Owned(session: session, keyring: keyring))
        observed = Locked(Observed(session: session, keyring: keyring))
    }

    var deliveries: [DeliverySession.Delivery] { received.withLock { $0 } }
    var isAlive: Bool { observed.withLock { $0.session != nil } }

    func start() { session?.start() }
    func expire() { session?.expire() }
    func releaseKeyring() { observed.withLock { $0.keyring }?.release() }

    /// Runs `body` in the handler, after the delivery was recorded.
    func whenDelivered(_ body: @escaping @Sendable () -> Void) { inHandler.withLock { $0 = body } }

    /// Releases the session, as the system releases an extension. From now on only the session retains itself.
    func abandon() { owned.withLock { $0 = nil } }

    /// Releases the session and waits until it was deallocated.
    ///
    /// - Returns: all deliveries to the handler.
    func finish() async -> [DeliverySession.Delivery] {
        abandon()
        await gone.wait()
        return deliveries
    }

    private var session: DeliverySession? { observed.withLock { $0.session } }
}

extension ExtensionConfiguration {
    /// A configuration that opens the pushes of ``TestPush`` at the time of sealing and shows the outer alert.
    static func test(
        key: String = "p256", keyring: (any RecipientKeyring)? = nil,
        fallback: Fallback = .outerAlert(orElse: .standard), deadline: Duration = .seconds(25)
    ) throws -> ExtensionConfiguration {
        var configuration = try ExtensionConfiguration(
            topic: TestPush.topic, keyring: keyring ?? KeysetKeyring(TestKeys.keyset(key)), senders: .unsigned,
            fallback: fallback, deadline: deadline)
        configuration.clock = { TestPush.now }
        return configuration
    }

    /// Runs a session for the payload and returns its delivery.
    func delivery(of payload: [UInt8]) async -> DeliverySession.Delivery {
        await withCheckedContinuation { continuation in
            DeliverySession(payload: payload, configuration: self) { continuation.resume(returning: $0) }.start()
        }
    }
}
