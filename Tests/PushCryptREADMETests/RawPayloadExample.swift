import Foundation
import PushCryptSender

extension AppointmentPusher {
    /// Seals a payload that exists already as JSON, byte for byte.
    func seal(_ payload: Data, to recipient: Recipient) throws -> SealedPush {
        try sealer.seal(payload, to: recipient) { options in
            options.padding = .limit
            options.expiresAfter = .seconds(12 * 3_600)
            options.exposed = ["badge", "interruption-level"]
            // A body that doesn't fit is shortened and ends in "…". Without this plan sealing throws `tooLarge`.
            options.oversize = .shortenBody(toAtLeast: 80)
        }
    }
}
