import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptHPKE

/// The code of the `HPKEError` that `body` throws, nil if it succeeds. Rethrows other errors.
func hpkeErrorCode<Result: ~Copyable>(_ body: () throws -> Result) throws -> HPKEError.Code? {
    do {
        _ = try body()
        return nil
    } catch let error as HPKEError {
        return error.code
    }
}

extension SequenceNumber {
    init(_ number: UInt64) {
        let digits = (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * UInt64($0))) }
        self.init(bytes: [0, 0, 0, 0] + digits)
    }
}

extension Mode {
    static let all: [Mode] = [.base, .psk, .auth, .authPSK]

    var hasPSK: Bool { self == .psk || self == .authPSK }
    var hasSenderKey: Bool { self == .auth || self == .authPSK }
}

extension KEM {
    /// The KEMs that have all modes and DeriveKeyPair().
    static let dhkems: [KEM] = [.dhkemP256, .dhkemX25519]
}

struct Scenario: Sendable, CustomStringConvertible {
    let kem: KEM
    let aead: AEAD
    let mode: Mode

    var description: String { "\(kem) \(aead) \(mode)" }

    /// All 24 with a DHKEM and an AEAD.
    static let all = KEM.dhkems.flatMap { kem in
        AEAD.allCases.filter { $0 != .exportOnly }.flatMap { aead in
            Mode.all.map { mode in Scenario(kem: kem, aead: aead, mode: mode) }
        }
    }

    static let exportOnly = KEM.dhkems.flatMap { kem in
        Mode.all.map { mode in Scenario(kem: kem, aead: .exportOnly, mode: mode) }
    }

    /// All six with X-Wing, which has no auth modes.
    static let xWing = AEAD.allCases.filter { $0 != .exportOnly }.flatMap { aead in
        [Mode.base, .psk].map { mode in Scenario(kem: .xWing, aead: aead, mode: mode) }
    }

    /// The scenarios with an AEAD, each with each backend that has its KEM.
    static let onBackends = (all + xWing).flatMap { scenario in
        Backends.supporting(scenario.kem.keyPairType).map { (scenario, $0) }
    }

    /// The scenarios with an AEAD, each with each pair of backends that have its KEM.
    static let onPairs = (all + xWing).flatMap { scenario in
        Backends.pairs(supporting: scenario.kem.keyPairType).map { (scenario, $0) }
    }
}

extension HPKE {
    /// A key pair that is the same in every backend and every run. X-Wing has no DeriveKeyPair().
    func testKey(_ number: UInt8) throws -> any DecapsulationKey {
        let seed = Parties.seed(number)
        return try kem == .xWing ? backend.privateKey(.xWing, seed.bytes) : deriveKeyPair(seed.bytes)
    }
}

/// The keys of a scenario in one backend, the same in every backend and every run, and a message.
///
/// The inputs of each side are separate, so that a test can change one side's.
struct Parties {
    let hpke: HPKE
    /// nil for X-Wing, whose randomness a caller can't choose.
    let ephemeral: (any DecapsulationKey)?
    var recipientKey: any DecapsulationKey
    var recipientPublic: any EncapsulationKey
    var senderKey: (any DecapsulationKey)?
    var senderPublic: (any EncapsulationKey)?
    var psk: PSK?
    var info = Array("info".utf8)
    var aad = Array("aad".utf8)
    var plaintext = Array("plaintext".utf8)

    init(_ scenario: Scenario, _ backend: any CryptoBackend) throws {
        hpke = HPKE(kem: scenario.kem, aead: scenario.aead, backend: backend)
        recipientKey = try hpke.testKey(1)
        recipientPublic = recipientKey.publicKey
        ephemeral = scenario.kem == .xWing ? nil : try hpke.testKey(2)
        senderKey = scenario.mode.hasSenderKey ? try hpke.testKey(3) : nil
        senderPublic = senderKey?.publicKey
        psk = scenario.mode.hasPSK ? try Self.psk() : nil
    }

    static func seed(_ byte: UInt8) -> [UInt8] { [UInt8](repeating: byte, count: 32) }

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

    func senderSetup() throws -> SenderSetup {
        try hpke.setupSender(to: recipientPublic, info: info.bytes, psk: psk, senderKey: senderKey)
    }

    func recipientContext(_ enc: [UInt8]) throws -> RecipientContext {
        try hpke.setupRecipient(
            enc: enc.bytes, with: recipientKey, info: info.bytes, psk: psk, senderKey: senderPublic)
    }

    func sealCode() throws -> HPKEError.Code? { try hpkeErrorCode { try seal() } }
    func openCode(_ sealed: [UInt8]) throws -> HPKEError.Code? { try hpkeErrorCode { try open(sealed) } }
    func setupCode(_ enc: [UInt8]) throws -> HPKEError.Code? { try hpkeErrorCode { try recipientContext(enc) } }
}
