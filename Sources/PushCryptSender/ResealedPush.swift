/// A queued payload under the primary key.
public struct ResealedPush: Hashable, Sendable {
    /// The request body for APNs, UTF-8 JSON.
    public let payload: [UInt8]
    /// False where it was sealed, and if signed, signed, by the primary keys before: then `payload` is what came in.
    public let isChanged: Bool
}
