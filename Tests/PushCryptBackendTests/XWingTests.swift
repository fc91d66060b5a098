import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptOpenSSL

@Suite struct XWingKeyTests {
    private func agreed(_ pair: BackendPair, _ seed: [UInt8]) throws -> (sent: [UInt8], received: [UInt8]) {
        let key = try pair.second.privateKey(.xWing, seed.bytes)
        let recipient = try pair.first.publicKey(.xWing, key.publicKey.serialized.bytes)
        let (secret, ciphertext) = try pair.first.encapsulated(to: recipient)
        #expect(ciphertext.count == KeyPairType.xWing.encapsulatedByteCount)
        return (secret, try pair.second.decapsulated(ciphertext, with: key))
    }

    @Test("another backend decapsulates the encapsulated secret", arguments: Backends.pairs(supporting: .xWing))
    func roundTrip(_ pair: BackendPair) throws {
        var secrets: Set<[UInt8]> = []
        for byte: UInt8 in 0..<20 {
            let (sent, received) = try agreed(pair, [UInt8](repeating: byte, count: 32))
            #expect(sent == received)
            secrets.insert(sent)
        }
        #expect(secrets.count == 20)
    }

    @Test("a flipped bit of a ciphertext gives another secret", arguments: Backends.supporting(.xWing))
    func implicitRejection(_ named: NamedBackend) throws {
        let key = try named.backend.generateKeyPair(.xWing)
        let (secret, ciphertext) = try named.backend.encapsulated(to: key.publicKey)
        var secrets: Set<[UInt8]> = [secret]
        for bit in (0..<ciphertext.bitCount).sampled(every: 7) {
            let other = try named.backend.decapsulated(ciphertext.flipping(bit: bit), with: key)
            // RFC 7748 section 5 masks the highest bit of a u-coordinate; the combiner hashes the unmasked ciphertext.
            #expect(secrets.insert(other).inserted, "bit \(bit)")
        }
    }

    @Test(
        "a ciphertext or a public key whose X25519 half makes a secret of zeros throws degenerateSharedSecret",
        arguments: Backends.supporting(.xWing), X25519KeyTests.pointsOfSmallOrder)
    func zeroShare(_ named: NamedBackend, _ point: [UInt8]) throws {
        let backend = named.backend
        let key = try backend.generateKeyPair(.xWing)
        let ciphertext = try backend.encapsulated(to: key.publicKey).ciphertext
        var u = point
        for highestBit: UInt8 in [0, 0x80] {
            u[31] |= highestBit
            let changed = Array(ciphertext.dropLast(32)) + u
            #expect(try cryptoErrorCode { try backend.decapsulated(changed, with: key) } == .degenerateSharedSecret)
            let serialized = Array(key.publicKey.serialized.dropLast(32)) + u
            let recipient = try backend.publicKey(.xWing, serialized.bytes)
            #expect(try cryptoErrorCode { try backend.encapsulated(to: recipient) } == .degenerateSharedSecret)
        }
    }

    @Test("a ciphertext of another length throws invalidPublicKey", arguments: Backends.supporting(.xWing))
    func ciphertextLength(_ named: NamedBackend) throws {
        let key = try named.backend.generateKeyPair(.xWing)
        let ciphertext = try named.backend.encapsulated(to: key.publicKey).ciphertext
        for wrong in [[], Array(ciphertext.dropLast()), ciphertext + [0], Array(ciphertext.prefix(1_088))] {
            #expect(try cryptoErrorCode { try named.backend.decapsulated(wrong, with: key) } == .invalidPublicKey)
        }
    }

    @Test("a coefficient from 3,329 on is refused", arguments: Backends.supporting(.xWing), [3_328, 3_329, 4_095])
    func modulus(_ named: NamedBackend, _ coefficient: Int) throws {
        let bytes = try named.backend.generateKeyPair(.xWing).publicKey.serialized
        for index in [0, 1, 2, 383, 766, 767] {
            var changed = bytes
            let start = index / 2 * 3
            if index % 2 == 0 {
                changed[start] = UInt8(coefficient & 0xff)
                changed[start + 1] = changed[start + 1] & 0xf0 | UInt8(coefficient >> 8)
            } else {
                changed[start + 1] = changed[start + 1] & 0x0f | UInt8(coefficient & 0x0f) << 4
                changed[start + 2] = UInt8(coefficient >> 4)
            }
            let code = try cryptoErrorCode { try named.backend.publicKey(.xWing, changed.bytes) }
            #expect(code == (coefficient < 3_329 ? nil : .invalidPublicKey), "coefficient \(index)")
        }
    }

