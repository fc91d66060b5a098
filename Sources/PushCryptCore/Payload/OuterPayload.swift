/// What APNs carries (PROTOCOL section 2), read.
///
/// ```
/// {
///   "aps": { "alert": <placeholder>, "mutable-content": 1, <exposed aps members> },
///   "pushcrypt": { "v": 1, "kid": "<11 characters>", "sealed": "<base64url>", ["skid": "<11 characters>"] }
/// }
/// ```
package struct OuterPayload: Sendable {
    package let kid: KeyID
    package let skid: KeyID?
    package let sealed: [UInt8]

    package static let version: Int64 = 1

    /// - Throws: `FailureClass`: `notSealed`, `unsupportedVersion`, `malformed`.
    package init(_ text: JSONText) throws(FailureClass) {
        let root = text.root
        guard root.kind == .object else { throw .malformed }
        guard let envelope = root["pushcrypt"] else { throw .notSealed }
        guard let version = envelope["v"]?.protocolInteger else { throw .malformed }
        guard version == Self.version else { throw .unsupportedVersion }
        guard let kid = envelope["kid"]?.utf8.flatMap(KeyID.init(utf8:)),
            let sealed = envelope["sealed"]?.utf8.flatMap(Base64URL.decode), !sealed.isEmpty
        else { throw .malformed }
        var skid: KeyID?
        if let value = envelope["skid"] {
            guard let read = value.utf8.flatMap(KeyID.init(utf8:)) else { throw .malformed }
            skid = read
        }
        guard let aps = root["aps"], AlertText.isPresent(in: aps["alert"]),
            aps["mutable-content"]?.protocolInteger == 1
        else { throw .malformed }
        self.kid = kid
        self.skid = skid
        self.sealed = sealed
    }
}
