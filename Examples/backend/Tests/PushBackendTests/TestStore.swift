import Foundation

@testable import PushBackend

/// A store in a temporary folder, which is removed with the object.
final class TestStore: Sendable {
    let store: SQLiteStore
    let path: String
    private let folder: URL

    init(_ options: SQLiteStore.Options = .init()) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("TestStore." + UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        path = folder.appendingPathComponent("pushes.sqlite").path
        store = try SQLiteStore(path: path, options: options)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// Registers an installation.
    @discardableResult
    func register(
        _ user: String, token: String = "aa", kid: String = "kid-1", environment: APNsEnvironment = .production,
        segments: [String] = [], name: String? = nil, at time: Int64 = 1_000
    ) async throws -> RegistrationState {
        var upload = RegistrationUpload(
            user: user, token: token, environment: environment, record: Data("record of \(kid)".utf8), kid: kid,
            segments: segments)
        upload.name = name
        return try await store.register(upload, at: time)
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
        try await store.record([DeliveryOutcome(id: delivery.id, kid: delivery.kid, result: result)], at: time)
    }
}