    @Test("keys of other types and backends throw keyMismatch", arguments: Backends.supporting(.xWing))
    func mismatch(_ named: NamedBackend) throws {
        let backend = named.backend
        let key = try backend.generateKeyPair(.xWing)
        let ciphertext = try backend.encapsulated(to: key.publicKey).ciphertext
        var foreign = try KeyPairType.groups.map(backend.generateKeyPair)
        for other in Backends.supporting(.xWing) where other.backend.name != backend.name {
            foreign.append(try other.backend.generateKeyPair(.xWing))
        }
        for other in foreign {
            #expect(try cryptoErrorCode { try backend.encapsulated(to: other.publicKey) } == .keyMismatch)
            #expect(try cryptoErrorCode { try backend.decapsulated(ciphertext, with: other) } == .keyMismatch)
        }
        #expect(try cryptoErrorCode { try key.sharedSecret(with: key.publicKey) } == .keyMismatch)
        for group in KeyPairType.groups {
            let peer = try backend.generateKeyPair(group)
            #expect(try cryptoErrorCode { try peer.sharedSecret(with: key.publicKey) } == .keyMismatch)
        }
    }

    @Test func `only an OpenSSL before 3.5 throws unsupportedAlgorithm for X-Wing keys`() throws {
        let lacking = Backends.all.map(\.backend).filter { !$0.supports(.xWing) }
        #expect(lacking.isEmpty == OpenSSLLibrary.hasVersion(3, 5))
        for backend in lacking { try expectUnsupported(backend) }
    }

    private func expectUnsupported(_ backend: any CryptoBackend) throws {
        let (seed, publicKey) = ([UInt8](repeating: 1, count: 32), [UInt8](repeating: 0, count: 1_216))
        #expect(try cryptoErrorCode { try backend.generateKeyPair(.xWing) } == .unsupportedAlgorithm)
        #expect(try cryptoErrorCode { try backend.privateKey(.xWing, seed.bytes) } == .unsupportedAlgorithm)
        let error = #expect(throws: CryptoError.self) { try backend.publicKey(.xWing, publicKey.bytes) }
        #expect(error?.code == .unsupportedAlgorithm)
        #expect(error?.reason.hasSuffix("has no ML-KEM: suite 3 (xwing) needs OpenSSL 3.5 or later") == true)
    }
}

extension OpenSSLLibrary {
    fileprivate static func hasVersion(_ major: Int, _ minor: Int) -> Bool {
        let parts = version.split(separator: ".").prefix(2).compactMap { Int($0) }
        return parts.count == 2 && (parts[0], parts[1]) >= (major, minor)
    }
}

extension CryptoBackend {
    func encapsulated(to key: any EncapsulationKey) throws -> (secret: [UInt8], ciphertext: [UInt8]) {
        var ciphertext = [UInt8]()
        let secret = try SecretBytes(count: 32) { try encapsulate(to: key, into: &$0, appendingTo: &ciphertext) }
        return (secret.revealed, ciphertext)
    }

    func decapsulated(_ ciphertext: [UInt8], with key: any DecapsulationKey) throws -> [UInt8] {
        try SecretBytes(count: 32) { try decapsulate(ciphertext.bytes, with: key, into: &$0) }.revealed
    }
}

/// The vectors of draft-connolly-cfrg-xwing-kem.
@Suite(.needsPublicVectors) struct XWingVectorTests {
    struct Vector: Decodable, Sendable, CustomStringConvertible {
        let seed, eseed, ss, sk, pk, ct: HexBytes

        var description: String { "seed \(seed.bytes.prefix(4))" }
    }

    static func vectors() throws -> [Vector] { try Vectors.load("xwing/xwing-kem.json", as: [Vector].self) }

    @Test func `the file has three vectors, whose private key is the seed`() throws {
        #expect(try Self.vectors().map { $0.seed.bytes == $0.sk.bytes } == [true, true, true])
    }

    @Test("a vector's seed gives its public key and its secret", arguments: try vectors(), Backends.supporting(.xWing))
    func decapsulation(_ vector: Vector, _ named: NamedBackend) throws {
        let key = try named.backend.privateKey(.xWing, vector.sk.span)
        #expect(key.publicKey.serialized == vector.pk.bytes)
        #expect(try named.backend.decapsulated(vector.ct.bytes, with: key) == vector.ss.bytes)
    }

    @Test("encapsulation with a vector's randomness gives its values", .needsXWingOfOpenSSL, arguments: try vectors())
    func encapsulation(_ vector: Vector) throws {
        let key = try XWingPublicKey(vector.pk.span)
        var ciphertext = [UInt8]()
        let secret = try SecretBytes(count: 32) { secret in
            try key.encapsulate(into: &secret, appendingTo: &ciphertext, randomness: vector.eseed.span)
        }
        #expect(ciphertext == vector.ct.bytes)
        #expect(secret.revealed == vector.ss.bytes)
    }
}

extension Trait where Self == ConditionTrait {
    static var needsXWingOfOpenSSL: Self {
        .enabled(
            if: Backends.openSSL.backend.supports(.xWing),
            "suite 3 is unavailable: it needs OpenSSL 3.5, and this is \(OpenSSLLibrary.version)")
    }
}
