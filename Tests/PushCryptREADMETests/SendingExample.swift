import Foundation
import PushCryptSender

/// Seals the pushes of a backend. Create one value and reuse it.
struct AppointmentPusher {
    let sealer: Sealer

    /// - Parameter signingKeys: a keyset of sender keys, such as `Keys/backend.keyset`.
    init(signingKeys: String) throws {
        sealer = try Sealer(topic: "com.example.app", signer: .keyset(Keyset(file: signingKeys)))
    }

    /// - Parameter registration: what the app uploaded. Keep the `Recipient` if you send to a device often.
    func sealReminder(for registration: Data) throws -> SealedPush {
        let recipient = try Recipient(Registration(json: registration, requiring: [.psk, .asymmetric]))
        let reminder = PushNotification(
            title: "Dr. Amara Osei", body: "See you on Monday at 9:40.", sound: .named("chime.caf"),
            threadID: "clinic-17", custom: ["appointment": 40_713])
        return try sealer.seal(
            reminder, to: recipient, placeholder: .localized(title: "NEW_MESSAGE", body: nil))
    }
}
