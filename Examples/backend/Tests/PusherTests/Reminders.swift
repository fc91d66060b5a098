import Foundation
import PushCryptAPNs
import PushCryptSender

/// The pushes of a backend. Make one and keep it.
struct Reminders {
    let pusher: Pusher

    /// - Parameters:
    ///   - signingKeys: a keyset of sender keys, whose public keys the app trusts.
    ///   - key: the text of the `.p8` file from Apple's developer site, with the ids of the key and of your team there.
    init(signingKeys: String, key: String, keyID: String, teamID: String) throws {
        let sealer = try Sealer(topic: "com.example.app", signer: .keyset(Keyset(file: signingKeys)))
        pusher = Pusher(sealer: sealer, token: try ProviderToken(key: key, keyID: keyID, teamID: teamID))
    }

    /// What to do with the row of the installation in your table.
    enum Next {
        case done, remove
        case sendAgain(after: Duration)
        case askAnEngineer(String)
    }

    /// - Parameter storedAt: when the device token was stored.
    func send(_ text: String, to row: StoredRegistration, storedAt: Date) async throws -> Next {
        switch try await pusher.send(PushNotification(title: "Dr. Amara Osei", body: text), to: row) {
        case .sent: .done
        // The app may have registered again since.
        case .gone(let since): storedAt < since ?? .now ? .remove : .done
        case .later(let wait, _): .sendAgain(after: wait)
        case .refused(let status, let reason): .askAnEngineer("APNs: \(status) \(reason)")
        }
    }
}
