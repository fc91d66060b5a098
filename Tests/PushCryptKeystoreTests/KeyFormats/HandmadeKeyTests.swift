import PushCryptKeystore
import PushCryptTestSupport
import Testing

/// PKCS#8 of X25519 and Ed25519 (RFC 8410 section 7) with one change.
@Suite struct HandmadePrivateKeyTests {
    private static let key = Result { try ContainedKey.sample(.ed25519) }
    private static let seed = ContainedKey.sampleBytes()
    private static let octets = DER.octets(DER.octets(seed))
    private static let version1 = DER.integer(0)
    private static let version2 = DER.integer(1)
    private static let attributes = DER.element(0xa0, DER.sequence(DER.ed25519, DER.element(0x31)))

    @Test func `private keys are written byte for byte in the form of RFC 8410`() throws {
        for (algorithm, identifier) in [(ContainedKey.Algorithm.x25519, DER.x25519Key), (.ed25519, DER.ed25519Key)] {
            let key = try ContainedKey.sample(algorithm)
            #expect(try key.written(as: .privateKey, .der) == DER.sequence(Self.version1, identifier, Self.octets))
            #expect(try key.written(as: .publicKey, .der) == DER.sequence(identifier, DER.bits(key.publicKey)))
        }
    }

    @Test func `attributes and a matching public key are accepted`() throws {
        let key = try Self.key.get()
        let publicKey = DER.bits(key.publicKey, tag: 0x81)
        for (version, members) in [
            (Self.version1, Self.attributes), (Self.version2, []), (Self.version2, publicKey),
            (Self.version2, Self.attributes + publicKey),
        ] {
            let container = DER.sequence(version, DER.ed25519Key, Self.octets, members)
            #expect(try KeyContainer.read(container).isSame(as: key))
        }
    }

    @Test func `a public key that doesn't match the private key is refused`() throws {
        let publicKey = try Self.key.get().publicKey
        for other in [0, 100, 255].map(publicKey.flipping(bit:)) + [[]] {
            let container = DER.sequence(Self.version2, DER.ed25519Key, Self.octets, DER.bits(other, tag: 0x81))
            #expect(try KeyContainer.refusal(container) == .inconsistentKeyPair)
        }
    }

    static let malformed: [(String, [UInt8])] = [
        ("version 2", DER.sequence(DER.integer(2), DER.ed25519Key, octets)),
        ("negative version", DER.sequence(DER.integer(0xff), DER.ed25519Key, octets)),
        ("version in two bytes", DER.sequence(DER.integer(0, 0), DER.ed25519Key, octets)),
        ("version without bytes", DER.sequence(DER.integer(), DER.ed25519Key, octets)),
        ("no key", DER.sequence(version1, DER.ed25519Key)),
        ("an element more", DER.sequence(version1, DER.ed25519Key, octets, version1)),
        ("a public key in version 1", DER.sequence(version1, DER.ed25519Key, octets, DER.bits(seed, tag: 0x81))),
        ("unused bits", DER.sequence(version2, DER.ed25519Key, octets, DER.element(0x81, [1], seed))),
        ("a bit string of nothing", DER.sequence(version2, DER.ed25519Key, octets, DER.element(0x81))),
        ("the key without its own OCTET STRING", DER.sequence(version1, DER.ed25519Key, DER.octets(seed))),
        ("a byte after the key", DER.sequence(version1, DER.ed25519Key, DER.octets(DER.octets(seed) + [0]))),
        ("a byte after the container", DER.sequence(version1, DER.ed25519Key, octets) + [0]),
        ("a length in two bytes", [0x30, 0x81] + DER.sequence(version1, DER.ed25519Key, octets).dropFirst()),
        ("a length in three bytes", [0x30, 0x82, 0] + DER.sequence(version1, DER.ed25519Key, octets).dropFirst()),
        ("an indefinite length", [0x30, 0x80] + version1 + DER.ed25519Key + octets + [0, 0]),
        ("a length of 127 bytes", [0x30, 0xff] + version1 + DER.ed25519Key + octets),
        ("a length of four bytes", [0x30, 0x84, 1, 0, 0, 0] + version1 + DER.ed25519Key + octets),
    ]

    @Test("a private key with a malformed member is refused", arguments: malformed)
    func isRefused(_ name: String, _ container: [UInt8]) throws {
        #expect(try KeyContainer.refusal(container) == .malformed)
    }

    @Test("a private key of another length is refused", arguments: [0, 1, 31, 33, 57, 64])
    func otherLengths(_ count: Int) throws {
        for identifier in [DER.ed25519Key, DER.x25519Key] {
            let octets = DER.octets(DER.octets([UInt8](repeating: 1, count: count)))
            #expect(try KeyContainer.refusal(DER.sequence(Self.version1, identifier, octets)) == .invalidKey)
        }
    }

    /// RFC 8410 section 3: the parameters MUST be absent.
    @Test func `algorithm parameters that don't belong to the key type are refused`() throws {
        let identifier = DER.sequence(DER.ed25519, DER.element(0x05))
        #expect(try KeyContainer.refusal(DER.sequence(Self.version1, identifier, Self.octets)) == .unsupportedKey)
    }

