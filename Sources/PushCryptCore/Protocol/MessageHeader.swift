import PushCryptPrimitives

/// The member that sealing adds to the inner payload (PROTOCOL section 5).
///
/// ```
/// "pushcrypt": {"id": "<16 bytes, base64url>", "iat": <unix seconds>, "exp": <unix seconds>, [extras]}
/// iat < exp <= iat + 30 days
/// ```
package struct MessageHeader: Equatable, Sendable {
    /// The message id, 16 bytes.
    package let id: [UInt8]
    package let issuedAt: UnixTime
    package let expiresAt: UnixTime
    package let extras: MessageExtras

    package static let name = "pushcrypt"
    package static let idByteCount = 16
    /// The freshness window: the longest time between `iat` and `exp`, in seconds.
    package static let windowInSeconds: Int64 = 30 * 86_400

    package init(id: [UInt8], issuedAt: UnixTime, expiresAt: UnixTime, extras: MessageExtras = MessageExtras()) {
        self.id = id
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
        self.extras = extras
    }

    /// The member's raw text.
    package var rawMember: [UInt8] {
        var member = [UInt8]()
        member.reserveCapacity(96)
        member += #""pushcrypt":{"id":""#.utf8
        Base64URL.append(id.bytes, to: &member)
        member += #"","iat":"#.utf8
        member += String(issuedAt.seconds).utf8
        member += #","exp":"#.utf8
        member += String(expiresAt.seconds).utf8
        extras.append(to: &member)
        member.append(UInt8(ascii: "}"))
        return member
    }

    /// Whether `text` is a message id as it is written, 16 bytes as 22 characters of base64url.
    package static func isID(_ text: String) -> Bool {
        Base64URL.decode(Array(text.utf8)[...])?.count == idByteCount
    }

    /// Why this can't be sealed; nil if it can.
    package var flaw: String? {
        guard !extras.retractedIDs.contains(where: { $0 == Base64URL.encode(id) }) else {
            return "a message can't retract itself"
        }
        return extras.flaw
    }

    /// - Parameter proof: of the message's sender. If it is empty, instructions are ignored.
    /// - Returns: nil if a required member is missing, or a member has the wrong type or value.
    package init?(_ value: JSONValue?, proof: SenderProof) {
        guard let value, let id = value["id"]?.utf8.flatMap(Base64URL.decode), id.count == Self.idByteCount,
            let issuedAt = value["iat"]?.protocolInteger, let expiresAt = value["exp"]?.protocolInteger,
            issuedAt < expiresAt, expiresAt - issuedAt <= Self.windowInSeconds,
            let extras = MessageExtras(value, proof: proof)
        else { return nil }
        self.init(id: id, issuedAt: UnixTime(issuedAt), expiresAt: UnixTime(expiresAt), extras: extras)
        guard flaw == nil else { return nil }
    }
}

extension MessageHeader {
    /// Makes a header with a random id or, for a campaign, with the id that is derived from its name.
    /// - Throws: `CryptoError` if the backend has no entropy.
    package static func fresh(
        for recipient: Recipient, campaign: String? = nil, issuedAt: UnixTime, expiresAt: UnixTime,
        extras: MessageExtras = MessageExtras()
    ) throws -> MessageHeader {
        let id =
            try campaign.map { Self.id(campaign: $0, recipient: recipient) }
            ?? recipient.backend.randomBytes(count: idByteCount)
        return MessageHeader(id: id, issuedAt: issuedAt, expiresAt: expiresAt, extras: extras)
    }

    /// The allowed length of a campaign's name, in bytes of UTF-8.
    package static let campaignByteCounts = 1...255

    /// The id of a campaign's message to one recipient. Every host computes the same id.
    ///
    /// ```
    /// id  = first 16 bytes of HMAC-SHA256(key, "pushcrypt/1 campaign" || 0x00 || lp16(campaign) || lp16(kid)
    ///                                          || lp16(device id or empty))
    /// key = K as used (suite 4) | psk | empty, if there is neither
    /// ```
    /// A party without the key can't compute the id. A party that could would use it first, and the device would refuse the
    /// campaign's push as replayed.
    ///
    /// - Parameter campaign: the name; its length is in `campaignByteCounts`.
    package static func id(campaign: String, recipient: Recipient) -> [UInt8] {
        withTemporaryBytes(capacity: 21 + 2 + 255 + 2 + 11 + 2 + 64) { input in
            input.append("pushcrypt/1 campaign")
            input.append(0)
            input.append(lengthPrefixed: campaign)
            input.append(lengthPrefixed: recipient.campaignKeyID.description)
            input.append(lengthPrefixed: recipient.device?.description ?? "")
            let code = recipient.scheme.withSecret { key in recipient.backend.hmacSHA256(of: input.bytes, key: key) }
            return Array(code.bytes.extracting(first: idByteCount))
        }
    }
}
