import Dispatch
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

    /// - Parameters:
    ///   - payload: a ``TestPush`` to the key by default.
    ///   - waitsForKey: whether the session gets its key only when the test calls ``releaseKeyring()``.
    init(
        _ payload: [UInt8]? = nil, key: String = "p256", timer: ManualTimer = ManualTimer(), waitsForKey: Bool = false,
        _ change: (inout ExtensionConfiguration) throws -> Void = { _ in }
    ) throws {
        self.timer = timer
        let keyring = GatedKeyring(try KeysetKeyring(TestKeys.keyset(key)), asked: asked, gone: gone)
        var configuration = try ExtensionConfiguration.test(keyring: keyring)
        configuration.timer = timer
        try change(&configuration)
        let session = DeliverySession(
            payload: try payload ?? TestPush(key: key).sealed(), configuration: configuration,
            handler: { [received, inHandler, delivered] delivery in
                received.withLock { $0.append(delivery) }
                inHandler.withLock { $0 }?()
                delivered.give()
            })
        owned = Locked(Owned(session: session, keyring: keyring))
        observed = Locked(Observed(session: session, keyring: keyring))
        if !waitsForKey { releaseKeyring() }
    }

    var deliveries: [DeliverySession.Delivery] { received.withLock { $0 } }
    var isAlive: Bool { observed.withLock { $0.session != nil } }

    func start() { session?.start() }

    func start(until signal: Signal) async {
        start()
        await signal.wait()
    }

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

    func run() async -> [DeliverySession.Delivery] {
        start()
        return await finish()
    }

    private var session: DeliverySession? { observed.withLock { $0.session } }
}

/// A keyring that responds when the test releases it, and gives a signal when it is deallocated with its session.
private final class GatedKeyring: RecipientKeyring {
    private let keyring: any RecipientKeyring
    private let gate = DispatchSemaphore(value: 0)
    private let asked: Signal
    private let gone: Signal

    init(_ keyring: any RecipientKeyring, asked: Signal, gone: Signal) {
        (self.keyring, self.asked, self.gone) = (keyring, asked, gone)
    }

    deinit { gone.give() }

    func key(_ id: KeyID, at time: UnixTime) throws(FailureClass) -> RecipientKey {
        asked.give()
        gate.wait()
        return try keyring.key(id, at: time)
    }

    func release() { gate.signal() }
}

struct FailingKeyring: RecipientKeyring {
    let failure: FailureClass

    func key(_ id: KeyID, at time: UnixTime) throws(FailureClass) -> RecipientKey { throw failure }
}

extension ExtensionConfiguration {
    /// A configuration that opens the pushes of ``TestPush`` at the time of sealing and shows the outer alert.
    static func test(
        key: String = "p256", keyring: (any RecipientKeyring)? = nil, senders: SenderTrust = .unsigned,
        fallback: Fallback = .outerAlert(orElse: .standard), deadline: Duration = .seconds(25)
    ) throws -> ExtensionConfiguration {
        var configuration = try ExtensionConfiguration(
            topic: TestPush.topic, keyring: keyring ?? KeysetKeyring(TestKeys.keyset(key)), senders: senders,
            fallback: fallback, deadline: deadline)
        configuration.clock = { TestPush.now }
        return configuration
    }

    func delivery(of payload: [UInt8], requestID: String? = nil) async -> DeliverySession.Delivery {
        await withCheckedContinuation { continuation in
            DeliverySession(payload: payload, requestID: requestID, configuration: self) {
                continuation.resume(returning: $0)
            }.start()
        }
    }
}

/// Runs a session whose timer never fires, and waits for its report.
func deliver(
    _ payload: [UInt8], key: String = "p256", keyring: (any RecipientKeyring)? = nil, requestID: String? = nil,
    at time: UnixTime = TestPush.now, reporter: RecordingReporter = RecordingReporter(),
    _ change: (inout ExtensionConfiguration) throws -> Void = { _ in }
) async throws -> DeliverySession.Delivery {
    var configuration = try ExtensionConfiguration.test(key: key, keyring: keyring)
    configuration.clock = { time }
    configuration.timer = ManualTimer()
    configuration.diagnostics = reporter
    try change(&configuration)
    let delivery = await configuration.delivery(of: payload, requestID: requestID)
    await reporter.reported.wait()
    return delivery
}
