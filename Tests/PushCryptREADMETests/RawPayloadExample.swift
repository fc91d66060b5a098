import Foundation
import PushCryptSender

extension AppointmentPusher {
    /// Seals a payload that exists already as JSON, byte for byte.
    func seal(_ payload: Data, to recipient: Recipient) throws -> SealedPush {
        var options = Sealer.Options(
            padding: .limit, expiresAfterInSeconds: 12 * 3_600, exposed: ["badge", "interruption-level"])
        do {
            return try sealer.seal(payload, to: recipient, placeholder: .standard, options: options)
        } catch let error as SenderError where error.code == .tooLarge {
            // error.bytesNeeded is over error.bytesAvailable: send less, and let the app fetch the rest.
            let short = PushNotification(title: "Dr. Amara Osei", body: "A long message for you")
            options.exposed = []
            return try sealer.seal(short, to: recipient, placeholder: .standard, options: options)
        }
    }
}
