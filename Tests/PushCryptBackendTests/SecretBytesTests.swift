import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@Suite struct SecretBytesTests {
    private let secret = SecretBytes(copying: [0xab, 0xcd, 0xef, 0x12].bytes)
    private let redacted = "SecretBytes(4 bytes, redacted)"

    @Test("the description and debug description show the length and no bytes")
    func text() {
        #expect(secret.description == redacted)
        #expect(secret.debugDescription == redacted)
        #expect("\(secret)" == redacted)
        #expect(String(describing: secret) == redacted)
        #expect(String(reflecting: secret) == redacted)
        #expect(String(describing: Optional(secret)) == "Optional(\(redacted))")
        #expect("\([secret])" == "[\(redacted)]")
        #expect("\(["key": secret])" == "[\"key\": \(redacted)]")
    }

    @Test("a dump and a mirror of a secret show no bytes")
    func dumpAndMirror() {
        var text = ""
        dump(secret, to: &text)
        #expect(text == "- \(redacted) #0\n")
        #expect(Mirror(reflecting: secret).children.isEmpty)
        #expect(Mirror(reflecting: secret).superclassMirror == nil)
    }

    // Not in the function: the name of a local type has an address, whose digits may be those of a byte.
    struct Holder {
        let name = "holder"
        let key: SecretBytes
    }

    @Test("a dump of a value that contains a secret shows no bytes")
    func dumpOfAHolder() {
        var text = ""
        dump(Holder(key: secret), to: &text)
        #expect(text.contains("key: \(redacted)"))
        #expect(!text.contains("171") && !text.contains("205") && !text.contains("239"))
        #expect("\(Holder(key: secret))" == "Holder(name: \"holder\", key: \(redacted))")
    }

    @Test("secrets are equal only if all bytes are equal")
    func equality() {
        let bytes: [UInt8] = Array(0..<40)
        let original = SecretBytes(copying: bytes.bytes)
        #expect(original == SecretBytes(copying: bytes.bytes))
        for bit in 0..<bytes.bitCount {
            #expect(original != SecretBytes(copying: bytes.flipping(bit: bit).bytes))
        }
        let shorter = Array(bytes.dropLast())
        #expect(original != SecretBytes(copying: shorter.bytes))
        #expect(original != SecretBytes(copying: (bytes + [0]).bytes))
        #expect(SecretBytes(copying: .init()) == SecretBytes(count: 0) { _ in })
        #expect(SecretBytes(copying: .init()) != SecretBytes(count: 1) { _ in })
    }

    @Test("constantTimeEqual finds a difference in any byte")
    func constantTimeEqualComparesEveryByte() {
        func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool { constantTimeEqual(left.bytes, right.bytes) }
        let bytes: [UInt8] = Array(0..<33)
        #expect(areEqual(bytes, bytes))
        #expect(areEqual([], []))
        for bit in 0..<bytes.bitCount {
            #expect(!areEqual(bytes, bytes.flipping(bit: bit)))
        }
        for count in 0..<33 {
            #expect(!areEqual(bytes, Array(bytes.prefix(count))))
            #expect(!areEqual(Array(bytes.prefix(count)), bytes))
        }
    }

    @Test("a secret is a copy that a change of its source doesn't change")
    func copiesItsSource() {
        var source: [UInt8] = [1, 2, 3]
        let copy = SecretBytes(copying: source.bytes)
        let copyOfTheCopy = SecretBytes(copying: copy.bytes)
        source[0] = 9
        #expect(copy.revealed == [1, 2, 3])
        #expect(copyOfTheCopy == copy)
    }

    @Test("fill writes the bytes, and its error is thrown")
    func filling() {
        #expect(SecretBytes(count: 3) { _ in }.revealed == [0, 0, 0])
        #expect(SecretBytes(count: 3) { bytes in bytes[1] = 7 }.revealed == [0, 7, 0])
        #expect(SecretBytes(count: 0) { _ in }.revealed == [])
        #expect(throws: CryptoError(.backendFailure, "no entropy")) {
            try SecretBytes(count: 3) { bytes in
                bytes[0] = 1
                throw CryptoError(.backendFailure, "no entropy")
            }
        }
    }

    @Test("wipe empties the array")
    func wiping() {
        var bytes: [UInt8] = [1, 2, 3]
        wipe(&bytes)
        #expect(bytes.isEmpty)
        wipe(&bytes)
        #expect(bytes.isEmpty)
    }
}
