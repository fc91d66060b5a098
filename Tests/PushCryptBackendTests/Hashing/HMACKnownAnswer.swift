import PushCryptTestSupport

struct HMACKnownAnswer: Sendable, CustomStringConvertible {
    let description: String
    let key, message, code: [UInt8]

    init(_ number: Int, key: [UInt8], message: [UInt8], code: String) {
        description = "RFC 4231 test case \(number)"
        self.key = key
        self.message = message
        self.code = [UInt8](hex: code)
    }

    /// RFC 4231 section 4; case 5 is cut to 16 bytes.
    static let rfc4231 = [
        HMACKnownAnswer(
            1, key: Array(repeating: 0x0b, count: 20), message: Array("Hi There".utf8),
            code: "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"),
        HMACKnownAnswer(
            2, key: Array("Jefe".utf8), message: Array("what do ya want for nothing?".utf8),
            code: "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"),
        HMACKnownAnswer(
            3, key: Array(repeating: 0xaa, count: 20), message: Array(repeating: 0xdd, count: 50),
            code: "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"),
        HMACKnownAnswer(
            4, key: Array(1...25), message: Array(repeating: 0xcd, count: 50),
            code: "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"),
        HMACKnownAnswer(
            5, key: Array(repeating: 0x0c, count: 20), message: Array("Test With Truncation".utf8),
            code: "a3b6167473100ee06e0c796c2955552b"),
        HMACKnownAnswer(
            6, key: Array(repeating: 0xaa, count: 131),
            message: Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
            code: "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"),
        HMACKnownAnswer(
            7, key: Array(repeating: 0xaa, count: 131),
            message: Array(
                """
                This is a test using a larger than block-size key and a larger than block-size data. \
                The key needs to be hashed before being used by the HMAC algorithm.
                """.utf8),
            code: "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"),
    ]
}
