import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptHPKE

private let noInfo: [UInt8] = []

/// HPKE with X-Wing. The KEM's own tests are those of the backends.
@Suite struct XWingTests {
    static let scenarios = [AEAD.aes128GCM, .aes256GCM, .chaCha20Poly1305].flatMap { aead in
        [Mode.base, .psk].map { mode in Scenario(kem: .xWing, aead: aead, mode: mode) }
    }

    @Test(
        "a single-shot message that one backend seals opens with the other, and is 1,136 bytes longer",
        arguments: scenarios, Backends.pairs(supporting: .xWing))
    func singleShot(_ scenario: Scenario, _ pair: BackendPair) throws {
        let parties = try XWingParties(scenario, pair)
        let sealed = try parties.seal()
        #expect(sealed.count == 1_120 + XWingParties.plaintext.count + 16)
        #expect(try parties.open(sealed) == XWingParties.plaintext)
    }

    @Test(
        "the messages of a context of one backend open in order with the other, and both export the same secret",
        arguments: scenarios, Backends.pairs(supporting: .xWing))
    func contexts(_ scenario: Scenario, _ pair: BackendPair) throws {
        let parties = try XWingParties(scenario, pair)
        var setup = try parties.sender.setupSender(
            to: parties.recipient, info: XWingParties.info.bytes, psk: parties.psk)
        var receiving = try parties.opener.setupRecipient(
            enc: setup.enc.bytes, with: parties.key, info: XWingParties.info.bytes, psk: parties.psk)
        for number: UInt8 in 0..<3 {
            let ciphertext = try setup.context.seal([number].bytes, aad: [number].bytes)
            let opened = try receiving.open(ciphertext.bytes, aad: [number].bytes)
            #expect(opened == [number])
        }
        let sent = try setup.context.export([1].bytes, count: 50)
        let received = try receiving.export([1].bytes, count: 50)
        #expect(sent == received)
    }

    @Test(
        "a flip of any bit of enc or ct makes Open fail with OpenError", arguments: Backends.pairs(supporting: .xWing))
    func everyBit(_ pair: BackendPair) throws {
        let parties = try XWingParties(Scenario(kem: .xWing, aead: .aes256GCM, mode: .psk), pair)
        let sealed = try parties.seal()
        for bit in 0..<sealed.count * 8 {
            var changed = sealed
            changed[bit / 8] ^= 1 << (bit % 8)
            #expect(try hpkeErrorCode { try parties.open(changed) } == .open, "bit \(bit)")
        }
    }

    @Test(
        "a message that is cut or extended makes Open fail with OpenError",
        arguments: Backends.pairs(supporting: .xWing))
    func lengths(_ pair: BackendPair) throws {
        let parties = try XWingParties(Scenario(kem: .xWing, aead: .aes256GCM, mode: .base), pair)
        let sealed = try parties.seal()
        let cut = (0..<sealed.count).map { Array(sealed.prefix($0)) }
        for changed in cut + [Array(sealed.dropFirst()), sealed + [0], [0] + sealed, sealed + sealed] {
            #expect(try hpkeErrorCode { try parties.open(changed) } == .open, "\(changed.count) bytes")
        }
    }

    @Test(
        "an enc of another length makes the setup of the recipient fail with ValidationError",
        arguments: Backends.supporting(.xWing), [0, 32, 1_088, 1_119, 1_121])
    func encLength(_ named: NamedBackend, _ count: Int) throws {
        let hpke = HPKE(kem: .xWing, aead: .aes256GCM, backend: named.backend)
        let key = try named.backend.generateKeyPair(.xWing)
        let enc = [UInt8](repeating: 1, count: count)
        let code = try hpkeErrorCode { try hpke.setupRecipient(enc: enc.bytes, with: key, info: noInfo.bytes) }
        #expect(code == .validation)
    }

    @Test(
        "a message doesn't open under another info, aad or psk, or with another key", arguments: scenarios,
        Backends.supporting(.xWing))
    func wrongInput(_ scenario: Scenario, _ named: NamedBackend) throws {
        let parties = try XWingParties(scenario, named.backend)
        let sealed = try parties.seal()
        let (info, aad) = (XWingParties.info, XWingParties.aad)
        #expect(try hpkeErrorCode { try parties.open(sealed, info: aad) } == .open)
        #expect(try hpkeErrorCode { try parties.open(sealed, aad: info) } == .open)
        var changed = parties
        changed.psk = scenario.mode.hasPSK ? nil : try Parties.psk()
        #expect(try hpkeErrorCode { try changed.open(sealed) } == .open)
        changed = parties
        changed.key = try named.backend.generateKeyPair(.xWing)
        #expect(try hpkeErrorCode { try changed.open(sealed) } == .open)
    }

