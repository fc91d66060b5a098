import Foundation
import PushCryptApple

/// Stands in for your backend: keeps the record where `pushcrypt seal` can read it. In its place, send `record`, `deviceToken` and
/// `account` to your server, over TLS, as the signed-in user.
nonisolated enum Backend {
    static func store(_ registration: PushRegistration.Upload) async throws {
        try registration.record.write(to: .documentsDirectory.appendingPathComponent("record.json"))
    }
}
