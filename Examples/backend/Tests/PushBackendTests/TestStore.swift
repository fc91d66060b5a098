import Foundation
import NIOConcurrencyHelpers

@testable import PushBackend

/// A store in a temporary folder, which is removed with the object.
final class TestStore: Sendable {
    let path: String
    private let folder: URL
    private let current: NIOLockedValueBox<SQLiteStore?>

    var store: SQLiteStore {
        guard let store = current.withLockedValue({ $0 }) else { preconditionFailure("the store is being restarted") }
        return store
    }

    init(_ options: SQLiteStore.Options = .init()) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("TestStore." + UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        path = folder.appendingPathComponent("pushes.sqlite").path
        current = NIOLockedValueBox(try SQLiteStore(path: path, options: options))
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// Ends the store as the end of a process does, and opens its database again.
    func restart(_ options: SQLiteStore.Options = .init()) throws {
        current.withLockedValue { $0 = nil }
        let store = try SQLiteStore(path: path, options: options)
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
        environment: APNsEnvironment = .production, name: String? = nil, at time: Int64 = 1_000
    ) async throws -> RegistrationState {
        var upload = RegistrationUpload(
            user: user, token: token, environment: environment, record: Data(key.rawValue.utf8), kid: kid)
        upload.name = name
        return try await register(upload, at: time)
    }

    /// Registers a proven upload.
    func register(_ upload: RegistrationUpload, at time: Int64) async throws -> RegistrationState {
        try await store.write { [store] in try SQLiteStore.register(upload, at: time, store.options, $0) }
    }

    /// Accepts a message that expires after an hour.
    func accept(_ audience: Audience, text: String = "{}", key: String? = nil) async throws -> AcceptedMessage {
        try await store.accept(
            NewMessage(
                to: audience, payload: Data(text.utf8), expiresAt: 3_600_000, idempotencyKey: key), at: 1_000)
    }

    func claim(_ environment: APNsEnvironment = .production, at time: Int64 = 1_000) async throws -> [ClaimedDelivery] {
        try await store.claim(10, for: environment, at: time, until: time + 60_000)
    }

    func end(_ delivery: ClaimedDelivery, _ result: DeliveryOutcome.Result, at time: Int64 = 1_000) async throws {
        try await store.record([DeliveryOutcome(of: delivery, result)], at: time)
    }
}
