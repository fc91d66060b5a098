/// What a blob is for. It is bound to the ciphertext: a picture never opens as a payload.
public struct BlobPurpose: Hashable, Sendable, CustomStringConvertible {
    let rawValue: UInt8
    public let description: String

    /// A file that is shown with a notification.
    public static let attachment = BlobPurpose(rawValue: 1, description: "attachment")
    /// An inner payload that is too long for a push.
    public static let payload = BlobPurpose(rawValue: 2, description: "payload")
}
