import PushCryptPrimitives

extension OuterPayload {
    /// The outer payload `text` with another envelope. Nothing but the strings of `kid`, `sealed` and `skid` changes:
    /// placeholder, exposed and unknown members, order and white space stay byte for byte.
    ///
    /// - Parameters:
    ///   - text: what an `OuterPayload` was read from.
    ///   - skid: takes the place of the one in `text`; where there is none, none comes in.
    package static func replacingEnvelope(
        of text: JSONText, kid: KeyID, skid: KeyID?, sealed: [UInt8]
    ) -> [UInt8] {
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