    @Test func `a private key that was cut is refused with a reason that contains none of its bytes`() throws {
        let container = try ContainedKey.sample(.ed25519).written(as: .privateKey, .der)
        let error = #expect(throws: KeyContainerError.self) { try KeyContainer.read(Array(container.dropLast())) }
        #expect(error?.reason == "the DER key container is cut off, has bytes left over or another structure")
    }
}

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

    @Test func `an EC key is written byte for byte in the form of RFC 5915`() throws {
        let key = try Self.key.get()
        let inner = DER.sequence(Self.version, Self.scalar, Self.publicKey(key.publicKey))
        #expect(try key.written(as: .privateKey, .der) == Self.pkcs8(inner))
        #expect(try key.written(as: .publicKey, .der) == DER.sequence(DER.p256Key, DER.bits(key.publicKey)))
    }

    @Test func `an EC key with or without its optional members is read`() throws {
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

    private static func expectRefusal(_ code: KeyContainerError.Code, _ inner: [UInt8]) throws {
        for container in [inner, pkcs8(inner)] { #expect(try KeyContainer.refusal(container) == code) }
    }

    @Test func `an EC key of another curve or with another public key is refused`() throws {
        try Self.expectRefusal(.unsupportedKey, DER.sequence(Self.version, Self.scalar, Self.otherCurve))
        let publicKey = try Self.key.get().publicKey
        let otherParity = [3 - publicKey[64] % 2] + publicKey[1...32]
        let offTheCurve = publicKey.flipping(bit: 500)
        for other in [try ContainedKey.sample(.p256, seed: 2).publicKey, otherParity, offTheCurve, [0], []] {
            let inner = DER.sequence(Self.version, Self.scalar, Self.curve, Self.publicKey(other))
            try Self.expectRefusal(.inconsistentKeyPair, inner)
        }
    }

    /// No point of the curve has x = 1.
    @Test func `a compressed point that isn't on the curve is refused`() throws {
        let point = [2] + [UInt8](repeating: 0, count: 31) + [1]
        let inner = DER.sequence(Self.version, Self.scalar, Self.curve, Self.publicKey(point))
        #expect(try KeyContainer.refusal(inner) == .invalidKey)
        #expect(try KeyContainer.refusal(DER.sequence(DER.p256Key, DER.bits(point))) == .invalidKey)
    }

    @Test func `a scalar outside 1..<n or of another length is refused, and 1 and n - 1 are read`() throws {
        let zero = [UInt8](repeating: 0, count: 32)
        let largest = Self.order.dropLast() + [Self.order[31] - 1]
        let others = [zero, Self.order, [UInt8](repeating: 0xff, count: 32), [], [1], zero + [1], Array(zero[1...])]
        for scalar in others {
            try Self.expectRefusal(.invalidKey, DER.sequence(Self.version, DER.octets(scalar), Self.curve))
        }
        for scalar in [Array(zero.dropLast() + [1]), Array(largest)] {
            let inner = DER.sequence(Self.version, DER.octets(scalar), Self.curve)
            #expect(try KeyContainer.read(inner).privateKey?.revealed == scalar)
        }
    }

    @Test func `a scalar without its leading zeros is read only beside its public key`() throws {
        let zeros = [UInt8](repeating: 0, count: 3)
        let whole = zeros + ContainedKey.sampleBytes().dropFirst(3)
        let short = DER.octets(Array(whole.dropFirst(3)))
        let key = try KeyContainer.read(DER.sequence(Self.version, DER.octets(whole), Self.curve))
        let inner = DER.sequence(Self.version, short, Self.curve, Self.publicKey(key.publicKey))
        for container in [inner, Self.pkcs8(inner)] {
            #expect(try KeyContainer.read(container).privateKey?.revealed == whole)
        }
        let other = Self.publicKey(try Self.key.get().publicKey)
        let mixed = DER.sequence(Self.version, short, Self.curve, other)
        #expect(try KeyContainer.refusal(mixed) == .inconsistentKeyPair)
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

    @Test func `an EC key with a byte after its public key is refused`() throws {
        let publicKey = DER.element(0xa1, DER.bits(try Self.key.get().publicKey), [0])
        #expect(try KeyContainer.refusal(DER.sequence(Self.version, Self.scalar, Self.curve, publicKey)) == .malformed)
    }
}

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
    @Test func `a point off the curve, at infinity, hybrid or of another length is refused`() throws {
        let point = try ContainedKey.sample(.p256).publicKey
        let hybrid = [6 + point[64] % 2] + point.dropFirst()
        for bytes in [point.flipping(bit: 400), point.flipping(bit: 100), [0], hybrid, Array(point.dropLast())] {
            #expect(try KeyContainer.refusal(DER.sequence(DER.p256Key, DER.bits(bytes))) == .invalidKey)
        }
    }

    @Test func `a compressed P-256 point is read as the uncompressed one`() throws {
        for seed in 1...8 as ClosedRange<UInt64> {
            let key = try ContainedKey.sample(.p256, seed: seed).publicHalf
            let bytes = [2 + key.publicKey[64] % 2] + key.publicKey[1...32]
            #expect(try KeyContainer.read(DER.sequence(DER.p256Key, DER.bits(bytes))).isSame(as: key))
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

    @Test func `a container above the length limit is refused`() throws {
        let key = try ContainedKey.sample(.ed25519)
        let pem = try key.written(as: .privateKey, .pem)
        let text = [UInt8](repeating: UInt8(ascii: "\n"), count: KeyContainer.maximumByteCount - pem.count)
        #expect(try KeyContainer.read(text + pem).isSame(as: key))
        #expect(try KeyContainer.refusal([0x0a] + text + pem) == .notAKeyContainer)
    }
}
