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

    @Test("private keys are written byte for byte in the form of RFC 8410") func rfc8410() throws {
        for (algorithm, identifier) in [(ContainedKey.Algorithm.x25519, DER.x25519Key), (.ed25519, DER.ed25519Key)] {
            let key = try ContainedKey.sample(algorithm)
            let expected = DER.sequence(Self.version1, identifier, Self.octets)
            #expect(try key.written(as: .privateKey, .der) == expected)
            #expect(try key.written(as: .publicKey, .der) == DER.sequence(identifier, DER.bits(key.publicKey)))
        }
    }

    @Test("attributes and a matching public key are accepted") func optionalMembers() throws {
        let key = try Self.key.get()
        let publicKey = DER.bits(key.publicKey, tag: 0x81)
        let containers = [
            DER.sequence(Self.version1, DER.ed25519Key, Self.octets, Self.attributes),
            DER.sequence(Self.version2, DER.ed25519Key, Self.octets),
            DER.sequence(Self.version2, DER.ed25519Key, Self.octets, publicKey),
            DER.sequence(Self.version2, DER.ed25519Key, Self.octets, Self.attributes, publicKey),
        ]
        for container in containers {
            #expect(try KeyContainer.read(container).isSame(as: key))
        }
    }

    @Test("a public key that doesn't match the private key is refused") func otherPublicKey() throws {
        let publicKey = try Self.key.get().publicKey
        for bit in [0, 100, 255] {
            let other = DER.bits(publicKey.flipping(bit: bit), tag: 0x81)
            let container = DER.sequence(Self.version2, DER.ed25519Key, Self.octets, other)
            #expect(try KeyContainer.refusal(container) == .inconsistentKeyPair)
        }
        let short = DER.sequence(Self.version2, DER.ed25519Key, Self.octets, DER.bits([], tag: 0x81))
        #expect(try KeyContainer.refusal(short) == .inconsistentKeyPair)
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
            let container = DER.sequence(Self.version1, identifier, octets)
            #expect(try KeyContainer.refusal(container) == .invalidKey)
        }
    }

    /// RFC 8410 section 3: the parameters MUST be absent.
    @Test("algorithm parameters that don't belong to the key type are refused") func parameters() throws {
        let identifier = DER.sequence(DER.ed25519, DER.element(0x05))
        let container = DER.sequence(Self.version1, identifier, Self.octets)
        #expect(try KeyContainer.refusal(container) == .unsupportedKey)
    }

    @Test("a private key that was cut is refused with a reason that contains none of its bytes") func reason() throws {
        let container = try ContainedKey.sample(.ed25519).written(as: .privateKey, .der)
        let error = #expect(throws: KeyContainerError.self) { try KeyContainer.read(Array(container.dropLast())) }
        #expect(error?.reason == "the DER key container is cut off, has bytes left over or another structure")
    }
}
