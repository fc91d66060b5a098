import PushCryptKeystore
import PushCryptTestSupport
import Testing

/// ECPrivateKey (SEC 1 appendix C.4) alone and within PKCS#8, with one change.
@Suite struct HandmadeECKeyTests {
    private static let key = Result { try ContainedKey.sample(.p256) }
    private static let scalar = DER.octets(ContainedKey.sampleBytes())
    private static let version = DER.integer(1)
    private static let curve = DER.element(0xa0, DER.p256)
    private static let otherCurve = DER.element(0xa0, DER.p384)

    private static func publicKey(_ bytes: [UInt8]) -> [UInt8] { DER.element(0xa1, DER.bits(bytes)) }

    private static func pkcs8(_ ecPrivateKey: [UInt8]) -> [UInt8] {
        DER.sequence(DER.integer(0), DER.p256Key, DER.octets(ecPrivateKey))
    }

    /// n of SEC 2 section 2.4.2.
    private static let order = [UInt8](hex: "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551")

    @Test("an EC key is written byte for byte in the form of RFC 5915") func rfc5915() throws {
        let key = try Self.key.get()
        let inner = DER.sequence(Self.version, Self.scalar, Self.publicKey(key.publicKey))
        #expect(try key.written(as: .privateKey, .der) == Self.pkcs8(inner))
        #expect(try key.written(as: .publicKey, .der) == DER.sequence(DER.p256Key, DER.bits(key.publicKey)))
    }

    @Test("an EC key with or without its optional members is read") func optionalMembers() throws {
        let key = try Self.key.get()
        let publicKey = Self.publicKey(key.publicKey)
        let compressed = Self.publicKey([2 + key.publicKey[64] % 2] + key.publicKey[1...32])
        for publicMember in [[], publicKey, compressed] {
            let alone = DER.sequence(Self.version, Self.scalar, Self.curve, publicMember)
            let withoutCurve = DER.sequence(Self.version, Self.scalar, publicMember)
            for container in [alone, Self.pkcs8(alone), Self.pkcs8(withoutCurve)] {
                #expect(try KeyContainer.read(container).isSame(as: key))
            }
            #expect(try KeyContainer.refusal(withoutCurve) == .unsupportedKey)
        }
    }

    @Test("an EC key of another curve is refused") func otherCurves() throws {
        let inner = DER.sequence(Self.version, Self.scalar, Self.otherCurve)
        #expect(try KeyContainer.refusal(inner) == .unsupportedKey)
        #expect(try KeyContainer.refusal(Self.pkcs8(inner)) == .unsupportedKey)
    }

    @Test("an EC key with another public key is refused") func otherPublicKeys() throws {
        let publicKey = try Self.key.get().publicKey
        let otherParity = [3 - publicKey[64] % 2] + publicKey[1...32]
        let offTheCurve = publicKey.flipping(bit: 500)
        for other in [try ContainedKey.sample(.p256, seed: 2).publicKey, otherParity, offTheCurve, [0], []] {
            let inner = DER.sequence(Self.version, Self.scalar, Self.curve, Self.publicKey(other))
            #expect(try KeyContainer.refusal(inner) == .inconsistentKeyPair)
            #expect(try KeyContainer.refusal(Self.pkcs8(inner)) == .inconsistentKeyPair)
        }
    }

    /// No point of the curve has x = 1.
    @Test("a compressed point that isn't on the curve is refused") func invalidCompressedPoint() throws {
        let point = [2] + [UInt8](repeating: 0, count: 31) + [1]
        let inner = DER.sequence(Self.version, Self.scalar, Self.curve, Self.publicKey(point))
        #expect(try KeyContainer.refusal(inner) == .invalidKey)
        #expect(try KeyContainer.refusal(DER.sequence(DER.p256Key, DER.bits(point))) == .invalidKey)
    }

    @Test("a scalar outside 1..<n or of another length is refused, and the smallest and largest are read")
    func scalars() throws {
        let zero = [UInt8](repeating: 0, count: 32)
        let largest = Self.order.dropLast() + [Self.order[31] - 1]
        let others = [zero, Self.order, [UInt8](repeating: 0xff, count: 32), [], [1], zero + [1], Array(zero[1...])]
        for scalar in others {
            let inner = DER.sequence(Self.version, DER.octets(scalar), Self.curve)
            #expect(try KeyContainer.refusal(inner) == .invalidKey)
            #expect(try KeyContainer.refusal(Self.pkcs8(inner)) == .invalidKey)
        }
        for scalar in [Array(zero.dropLast() + [1]), Array(largest)] {
            let inner = DER.sequence(Self.version, DER.octets(scalar), Self.curve)
            #expect(try KeyContainer.read(inner).privateKey?.revealed == scalar)
        }
    }

    @Test(
        "a scalar without the zero bytes at its front is read beside its public key, and refused beside another or none"
    )
    func shortScalar() throws {
        let zeros = [UInt8](repeating: 0, count: 3)
        let whole = zeros + ContainedKey.sampleBytes().dropFirst(3)
        let short = DER.octets(Array(whole.dropFirst(3)))
        let key = try KeyContainer.read(DER.sequence(Self.version, DER.octets(whole), Self.curve))
        let inner = DER.sequence(Self.version, short, Self.curve, Self.publicKey(key.publicKey))
        for container in [inner, Self.pkcs8(inner)] {
            #expect(try KeyContainer.read(container).privateKey?.revealed == whole)
        }
        let other = Self.publicKey(try Self.key.get().publicKey)
        #expect(
            try KeyContainer.refusal(DER.sequence(Self.version, short, Self.curve, other)) == .inconsistentKeyPair)
        #expect(try KeyContainer.refusal(DER.sequence(Self.version, short, Self.curve)) == .invalidKey)
    }

    static let malformed: [(String, [UInt8])] = [
        ("version 0", DER.sequence(DER.integer(0), scalar, curve)),
        ("version 2", DER.sequence(DER.integer(2), scalar, curve)),
        ("no scalar", DER.sequence(version, curve)),
        ("an element more", DER.sequence(version, scalar, curve, version)),
        ("the curve twice", DER.sequence(version, scalar, curve, curve)),
        ("a public key without bits", DER.sequence(version, scalar, curve, DER.element(0xa1))),
        ("a byte after the structure", DER.sequence(version, scalar, curve) + [0]),
    ]

    @Test("an EC key with a malformed member is refused", arguments: malformed)
    func isRefused(_ name: String, _ inner: [UInt8]) throws {
        #expect(try KeyContainer.refusal(Self.pkcs8(inner)) == .malformed)
    }

    @Test("an EC key with a byte after its public key is refused") func byteAfterThePublicKey() throws {
        let publicKey = DER.element(0xa1, DER.bits(try Self.key.get().publicKey), [0])
        let inner = DER.sequence(Self.version, Self.scalar, Self.curve, publicKey)
        #expect(try KeyContainer.refusal(inner) == .malformed)
    }
}
