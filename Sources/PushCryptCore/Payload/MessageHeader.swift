import PushCryptPrimitives

/// The member that sealing adds to the inner payload (PROTOCOL section 5).
///
/// ```
/// "pushcrypt": {"id": "<16 random bytes, base64url>", "iat": <unix seconds>, "exp": <unix seconds>, [extras]}
/// iat < exp <= iat + 30 days
/// ```
package struct MessageHeader: Equatable, Sendable {
    /// 16 bytes.
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

    /// - Returns: nil unless every member is there, of its type, and in order, and each that may be there is right.
    package init?(_ value: JSONValue?) {
        guard let value, let id = value["id"]?.utf8.flatMap(Base64URL.decode), id.count == Self.idByteCount,
            let issuedAt = value["iat"]?.protocolInteger, let expiresAt = value["exp"]?.protocolInteger,
            issuedAt < expiresAt, expiresAt - issuedAt <= Self.windowInSeconds, let extras = MessageExtras(value)
        else { return nil }
        self.init(id: id, issuedAt: UnixTime(issuedAt), expiresAt: UnixTime(expiresAt), extras: extras)
    }
}
