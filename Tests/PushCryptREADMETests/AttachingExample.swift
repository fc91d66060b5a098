import Foundation
import PushCryptSender

/// Sends pictures, and payloads that are too long for a push, as encrypted files on a server of yours.
struct PicturePusher {
    let sealer: Sealer
    /// Stores the bytes where devices can fetch them, and returns the https address.
    let upload: @Sendable (Data) async throws -> String

    func seal(
        _ notification: PushNotification, with picture: Data, to recipient: Recipient
    ) async throws -> SealedPush {
        let blob = try SealedBlob(Array(picture), for: .attachment)
        let address = try await upload(Data(blob.bytes))
        let attachment = try AttachmentReference(url: address, blob: blob.reference, type: "image/png")
        return try sealer.seal(notification, to: recipient, placeholder: .standard, attachments: [attachment])
    }

    /// - Parameter short: what a device shows if it can't fetch the payload.
    func seal(_ payload: Data, short: PushNotification, to recipient: Recipient) async throws -> SealedPush {
        let blob = try Sealer.offload(payload)
        let address = try await upload(Data(blob.bytes))
        let offload = try OffloadReference(url: address, blob: blob.reference)
        return try sealer.seal(short, to: recipient, placeholder: .standard, offload: offload)
    }
}
