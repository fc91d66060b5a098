import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptHPKE

/// What is different with X-Wing. `CrossBackendTests` and `WrongInputTests` have its scenarios, too; the KEM's own tests are
/// those of the backends.
@Suite struct XWingTests {
    private func parties(_ backend: any CryptoBackend, _ mode: Mode = .base) throws -> Parties {
        try Parties(Scenario(kem: .xWing, aead: .aes256GCM, mode: mode), backend)
    }

    @Test("a flipped bit of enc or ct makes Open fail with OpenError", arguments: Backends.pairs(supporting: .xWing))
    func everyBit(_ pair: BackendPair) throws {
        let sealed = try parties(pair.first, .psk).seal()
        let recipient = try parties(pair.second, .psk)
        for bit in (0..<sealed.bitCount).sampled(every: 7) {
            #expect(try recipient.openCode(sealed.flipping(bit: bit)) == .open, "bit \(bit)")
        }
    }

    @Test("neither message nor enc opens with another length", arguments: Backends.pairs(supporting: .xWing))
    func lengths(_ pair: BackendPair) throws {
        let (sender, recipient) = (try parties(pair.first), try parties(pair.second))
        let sealed = try sender.seal()
        #expect(sealed.count == sender.plaintext.count + 1_136)
        let cut = (0..<sealed.count).map { Array(sealed.prefix($0)) }
        for changed in cut + [Array(sealed.dropFirst()), sealed + [0], [0] + sealed, sealed + sealed] {
            #expect(try recipient.openCode(changed) == .open, "\(changed.count) bytes")
        }
        for count in [0, 32, 1_088, 1_119, 1_121] {
            #expect(try recipient.setupCode([UInt8](repeating: 1, count: count)) == .validation)
        }
    }

    @Test("a sender key and DeriveKeyPair() throw unsupported", arguments: Backends.supporting(.xWing))
    func unsupported(_ named: NamedBackend) throws {
        var parties = try parties(named.backend)
        let sender = try named.backend.generateKeyPair(.x25519)
        var output: [UInt8] = [7]
        let code = try hpkeErrorCode {
            try parties.hpke.seal(
                [1].bytes, to: parties.recipientPublic, info: .init(), senderKey: sender, appendingTo: &output)
        }
        #expect(code == .unsupported && output == [7])
        let sealed = try parties.seal()
        parties.senderPublic = sender.publicKey
        #expect(try parties.openCode(sealed) == .unsupported)
        #expect(try hpkeErrorCode { try parties.hpke.deriveKeyPair(Parties.seed(1).bytes) } == .unsupported)
    }

    @Test("keys of groups throw ValidationError", arguments: Backends.supporting(.xWing), KeyPairType.groups)
    func groups(_ named: NamedBackend, _ group: KeyPairType) throws {
        let parties = try parties(named.backend)
        let foreign = try named.backend.generateKeyPair(group)
        var changed = parties
        (changed.recipientPublic, changed.recipientKey) = (foreign.publicKey, foreign)
        let sealed = try parties.seal()
        #expect(try changed.sealCode() == .validation)
        #expect(try changed.openCode(sealed) == .validation)
        var dhkem = try Parties(Scenario(kem: KEM(group), aead: .aes256GCM, mode: .base), named.backend)
        (dhkem.recipientPublic, dhkem.recipientKey) = (parties.recipientPublic, parties.recipientKey)
        #expect(try dhkem.sealCode() == .validation)
        #expect(try dhkem.openCode(sealed) == .validation)
    }
}
