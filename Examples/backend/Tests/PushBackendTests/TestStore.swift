import BackendTestSupport
import Foundation
import GRDB
import NIOConcurrencyHelpers
import PushCryptSender

@testable import PushBackend

/// A store in a temporary folder, which is removed with the object.
final class TestStore: Sendable {
    let path: String
    private let folder: TemporaryFolder
    private let current: NIOLockedValueBox<SQLiteStore?>

    var store: SQLiteStore {
        guard let store = current.withLockedValue({ $0 }) else { preconditionFailure("the store is being restarted") }
        return store
    }

    init(_ busyTimeoutInSeconds: Double = 2) throws {
        folder = try TemporaryFolder()
        path = folder.path + "/pushes.sqlite"
        current = NIOLockedValueBox(try SQLiteStore(path: path, busyTimeoutInSeconds: busyTimeoutInSeconds))
    }

    /// Ends the store as the end of a process does, and opens its database again.
    func restart() throws {
        current.withLockedValue { $0 = nil }
        let store = try SQLiteStore(path: path)
        current.withLockedValue { $0 = store }
    }

    /// Records of suites 1 and 4, which ranks higher. The keys are those of the published test vectors.
    enum Key: String {
        case p256 = """
            {"alg":"HPKE-7","crv":"P-256","kid":"jWNm9kJQc8Y","kty":"EC","x":"Gb6gu6pKrHifxtFLE2Mb9Iqnvo2LERFnEE4dvaeApIo",\
            "y":"S7urvkxvMFNV2p0ydBdb4RSnXdFBxgy7BzBSu6jAII8"}
            """
        case shared = """
            {"alg":"HKDF-A256GCM","k":"eTEklzj22yyCnIY8q271pDuk2tBSvDCVQGmrBu-Z4Vk","kid":"7-8reZIqSl4","kty":"oct"}
            """
    }

    /// Registers an installation. Each `kid` stands for another key of the same suite.
    @discardableResult
    func register(
        _ user: String, token: String = "aa", kid: String = "kid-1", key: Key = .p256,
        environment: APNsEnvironment = .production, at time: Int64 = 1_000
    ) async throws -> RegistrationState {
        try await register(
            RegistrationUpload(
                user: user, token: token, environment: environment, record: Data(key.rawValue.utf8), kid: kid),
            at: time)
    }

    /// Registers a proven upload.
    func register(_ upload: RegistrationUpload, at time: Int64) async throws -> RegistrationState {
        try await store.write { try SQLiteStore.register(upload, at: time, $0) }
    }

    /// Accepts a message to the user zoe that expires after an hour.
    func accept(text: String = "{}", priority: Int = 10, key: String? = nil) async throws -> AcceptedMessage {
        try await store.accept(
            NewMessage(
                user: "zoe", payload: Data(text.utf8), priority: priority, expiresAt: 3_600_000, idempotencyKey: key),
            at: 1_000)
    }

    func claim(_ environment: APNsEnvironment = .production, at time: Int64 = 1_000) async throws -> [ClaimedDelivery] {
        try await store.claim(10, for: environment, at: time)
    }

    func end(_ delivery: ClaimedDelivery, _ result: DeliveryOutcome.Result, at time: Int64 = 1_000) async throws {
        try await store.record([DeliveryOutcome(delivery: delivery, result: result)], at: time)
    }

    /// Claims the next delivery, and makes APNs accept it.
    func send(skid: String? = nil, at time: Int64 = 1_000) async throws {
        try await end(try await claim(at: time)[0], .sent(receiptName: "name", skid: skid), at: time)
    }

    /// The device of the user zoe confirms what was sent, or reports why it couldn't open a push.
    func confirm(_ outcome: String? = nil, at time: Int64 = 2_000) async throws {
        try await store.add(
            DeviceReceipt(id: UUID().uuidString, name: "name", failure: outcome, kid: nil, time: time), of: "zoe",
            at: time)
    }

    func fail(_ failure: String, skid: String? = nil, of user: String = "zoe", at time: Int64 = 2_000) async throws {
        let receipt = DeviceReceipt(
            id: UUID().uuidString, name: nil, failure: failure, kid: "kid-1", skid: skid, time: time)
        try await store.add(receipt, of: user, at: time)
    }

    func count(_ table: String) async throws -> Int? {
        try await store.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM \(table)") }
    }
}
