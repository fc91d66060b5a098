import PushCryptPrimitives
import PushCryptTestSupport

@testable import PushCryptHPKE

extension KEM {
    /// The KEMs that have all modes and DeriveKeyPair(). X-Wing has tests of its own.
    static let dhkems: [KEM] = [.dhkemP256, .dhkemX25519]
}

/// Algorithms and mode, as the argument of a parameterised test.
struct Scenario: Sendable, CustomStringConvertible {
    let kem: KEM
    let aead: AEAD
    let mode: Mode

    var description: String { "\(kem) \(aead) \(mode)" }

    /// All 24 with an AEAD.
    static let all = KEM.dhkems.flatMap { kem in
        AEAD.allCases.filter { $0 != .exportOnly }.flatMap { aead in
            Mode.all.map { mode in Scenario(kem: kem, aead: aead, mode: mode) }
        }
    }

    static let exportOnly = KEM.dhkems.flatMap { kem in
        Mode.all.map { mode in Scenario(kem: kem, aead: .exportOnly, mode: mode) }
    }
}

/// The keys of a scenario in one backend, the same in every backend and every run, and a message.
///
/// The inputs of each side are separate, so that a test can change one side's.
struct Parties {
    let hpke: HPKE
    let recipientKey: any DecapsulationKey
    let ephemeral: any DecapsulationKey
    var recipientPublic: any EncapsulationKey
    var senderKey: (any DecapsulationKey)?
    var senderPublic: (any EncapsulationKey)?
    var psk: PSK?
    var info = Array("info".utf8)
    var aad = Array("aad".utf8)
    var plaintext = Array("plaintext".utf8)

    init(_ scenario: Scenario, _ backend: any CryptoBackend) throws {
        hpke = HPKE(kem: scenario.kem, aead: scenario.aead, backend: backend)
        recipientKey = try hpke.deriveKeyPair(Self.seed(1).bytes)
        recipientPublic = recipientKey.publicKey
        ephemeral = try hpke.deriveKeyPair(Self.seed(2).bytes)
        if scenario.mode.hasSenderKey {
            let key = try hpke.deriveKeyPair(Self.seed(3).bytes)
            senderKey = key
            senderPublic = key.publicKey
        }
        if scenario.mode.hasPSK {
            psk = try Self.psk()
        }
    }

    static func seed(_ byte: UInt8) -> [UInt8] {
        [UInt8](repeating: byte, count: 32)
    }

    static func psk(byte: UInt8 = 4, id: String = "psk id") throws -> PSK {
        try PSK(SecretBytes(copying: seed(byte).bytes), id: Array(id.utf8))
    }

    /// `enc || ct` with a fresh ephemeral key.
    func seal() throws -> [UInt8] {
        var output = [UInt8]()
        try hpke.seal(
            plaintext.bytes, to: recipientPublic, info: info.bytes, aad: aad.bytes, psk: psk, senderKey: senderKey,
            appendingTo: &output)
        return output
    }

    /// `enc || ct`, the same in every run.
    func sealWithFixedEphemeral() throws -> [UInt8] {
        var output = [UInt8]()
        try hpke.seal(
            plaintext.bytes, to: recipientPublic, info: info.bytes, aad: aad.bytes, psk: psk, senderKey: senderKey,
            ephemeral: ephemeral, appendingTo: &output)
        return output
    }

    func open(_ sealed: [UInt8]) throws -> [UInt8] {
        try hpke.open(
            sealed.bytes, with: recipientKey, info: info.bytes, aad: aad.bytes, psk: psk, senderKey: senderPublic)
    }

    func openCode(_ sealed: [UInt8]) throws -> HPKEError.Code? {
        try hpkeErrorCode { try open(sealed) }
    }

    func senderSetup() throws -> SenderSetup {
        try hpke.setupSender(to: recipientPublic, info: info.bytes, psk: psk, senderKey: senderKey)
    }

    func recipientContext(_ enc: [UInt8]) throws -> RecipientContext {
        try hpke.setupRecipient(
            enc: enc.bytes, with: recipientKey, info: info.bytes, psk: psk, senderKey: senderPublic)
    }

    /// The code that setting up the recipient fails with.
    func setupCode(_ enc: [UInt8]) throws -> HPKEError.Code? {
        try hpkeErrorCode { try recipientContext(enc) }
    }
}
