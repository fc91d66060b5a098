package import PushCryptCore
package import PushCryptKeysets

/// What one device said of itself.
///
/// ```
/// {"device": ID, "kid": KID, "seenAt": TIME}
/// ```
/// `kid` is the newest key that the device holds, TIME is RFC 3339. Other members are ignored.
package struct DeviceReport: Hashable, Sendable {
    package let device: DeviceID
    package let kid: KeyID
    package let seenAt: UnixTime

    /// - Throws: `KeystoreError` with `malformedReport`; its reason doesn't say where.
    package init(json: [UInt8]) throws(KeystoreError) {
        let root: JSONValue
        do {
            root = try JSONText(json).root
        } catch {
            throw KeystoreError(.malformedReport, "not strict JSON: \(error)")
        }
        func require<Value>(_ value: Value?, _ reason: String) throws(KeystoreError) -> Value {
            guard let value else { throw KeystoreError(.malformedReport, reason) }
            return value
        }
        guard root.kind == .object else { throw KeystoreError(.malformedReport, "JSON, but not an object") }
        device = try require(
            root["device"]?.string.flatMap { try? DeviceID($0) },
            "device is missing or not 1 to 64 characters of A-Z a-z 0-9 _ -")
        kid = try require(
            root["kid"]?.string.flatMap { KeyID($0) }, "kid is missing or not a key id of 11 base64url characters")
        seenAt = try require(
            root["seenAt"]?.string.flatMap { UnixTime(rfc3339: $0) },
            "seenAt is missing or not a time as in 2026-03-01T09:00:00Z")
    }
}

extension KeystoreError.Code {
    /// A line of devices' reports that is none.
    package static let malformedReport = KeystoreError.Code(name: "malformedReport")
}
