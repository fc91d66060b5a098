import PushCryptCore

/// One JSON value for a column of a database:
///
/// ```
/// {"version": 1, "kid": KID, "hasPSK": Bool, "record": TEXT}          TEXT: the record as uploaded
/// ```
/// The record is one string, so that a database that rewrites JSON doesn't change its bytes. `hasPSK` is written beside it, so
/// that a record whose psk was removed is refused and isn't sealed to without it.
extension Registration: Codable {
    private enum Member: String, CodingKey {
        case version, kid, hasPSK, record
    }

    /// Reads a stored registration.
    ///
    /// - Throws: `SenderError` with `pskMissing` if the record had a psk and has none; `malformed` for another version, or if
    ///   `kid` or `hasPSK` differ from the record's; the errors of ``init(json:requiring:)``; `DecodingError`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Member.self)
        guard try container.decode(Int.self, forKey: .version) == 1 else {
            throw SenderError(.malformed, "the stored registration has another version")
        }
        let text = try container.decode(String.self, forKey: .record)
        try self.init(json: text.utf8, requiring: [])
        let kid = try container.decode(String.self, forKey: .kid)
        let hadPSK = try container.decode(Bool.self, forKey: .hasPSK)
        if hadPSK { try check(.psk) }
        guard kid == self.kid.description, hadPSK == hasPSK else {
            throw SenderError(.malformed, "the stored record of key \(kid) was replaced")
        }
    }

    /// Writes the registration with its secret. The text can't be wiped. Write it only to the database.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Member.self)
        try container.encode(1, forKey: .version)
        try container.encode(kid.description, forKey: .kid)
        try container.encode(hasPSK, forKey: .hasPSK)
        try container.encode(String(decoding: Array(text.bytes), as: UTF8.self), forKey: .record)
    }
}
