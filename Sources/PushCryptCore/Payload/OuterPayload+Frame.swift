import PushCryptPrimitives

/// What APNs carries, written: everything but the characters of `sealed`, so that its size is known before sealing.
package struct OuterFrame: Sendable {
    private let beforeSealed: [UInt8]
    private let afterSealed: [UInt8]

    /// - Parameters:
    ///   - placeholder: the raw JSON of `aps.alert`.
    ///   - exposed: raw members (`"badge":3`) for the outside of `aps`.
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
