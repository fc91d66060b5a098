import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptHPKE

/// RFC 9180 section 7.1.4: an invalid key is a ValidationError on both sides.
@Suite struct InvalidKeyTests {
    static let scenarios = Scenario.all.filter { $0.aead == .aes128GCM }
    static let p256 = scenarios.filter { $0.kem == .dhkemP256 }
    static let x25519 = scenarios.filter { $0.kem == .dhkemX25519 }

    @Test("an enc that isn't a point of P-256 throws ValidationError", arguments: p256, Backends.all)
    func p256Enc(_ scenario: Scenario, _ named: NamedBackend) throws {
        let parties = try Parties(scenario, named.backend)
        let sealed = try parties.sealWithFixedEphemeral()
        let coordinates = Array(sealed[1..<65])
        let ciphertext = Array(sealed.dropFirst(65))
        var offTheCurve = coordinates
        offTheCurve[63] ^= 1
        let zeros = [UInt8](repeating: 0, count: 64)
        let hybrid = 6 | coordinates[63] & 1
        for enc in [[4] + offTheCurve, [4] + zeros, [0] + zeros, [hybrid] + coordinates, [hybrid ^ 1] + coordinates] {
            #expect(try parties.openCode(enc + ciphertext) == .validation)
            #expect(try parties.setupCode(enc) == .validation)
        }
        let compressed = [2 | coordinates[63] & 1] + coordinates.prefix(32)
        #expect(try parties.openCode(compressed + ciphertext) == .open, "shorter than enc and a tag")
        #expect(try parties.setupCode(compressed) == .validation)
    }

    @Test("an enc, a recipient or a sender of small order throws ValidationError", arguments: x25519, Backends.all)
    func smallOrder(_ scenario: Scenario, _ named: NamedBackend) throws {
        let parties = try Parties(scenario, named.backend)
        let sealed = try parties.sealWithFixedEphemeral()
        let (enc, ciphertext) = (Array(sealed.prefix(32)), Array(sealed.dropFirst(32)))
        for point in Self.pointsOfSmallOrder {
            #expect(try parties.openCode(point + ciphertext) == .validation)
            #expect(try parties.setupCode(point) == .validation)
            var changed = parties
            changed.recipientPublic = try named.backend.publicKey(.x25519, point.bytes)
            #expect(try changed.sealCode() == .validation)
            #expect(try hpkeErrorCode { try changed.senderSetup() } == .validation)
            changed.senderPublic = changed.recipientPublic
            #expect(try changed.openCode(sealed) == .validation)
            #expect(try changed.setupCode(enc) == .validation)
        }
    }

    @Test("keys of the other group or backend throw ValidationError", arguments: scenarios, Backends.all)
    func foreignKeys(_ scenario: Scenario, _ named: NamedBackend) throws {
        let parties = try Parties(scenario, named.backend)
        let sealed = try parties.sealWithFixedEphemeral()
        let otherGroup: KeyPairType = scenario.kem.keyPairType == .p256 ? .x25519 : .p256
        var foreign = [try named.backend.generateKeyPair(otherGroup)]
        for other in Backends.all where other.backend.name != named.backend.name {
            foreign.append(try other.backend.generateKeyPair(scenario.kem.keyPairType))
        }
        for key in foreign {
            var changed = parties
            changed.recipientPublic = key.publicKey
            #expect(try changed.sealCode() == .validation)
            changed = parties
            changed.senderKey = key
            #expect(try changed.sealCode() == .validation)
            changed = parties
            changed.senderPublic = key.publicKey
            #expect(try changed.openCode(sealed) == .validation)
            changed = parties
            changed.recipientKey = key
            #expect(try changed.openCode(sealed) == .validation)
            var output: [UInt8] = [1, 2, 3]
            let code = try hpkeErrorCode {
                try parties.hpke.seal([7].bytes, to: key.publicKey, info: parties.info.bytes, appendingTo: &output)
            }
            #expect(code == .validation && output == [1, 2, 3])
        }
    }

    /// The points of order 1, 2, 4 and 8 on the curve and its twist, in their canonical encodings and those plus p.
    private static let pointsOfSmallOrder: [[UInt8]] = {
        let ones = [UInt8](repeating: 0xff, count: 30)
        let points: [[UInt8]] = [
            [UInt8](repeating: 0, count: 32), [1] + [UInt8](repeating: 0, count: 31),
            .init(hex: "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800"),
            .init(hex: "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157"),
            [0xec] + ones + [0x7f], [0xed] + ones + [0x7f], [0xee] + ones + [0x7f],
        ]
        return points + points.map { $0.prefix(31) + [$0[31] | 0x80] }
    }()
}

@Suite struct PSKTests {
    @Test func `a PSK below 32 bytes or without psk_id is refused (RFC 9180 sections 9.5 and 5.1)`() throws {
        for count in 0...64 {
            let secret = SecretBytes(count: count) { _ in }
            let code = try hpkeErrorCode { try PSK(secret, id: [1]) }
            #expect(code == (count < 32 ? .invalidPSK : nil), "\(count) bytes")
        }
        let secret = SecretBytes(count: 32) { _ in }
        #expect(try hpkeErrorCode { try PSK(secret, id: []) } == .invalidPSK)
        for count in [1, 32, 1000] {
            #expect(try hpkeErrorCode { try PSK(secret, id: [UInt8](repeating: 0, count: count)) } == nil)
        }
    }

    @Test func `printing a PSK shows none of its bytes`() throws {
        let psk = try PSK(SecretBytes(copying: Parties.seed(0xab).bytes), id: [1])
        var text = "\(psk) \(String(reflecting: psk)) "
        dump(psk, to: &text)
        #expect(text.contains("redacted"))
        #expect(!text.contains("171") && !text.lowercased().contains("abab"))
    }
}
