/// An independent DER encoder for containers that the library never writes. Contents are shorter than 256 bytes.
enum DER {
    static func element(_ tag: UInt8, _ contents: [UInt8]...) -> [UInt8] {
        let content = contents.flatMap(\.self)
        return [tag] + (content.count < 0x80 ? [] : [0x81]) + [UInt8(content.count)] + content
    }

    static func sequence(_ contents: [UInt8]...) -> [UInt8] { element(0x30, contents.flatMap(\.self)) }
    static func octets(_ content: [UInt8]) -> [UInt8] { element(0x04, content) }
    static func bits(_ content: [UInt8], tag: UInt8 = 0x03) -> [UInt8] { element(tag, [0], content) }
    static func integer(_ content: UInt8...) -> [UInt8] { element(0x02, content) }

    static let p256 = element(0x06, [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07])
    static let p384 = element(0x06, [0x2b, 0x81, 0x04, 0x00, 0x22])
    static let ecPublicKey = element(0x06, [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01])
    static let x25519 = element(0x06, [0x2b, 0x65, 0x6e])
    static let ed25519 = element(0x06, [0x2b, 0x65, 0x70])

    /// The AlgorithmIdentifiers of the three key types.
    static let p256Key = sequence(ecPublicKey, p256)
    static let x25519Key = sequence(x25519)
    static let ed25519Key = sequence(ed25519)
}
