public import PushCryptCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A payload ready for APNs.
public struct SealedPush: Hashable, Sendable {
    /// The request body for APNs, UTF-8 JSON.
    public var json: Data { Data(bytes) }
    /// The same without a copy.
    package let bytes: [UInt8]
    /// The message's id, 16 bytes, random or a campaign's, as 22 characters of base64url: for logs, never sent in the clear.
    public let id: String
    /// When the recipient begins to refuse the message; send an `apns-expiration` that is no later.
    public let expiresAt: UnixTime

    /// The exact length of the request body.
    public var byteCount: Int { bytes.count }
}
