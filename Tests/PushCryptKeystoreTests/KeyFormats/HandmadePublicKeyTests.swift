import PushCryptKeystore
import PushCryptTestSupport
import Testing

/// SubjectPublicKeyInfo with one change, and DER without a key.
@Suite struct HandmadePublicKeyTests {
    private static let thirtyTwo = [UInt8](repeating: 9, count: 32)

    @Test("a public key of another length is refused", arguments: [0, 1, 31, 33, 65])
    func otherLengths(_ count: Int) throws {
        for identifier in [DER.x25519Key, DER.ed25519Key, DER.p256Key] {
            let bytes = [UInt8](repeating: 4, count: count)
            #expect(try KeyContainer.refusal(DER.sequence(identifier, DER.bits(bytes))) == .invalidKey)
        }
    }

    /// Points off the curve, infinity, and the hybrid form, which contains y and its parity.
    @Test("a point off the curve, at infinity, in hybrid form or of another length is refused") func otherPoints()
        throws
    {
        let point = try ContainedKey.sample(.p256).publicKey
        let hybrid = [6 + point[64] % 2] + point.dropFirst()
        for bytes in [point.flipping(bit: 400), point.flipping(bit: 100), [0], hybrid, Array(point.dropLast())] {
            #expect(try KeyContainer.refusal(DER.sequence(DER.p256Key, DER.bits(bytes))) == .invalidKey)
        }
    }

    @Test("a compressed P-256 point is read as the uncompressed one") func compressedPoint() throws {
        for seed in 1...8 as ClosedRange<UInt64> {
            let key = try ContainedKey.sample(.p256, seed: seed).publicHalf
            let bytes = [2 + key.publicKey[64] % 2] + key.publicKey[1...32]
            let container = DER.sequence(DER.p256Key, DER.bits(bytes))
            #expect(try KeyContainer.read(container).isSame(as: key))
        }
    }

    static let refused: [(String, [UInt8], KeyContainerError.Code)] = [
        ("nothing", [], .notAKeyContainer),
        ("a zero", [0], .notAKeyContainer),
        ("a tag", [0x30], .malformed),
        ("an empty sequence", DER.sequence(), .notAKeyContainer),
        ("an octet string", DER.octets(thirtyTwo), .notAKeyContainer),
        ("a sequence of an octet string", DER.sequence(DER.octets(thirtyTwo)), .notAKeyContainer),
        ("an algorithm", DER.sequence(DER.x25519Key), .notAKeyContainer),
        ("no algorithm", DER.sequence(DER.bits(thirtyTwo)), .notAKeyContainer),
        ("an algorithm without members", DER.sequence(DER.sequence(), DER.bits(thirtyTwo)), .malformed),
        ("an element more", DER.sequence(DER.x25519Key, DER.bits(thirtyTwo), DER.integer(0)), .malformed),
        ("a byte after the container", DER.sequence(DER.x25519Key, DER.bits(thirtyTwo)) + [0], .malformed),
        ("unused bits", DER.sequence(DER.x25519Key, DER.element(0x03, [1], thirtyTwo)), .malformed),
        ("no curve", DER.sequence(DER.sequence(DER.ecPublicKey), DER.bits(thirtyTwo)), .unsupportedKey),
        ("P-384", DER.sequence(DER.sequence(DER.ecPublicKey, DER.p384), DER.bits(thirtyTwo)), .unsupportedKey),
        ("a curve of X25519", DER.sequence(DER.sequence(DER.x25519, DER.p256), DER.bits([])), .unsupportedKey),
        ("two numbers", DER.sequence(DER.integer(1), DER.integer(2)), .unsupportedKey),
        ("a number", DER.sequence(DER.integer(1)), .notAKeyContainer),
        ("text", Array("my key".utf8), .notAKeyContainer),
        ("Base64 without lines around it", Array("MCowBQYDK2VwAyEAGb9ECWmE".utf8), .notAKeyContainer),
    ]

    @Test("a container that isn't a supported public key is refused with the code of its flaw", arguments: refused)
    func isRefused(_ name: String, _ container: [UInt8], _ code: KeyContainerError.Code) throws {
        #expect(try KeyContainer.refusal(container) == code)
    }

    @Test("a container above the length limit is refused") func tooLong() throws {
        let key = try ContainedKey.sample(.ed25519)
        let pem = try key.written(as: .privateKey, .pem)
        let text = [UInt8](repeating: UInt8(ascii: "\n"), count: KeyContainer.maximumByteCount - pem.count)
        #expect(try KeyContainer.read(text + pem).isSame(as: key))
        #expect(try KeyContainer.refusal([0x0a] + text + pem) == .notAKeyContainer)
    }
}
