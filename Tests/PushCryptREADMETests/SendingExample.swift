import Foundation
import PushCryptSender

/// The part of a backend that seals: make one and keep it.
struct AppointmentPusher {
    let sealer: Sealer

    /// - Parameter signingKey: the backend's private key: a JWK, or `keyset.json` of a keyset with one key.
    init(signingKey: Data) throws {
        sealer = try Sealer(topic: "com.example.app", signer: try SenderKey(jwk: signingKey))
    }

    /// A notification written in code.
    ///
    /// - Parameter registration: what the app uploaded. Keep the `Recipient` if you send to a device often.
    func sealReminder(for registration: Data) throws -> SealedPush {
        let recipient = try Recipient(jwk: registration)
        let reminder = PushNotification(
            title: "Dr. Amara Osei", body: "See you on Monday at 9:40.", sound: .named("chime.caf"),
            threadID: "clinic-17", custom: ["appointment": 40_713])
        return try sealer.seal(
            reminder, to: recipient, placeholder: .localized(title: "NEW_MESSAGE_TITLE", body: "NEW_MESSAGE_BODY"))
    }

    /// A payload that exists already as JSON: sealed byte for byte.
    func seal(_ payload: Data, to recipient: Recipient) throws -> SealedPush {
        var options = Sealer.Options(
            padding: .limit, expiresAfterInSeconds: 12 * 3_600, exposed: ["badge", "interruption-level"])
        do {
            return try sealer.seal(payload, to: recipient, placeholder: .standard, options: options)
        } catch let error as SenderError where error.code == .tooLarge {
            // It takes error.bytesNeeded bytes where error.bytesAvailable are allowed: send less, fetch the rest in the app.
            let short = PushNotification(title: "Dr. Amara Osei", body: "A long message for you")
            options.exposed = []
            return try sealer.seal(short, to: recipient, placeholder: .standard, options: options)
        }
    }
}
