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
func contextInfo(suite: Suite, profile: Profile, kid: KeyID, skid: KeyID?, topic: Topic) -> [UInt8] {
    var info = [UInt8]()
    info.reserveCapacity(197)
    info += "pushcrypt/1".utf8
    info.append(0)
    info.append(suite.rawValue)
    info.append(profile.rawValue)
    appendLengthPrefixed(kid.description, to: &info)
    appendLengthPrefixed(skid?.description ?? "", to: &info)
    appendLengthPrefixed(topic.description, to: &info)
    return info
}