    @Test(
        "a sender key, and DeriveKeyPair(), are refused with unsupported: X-Wing has no auth modes",
        arguments: Backends.supporting(.xWing))
    func unsupported(_ named: NamedBackend) throws {
        let scenario = Scenario(kem: .xWing, aead: .aes256GCM, mode: .base)
        let parties = try XWingParties(scenario, named.backend)
        let sender = try named.backend.generateKeyPair(.x25519)
        var output: [UInt8] = [7]
        let sealing = try hpkeErrorCode {
            try parties.sender.seal(
                [1].bytes, to: parties.recipient, info: noInfo.bytes, senderKey: sender, appendingTo: &output)
        }
        #expect(sealing == .unsupported)
        #expect(output == [7])
        let sealed = try parties.seal()
        let opening = try hpkeErrorCode {
            try parties.opener.open(sealed.bytes, with: parties.key, info: noInfo.bytes, senderKey: sender.publicKey)
        }
        #expect(opening == .unsupported)
        #expect(try hpkeErrorCode { try parties.sender.deriveKeyPair(Parties.seed(1).bytes) } == .unsupported)
    }

    @Test("keys of groups throw ValidationError", arguments: Backends.supporting(.xWing), KeyPairType.groups)
    func groups(_ named: NamedBackend, _ group: KeyPairType) throws {
        let scenario = Scenario(kem: .xWing, aead: .aes256GCM, mode: .base)
        let parties = try XWingParties(scenario, named.backend)
        let foreign = try named.backend.generateKeyPair(group)
        var changed = parties
        changed.recipient = foreign.publicKey
        #expect(try hpkeErrorCode { try changed.seal() } == .validation)
        let sealed = try parties.seal()
        changed.key = foreign
        #expect(try hpkeErrorCode { try changed.open(sealed) } == .validation)
        let dhkem = HPKE(kem: KEM(group), aead: .aes256GCM, backend: named.backend)
        var output = [UInt8]()
        let code = try hpkeErrorCode {
            try dhkem.seal([1].bytes, to: parties.recipient, info: noInfo.bytes, appendingTo: &output)
        }
        #expect(code == .validation)
        #expect(
            try hpkeErrorCode { try dhkem.open(sealed.bytes, with: parties.key, info: noInfo.bytes) } == .validation)
    }
}

/// A sender and a recipient with an X-Wing key, each with its backend.
struct XWingParties {
    static let info = Array("info".utf8)
    static let aad = Array("aad".utf8)
    static let plaintext = Array("short".utf8)

    let sender, opener: HPKE
    var key: any DecapsulationKey
    var recipient: any EncapsulationKey
    var psk: PSK?

    init(_ scenario: Scenario, _ pair: BackendPair) throws { try self.init(scenario, pair.first, pair.second) }

    init(_ scenario: Scenario, _ backend: any CryptoBackend) throws { try self.init(scenario, backend, backend) }

    private init(_ scenario: Scenario, _ sending: any CryptoBackend, _ opening: any CryptoBackend) throws {
        sender = HPKE(kem: scenario.kem, aead: scenario.aead, backend: sending)
        opener = HPKE(kem: scenario.kem, aead: scenario.aead, backend: opening)
        key = try opening.privateKey(.xWing, Parties.seed(1).bytes)
        recipient = try sending.publicKey(.xWing, key.publicKey.serialized.bytes)
        psk = scenario.mode.hasPSK ? try Parties.psk() : nil
    }

    func seal() throws -> [UInt8] {
        var output = [UInt8]()
        try sender.seal(
            Self.plaintext.bytes, to: recipient, info: Self.info.bytes, aad: Self.aad.bytes, psk: psk,
            appendingTo: &output)
        return output
    }

    func open(_ sealed: [UInt8], info: [UInt8] = info, aad: [UInt8] = aad) throws -> [UInt8] {
        try opener.open(sealed.bytes, with: key, info: info.bytes, aad: aad.bytes, psk: psk)
    }
}
