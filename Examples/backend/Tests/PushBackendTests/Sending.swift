import APNsStandIn
import AsyncHTTPClient
import BackendTestSupport
import Foundation
import Logging
import NIOConcurrencyHelpers
import PushCryptExtension
import PushCryptSender
import PushCryptSimulator

@testable import PushBackend

/// Everything between the queue and the phone's screen: the store, the sealer, and the client of a stand-in that listens. Only the
/// clock is the test's.
struct Sending {
    static let topic = "com.example.app"
    static let deviceToken = "aa11"

    let apns: RunningStandIn
    let test: TestStore
    let keys: SigningKeys
    let signingKeys: KeysetWatcher
    let phone: TestDevice
    let registration: RegistrationState
    let worker: DeliveryWorker
    /// Milliseconds since 1970. It stands still.
    let clock: TestClock
    let log = CapturedLog(level: .trace)
    let metrics = PrometheusMetrics()

    static func with(
        _ options: SQLiteStore.Options = .init(), visible: PushSealer.VisibleParts = .init(),
        _ body: (Sending) async throws -> Void
    ) async throws {
        try await RunningStandIn.with { apns in
            let client = try APNsClient.httpClient(trustedPEM: apns.certificatePEM, connectTimeoutInSeconds: 60)
            let result: Result<Void, any Error>
            do {
                result = .success(try await body(Sending(apns, client, options, visible)))
            } catch { result = .failure(error) }
            try await client.shutdown()
            try result.get()
        }
    }

    private init(
        _ apns: RunningStandIn, _ client: HTTPClient, _ options: SQLiteStore.Options, _ visible: PushSealer.VisibleParts
    ) async throws {
        self.apns = apns
        let clock = TestClock()
        self.clock = clock
        test = try TestStore(options)
        keys = SigningKeys()
        signingKeys = try KeysetWatcher(file: keys.path)
        phone = try await TestDevice(topic: Self.topic, senders: .pinned(TrustedSenders(json: keys.publicKey)))
        apns.standIn.add(token: Self.deviceToken, topic: Self.topic)
        let kid = try Registration(json: phone.registration, requiring: []).kid.description
        registration = try await test.register(
            RegistrationUpload(
                user: "zoe", token: Self.deviceToken, environment: .production, record: phone.registration, kid: kid),
            at: clock.now)
        let token = await ProviderToken(
            try ProviderKey(pem: apns.providerKeyPEM), keyID: RunningStandIn.keyID, teamID: RunningStandIn.teamID,
            store: test.store,
            milliseconds: { clock.now })
        worker = DeliveryWorker(
            environment: .production,
            sealer: try PushSealer(
                topic: Self.topic, signingKeys: signingKeys, visible: visible, metrics: metrics,
                milliseconds: { clock.now }),
            transport: APNsClient(client, base: apns.base, timeoutInSeconds: 60), token: token,
            gate: Gate(.testing), backoff: .testing, milliseconds: { clock.now }, metrics: metrics,
            logger: log.logger)
    }

    /// Accepts a message for the phone's user.
    func accept(_ text: String) async throws -> AcceptedMessage {
        try await accept(payload: #"{"aps":{"alert":{"body":"\#(text)"}}}"#)
    }

    /// Accepts a message for the phone's user.
    func accept(payload: String) async throws -> AcceptedMessage {
        try await test.store.accept(
            NewMessage(to: .user("zoe"), payload: Data(payload.utf8), expiresAt: clock.now + 3_600_000), at: clock.now)
    }

    /// Claims the next delivery.
    func claim() async throws -> ClaimedDelivery? {
        try await test.store.claim(1, for: .production, at: clock.now, until: clock.now + 60_000).first
    }

    /// Makes one attempt, and stores how it ended.
    func attempt(_ delivery: ClaimedDelivery) async throws -> DeliveryOutcome.Result {
        let outcome = await worker.send(worker.prepare(delivery))
        try await test.store.record([outcome], at: clock.now)
        return outcome.result
    }

    func writer(sleep: @escaping @Sendable (Int64) async throws -> Void = { _ in }) -> OutcomeWriter {
        OutcomeWriter(
            store: test.store, backoff: .testing, milliseconds: { [clock] in clock.now }, sleep: sleep,
            logger: worker.logger)
    }
}

/// A clock that moves when a test says so. It begins with the real time, because keys and the phone have that.
final class TestClock: Sendable {
    private let time = NIOLockedValueBox(Int64(Date().timeIntervalSince1970 * 1_000))

    var now: Int64 { time.withLockedValue { $0 } }

    func advance(by milliseconds: Int64) { time.withLockedValue { $0 += milliseconds } }
}

extension Backoff {
    /// Without jitter: 100, 200, 400 milliseconds.
    static let testing = Backoff(first: 100, longest: 60_000, random: { 1 })
}
