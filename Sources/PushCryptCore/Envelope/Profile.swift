import PushCryptPrimitives

/// What a message carries besides encryption to a key (PROTOCOL section 4).
struct Profile: OptionSet {
    let rawValue: UInt8

    /// Bit 0: the recipient's record demands a pre-shared key.
    static let psk = Profile(rawValue: 1)
    /// Bit 1: signed by a sender key.
    static let signed = Profile(rawValue: 2)
}

/// ```
/// info = "pushcrypt/1" || 0x00 || u8(suite) || u8(profile) || lp16(kid) || lp16(skid or empty) || lp16(topic)
/// ```
func withContextInfo<Result, Failure>(
    suite: Suite, profile: Profile, kid: KeyID, skid: KeyID?, topic: Topic,
    _ body: (Span<UInt8>) throws(Failure) -> Result
) throws(Failure) -> Result {
    try withTemporaryBytes(capacity: 197) { info throws(Failure) in
        info.append("pushcrypt/1")
        info.append(0)
        info.append(suite.rawValue)
        info.append(profile.rawValue)
        info.append(lengthPrefixed: kid.description)
        info.append(lengthPrefixed: skid?.description ?? "")
        info.append(lengthPrefixed: topic.description)
        return try body(info.bytes)
    }
}
