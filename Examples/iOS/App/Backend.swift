import Foundation
import PushCryptApple

/// Stands in for your backend: keeps the record where `pushcrypt seal` can read it. In its place, send `record` (JSON, byte for byte),
/// `deviceToken` (hexadecimal) and `account` to your server, over TLS, as the signed-in user.
nonisolated enum Backend {
    static func store(_ registration: PushRegistration.Upload) async throws {
        try registration.record.write(to: file)
    }

    /// In its place, tell your server to delete the rows with these keys.
    static func delete(_ keys: [KeyID]) async throws { try FileManager.default.removeItem(at: file) }

    /// The user who is still signed in; nil for none.
    static var user: String? { FileManager.default.fileExists(atPath: file.path) ? "test" : nil }

    private static var file: URL { .documentsDirectory.appendingPathComponent("record.json") }
}
