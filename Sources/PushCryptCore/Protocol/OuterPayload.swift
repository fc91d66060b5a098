import PushCryptPrimitives

/// The outer payload, which APNs reads (PROTOCOL section 2). The carrier determines where `pushcrypt` stands.
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

    /// - Parameter places: where the envelope may stand.
    /// - Throws: `FailureClass`: `notSealed`, `unsupportedVersion`, `malformed`.
    package init(_ text: JSONText, at places: EnvelopePlaces = .standard) throws(FailureClass) {
        let root = text.root
        guard root.kind == .object else { throw .malformed }
        let envelope = try places.envelope(in: root)
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
    ///   - text: a text that `OuterPayload` has read at these places.
    ///   - skid: ignored if `text` has no `skid`.
    /// - Throws: `FailureClass` as ``init(_:at:)``.
    package static func replacingEnvelope(
        of text: JSONText, at places: EnvelopePlaces, kid: KeyID, skid: KeyID?, sealed: [UInt8]
    ) throws(FailureClass) -> [UInt8] {
        let value = try places.value(in: text.root)
        let envelope = try places.envelope(in: text.root)
        var strings: [(name: String, content: [UInt8])] = [
            ("kid", Array(kid.utf8)), ("sealed", Base64URL.encode(sealed.bytes)),
        ]
        if let skid { strings.append(("skid", Array(skid.utf8))) }
        let quote = UInt8(ascii: "\"")
        let replacements = strings.compactMap { name, content in
            envelope[name].map { (value: $0, json: [quote] + content + [quote]) }
        }
        guard value.kind == .string else { return text.replacing(replacements) }
        var string: [UInt8] = []
        JSONWriter.appendString(utf8: envelope.text.replacing(replacements)[...], to: &string)
        return text.replacing([(value, string)])
    }
}

/// An outer payload without the characters of `sealed`. Its length is known before sealing.
package struct OuterFrame: Sendable {
    private let beforeSealed: [UInt8]
    private let afterSealed: [UInt8]

    /// - Parameters:
    ///   - placeholder: the raw JSON of `aps.alert`.
    ///   - exposed: raw members, such as `"badge":3`, which stay visible in `aps`.
    package init(placeholder: [UInt8], exposed: [[UInt8]], kid: KeyID, skid: KeyID?, carrier: Carrier = .apns) {
        var before = [UInt8]()
        before.reserveCapacity(256)
        before += #"{"aps":{"alert":"#.utf8
        before += placeholder
        before += #","mutable-content":1"#.utf8
        for member in exposed {
            before.append(UInt8(ascii: ","))
            before += member
        }
        before += "},".utf8
        let path = carrier.path
        for (depth, name) in path.enumerated() {
            if depth > 0 { before.append(UInt8(ascii: "{")) }
            JSONWriter.appendString(name, to: &before)
            before.append(UInt8(ascii: ":"))
        }
        let start = before.count
        before += #"{"v":1,"kid":""#.utf8
        before += kid.utf8
        before += #"","sealed":""#.utf8
        var after = Array("\"".utf8)
        if let skid {
            after += #","skid":""#.utf8
            after += skid.utf8
            after.append(UInt8(ascii: "\""))
        }
        after.append(UInt8(ascii: "}"))
        if carrier.isText {
            before = before[..<start] + [Self.quote] + Self.escaped(before[start...])
            after = Self.escaped(after[...]) + [Self.quote]
        }
        after += repeatElement(UInt8(ascii: "}"), count: path.count)
        (beforeSealed, afterSealed) = (before, after)
    }

    private static let quote = UInt8(ascii: "\"")

    /// The content of a JSON string, for a text whose only special characters are quotes.
    private static func escaped(_ json: ArraySlice<UInt8>) -> [UInt8] {
        json.flatMap { $0 == quote ? [UInt8(ascii: "\\"), quote] : [$0] }
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
