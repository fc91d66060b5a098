public import PushCryptCore
public import PushCryptPrimitives

/// What the app uploads, so that its backend can seal to this device.
public struct RegistrationRecord: Sendable {
    public let kid: KeyID
    /// The public JWK, UTF-8 JSON, with the psk where the key has one: a secret between app and backend then. Upload it
    /// over TLS to an authenticated endpoint, and keep no copy.
    public let jwk: SecretBytes
    /// Whether ``DeviceIdentity/confirmRegistered(_:)`` was called for it; if not, upload it (again).
    public let isConfirmed: Bool

    /// The same for the body of a request: a copy that nobody wipes once it is handed over.
    public var uploadBody: [UInt8] { Array(jwk.bytes) }

    init(_ key: DeviceKey) throws(DeviceKeyError) {
        var text = [UInt8]()
        text.reserveCapacity(KeyRecord.maximumJWKByteCount)
        defer { wipe(&text) }
        do {
            try key.record.publicRecord(keepingPSK: true).appendJWK(to: &text)
        } catch {
            throw DeviceKeyError(.failed, "key \(key.kid) can't be written: \(error)")
        }
        kid = key.kid
        jwk = SecretBytes(copying: text.bytes)
        isConfirmed = key.lifecycle.activatesAt != nil
    }
}
