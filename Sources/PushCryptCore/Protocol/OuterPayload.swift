import PushCryptPrimitives

/// The outer payload, which APNs reads (PROTOCOL section 2).
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
        guard let aps = root["aps"], AlertText.isVisible(in: aps["alert"]), aps["mutable-content"]?.protocolInteger == 1
        else { throw .malformed }
        self.kid = kid
        self.skid = skid
        self.sealed = sealed
    }
}

extension OuterPayload {
    /// Returns `text` with another envelope. Only the strings of `kid`, `sealed` and `skid` change.
    /// - Parameters:
    ///   - text: a text that `OuterPayload` has read.
    ///   - skid: ignored if `text` has no `skid`.
    package static func replacingEnvelope(of text: JSONText, kid: KeyID, skid: KeyID?, sealed: [UInt8]) -> [UInt8] {
        let envelope = text.root["pushcrypt"]
        var strings: [(name: String, content: [UInt8])] = [
            ("kid", Array(kid.utf8)), ("sealed", Base64URL.encode(sealed.bytes)),
        ]
        if let skid { strings.append(("skid", Array(skid.utf8))) }
        let quote = UInt8(ascii: "\"")
        return text.replacing(
            strings.compactMap { name, content in envelope?[name].map { ($0, [quote] + content + [quote]) } })
    }
}

/// An outer payload without the characters of `sealed`. Its length is known before sealing.
package struct OuterFrame: Sendable {
    private let beforeSealed: [UInt8]
    private let afterSealed: [UInt8]

    /// - Parameters:
    ///   - placeholder: the raw JSON of `aps.alert`.
    ///   - exposed: raw members, such as `"badge":3`, which stay visible in `aps`.
    package init(placeholder: [UInt8], exposed: [[UInt8]], kid: KeyID, skid: KeyID?) {
        var before = [UInt8]()
        before.reserveCapacity(256)
        before += #"{"aps":{"alert":"#.utf8
        before += placeholder
        before += #","mutable-content":1"#.utf8
        for member in exposed {
            before.append(UInt8(ascii: ","))
            before += member
        }
        before += #"},"pushcrypt":{"v":1,"kid":""#.utf8
        before += kid.utf8
        before += #"","sealed":""#.utf8
        beforeSealed = before
        var after = Array("\"".utf8)
        if let skid {
            after += #","skid":""#.utf8
            after += skid.utf8
            after.append(UInt8(ascii: "\""))
        }
        after += "}}".utf8
        afterSealed = after
    }

    package var byteCount: Int { beforeSealed.count + afterSealed.count }

    package func payload(sealed: [UInt8]) -> [UInt8] {
        var payload = [UInt8]()
        payload.reserveCapacity(byteCount + Base64URL.encodedCount(sealed.count))
        payload += beforeSealed
        Base64URL.append(sealed.bytes, to: &payload)
        payload += afterSealed
        return payload
    }
}
