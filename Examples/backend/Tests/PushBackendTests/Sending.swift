import AsyncHTTPClient
import BackendTestSupport
import Foundation
import Logging
import NIOConcurrencyHelpers
import PushCryptExtension
import PushCryptSender
import Testing

@testable import PushBackend

/// Everything between the queue and the phone: the store, the sealer, and the client of a stand-in that listens. Only the clock is
/// the test's.
struct Sending {
    static let topic = "com.example.app"
    static let deviceToken = "aa11"

    let apns: RunningStandIn
    let test: TestStore
    let keys: SigningKeys
    let signingKeys: KeysetWatcher
    let phone: Phone
    let registration: RegistrationState
    let worker: DeliveryWorker
    /// Milliseconds since 1970. It stands still.
    let clock: TestClock
    let log = CapturedLog(level: .trace)

    static func with(
        placeholder: Placeholder = .standard, busyTimeoutInSeconds: Double = 2, _ body: (Sending) async throws -> Void
    ) async throws {
        try await RunningStandIn.with { apns in
            let client = try APNsClient.httpClient(trustedPEM: apns.certificatePEM, connectTimeoutInSeconds: 60)
            let result: Result<Void, any Error>
            do {
                result = .success(
                    try await body(Sending(apns, client, placeholder, TestStore(busyTimeoutInSeconds))))
            } catch { result = .failure(error) }
            try await client.shutdown()
            try result.get()
        }
    }

    private init(
        _ apns: RunningStandIn, _ client: HTTPClient, _ placeholder: Placeholder, _ test: TestStore
    ) async throws {
        self.apns = apns
        self.test = test
        let clock = TestClock()
        self.clock = clock
        keys = SigningKeys()
        signingKeys = try KeysetWatcher(file: keys.path)
        phone = try Phone(trusting: keys)
        try await apns.add(token: Self.deviceToken, topic: Self.topic)
        registration = try await test.register(
            RegistrationUpload(
                user: "zoe", token: Self.deviceToken, environment: .production, record: Data(phone.record.utf8),
                kid: try Registration(json: Data(phone.record.utf8), requiring: []).kid.description), at: clock.now)
        let transport = APNsClient(client, base: apns.base, timeoutInSeconds: 60)
        worker = DeliveryWorker(
            environment: .production,
            sealer: try PushSealer(
                topic: Self.topic, host: TestAPI.host, signingKeys: signingKeys, placeholder: placeholder,
                milliseconds: { clock.now }),
            transport: { try await transport.send($0, providerToken: $1) },
            token: await ProviderToken(
                try ProviderKey(pem: apns.providerKeyPEM), keyID: RunningStandIn.keyID, teamID: RunningStandIn.teamID,
                store: test.store, milliseconds: { clock.now }),
            gate: Gate(.testing), backoff: .testing, milliseconds: { clock.now }, logger: log.logger)
    }

    /// Accepts a message for the phone's user.
    func accept(_ text: String = "Hello", collapseID: String? = nil) async throws -> AcceptedMessage {
        let payload = Data(#"{"aps":{"alert":{"body":"\#(text)"}}}"#.utf8)
        return try await test.store.accept(
            NewMessage(user: "zoe", payload: payload, collapseID: collapseID, expiresAt: clock.now + 3_600_000),
            at: clock.now)
    }

    /// Claims the next delivery.
    func claim() async throws -> ClaimedDelivery? {
        try await test.store.claim(1, for: .production, at: clock.now).first
    }

    /// Makes an attempt, and stores how it ended.
    ///
    /// - Parameters:
    ///   - delivery: by default, the next one.
    ///   - fault: what the stand-in does instead of accepting it.
    @discardableResult
    func attempt(_ delivery: ClaimedDelivery? = nil, _ fault: Fault? = nil) async throws -> DeliveryOutcome.Result {
        if let fault { try await apns.order(fault) }
        let next = try await delivery == nil ? claim() : nil
        let outcome = await worker.attempt(try #require(delivery ?? next))
        try await test.store.record([outcome], at: clock.now)
        return outcome.result
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

/// A phone that trusts the service's signing keys.
final class Phone: Sendable {
    private let folder: TemporaryFolder
    private let registration: RegistrationRecord
    private let opener: Opener

    init(trusting keys: SigningKeys) throws {
        folder = try TemporaryFolder()
        let keyring = FileKeyring(folder: folder.path + "/keys")
        registration = try DeviceIdentity(storage: keyring).makeIfNeeded()
        opener = try Opener(
            topic: Sending.topic, keyring: keyring, senders: .pinned(TrustedSenders(json: keys.publicKey)))
    }

    /// The registration record.
    var record: String { String(decoding: registration.requestBody, as: UTF8.self) }

    func answer(to challenge: String, host: String = TestAPI.host) throws -> String {
        let answer = try opener.answer(challenge: Array(challenge.utf8), record: registration.jwk, host: host)
        return String(decoding: answer, as: UTF8.self)
    }

    /// Opens what the stand-in has accepted.
    func open(_ push: AcceptedPush) throws -> String {
        String(decoding: try opener.open(push.payload, at: .now).get().payload, as: UTF8.self)
    }
}
