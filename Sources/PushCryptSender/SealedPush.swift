public import PushCryptCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A payload ready for APNs, or for a service that brings it there.
public struct SealedPush: Hashable, Sendable {
    /// The payload as the device receives it, UTF-8 JSON. With ``Carrier/apns``, it is the request body for APNs.
    public let bytes: [UInt8]
    /// The message's id, 16 bytes as 22 characters of base64url, for logs and for ``Sealer/Options/retractedIDs`` of a later
    /// push. It is never sent unencrypted.
    public let id: String
    /// The time from which the recipient refuses the message.
    public let expiresAt: UnixTime
    /// The key that signed it; nil for an unsigned push. A device's receipt names it if the device couldn't open the push
    /// (`Receipt.skid`).
    public let skid: KeyID?
    /// Whether the device has day keys and none for today, so that the push is sealed to the key of its record, which opens for
    /// longer. Count these pushes: the app of such a device hasn't run for long.
    public let usesLastResortKey: Bool
    /// Whether the body was shortened to fit; see ``OversizePlan``.
    public internal(set) var isBodyShortened = false
    /// Whether the payload is in a blob, and the push has a short alert with the blob's address; see ``OversizePlan``.
    public internal(set) var isOffloaded = false
    /// What devices ignore or change of the payload, such as `"badge": "3"`; empty if they use all of it. Log them.
    public internal(set) var warnings: [PayloadWarning] = []

    /// The way to the device for which it was sealed.
    public let carrier: Carrier
    let sealedAt: UnixTime
    let topic: Topic
    let isQuiet: Bool
    let collapseID: String?

    /// The request body as Foundation's `Data`, a copy.
    public var json: Data { Data(bytes) }

    /// The length of the request body.
    public var byteCount: Int { bytes.count }

    /// The headers of the request to APNs that follow from the message: `apns-push-type`, `apns-topic`, `apns-expiration`,
    /// `apns-priority` and, if the push has one, `apns-collapse-id`.
    ///
    /// The priority is 10, which means at once. A quiet push has priority 5, which saves battery. Add `authorization` and `apns-id`
    /// yourself. APNs reads all headers, so they must not contain anything of the content.
    public var headers: [(String, String)] {
        [
            ("apns-push-type", "alert"), ("apns-topic", topic.description),
            ("apns-expiration", String(expiresAt.seconds)), ("apns-priority", isQuiet ? "5" : "10"),
        ] + (collapseID.map { [("apns-collapse-id", $0)] } ?? [])
    }
}

extension SealedPush: CustomStringConvertible, CustomReflectable {
    /// The length and the id, as in `sealed push of 720 bytes, id fKnd3ZJ2uN2p0hhsMrfSJQ`.
    public var description: String { "sealed push of \(byteCount) bytes, id \(id)" }
    /// Nothing, so that `dump` shows only the description.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
