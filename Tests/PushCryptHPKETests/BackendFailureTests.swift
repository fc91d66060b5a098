import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptHPKE

/// A failure of the library, such as no memory, isn't translated to OpenError.
@Suite struct BackendFailureTests {
    private static let failure = CryptoError(.backendFailure, "out of memory")

    @Test("a failure of the backend in a single-shot call is thrown as it is", arguments: Scenario.all, Backends.all)
    func singleShot(_ scenario: Scenario, _ named: NamedBackend) throws {
        let working = try Parties(scenario, named.backend)
        let failing = try Parties(scenario, StubBackend(named.backend, failure: Self.failure))
        let sealed = try working.seal()
        #expect(throws: Self.failure) { try failing.open(sealed) }
        var output: [UInt8] = [1, 2, 3]
        #expect(throws: Self.failure) {
            try failing.hpke.seal(
                [7].bytes, to: failing.recipientPublic, info: failing.info.bytes, psk: failing.psk,
                senderKey: failing.senderKey, appendingTo: &output)
        }
        #expect(output == [1, 2, 3], "enc was removed again")
    }

    @Test("a Seal or Open that fails in the backend uses no sequence number", arguments: Scenario.all, Backends.all)
    func contexts(_ scenario: Scenario, _ named: NamedBackend) throws {
        let failing = try Parties(scenario, StubBackend(named.backend, failure: Self.failure))
        var setup = try failing.senderSetup()
        var receiving = try failing.recipientContext(setup.enc)
        func failure(_ body: () throws -> [UInt8]) -> (any Error)? {
            do { _ = try body() } catch { return error }
            return nil
        }
        let sealing = failure { try setup.context.seal([1].bytes) }
        let opening = failure { try receiving.open([UInt8](repeating: 0, count: 16).bytes) }
        #expect([sealing as? CryptoError, opening as? CryptoError] == [Self.failure, Self.failure])
        let sequences = [setup.context.sequence.bytes, receiving.sequence.bytes]
        #expect(sequences == [SequenceNumber().bytes, SequenceNumber().bytes])
    }
}

/// A backend that fails in chosen functions and forwards all others.
struct StubBackend: CryptoBackend {
    let base: any CryptoBackend
    let refusedPrivateKeys: Set<[UInt8]>
    let failure: CryptoError?

    init(_ base: any CryptoBackend, refusedPrivateKeys: Set<[UInt8]> = [], failure: CryptoError? = nil) {
        (self.base, self.refusedPrivateKeys, self.failure) = (base, refusedPrivateKeys, failure)
    }

    var name: String { "\(base.name), stubbed" }

    private func fail() throws {
        if let failure { throw failure }
    }

    func randomBytes(into bytes: inout MutableSpan<UInt8>) throws { try base.randomBytes(into: &bytes) }
    func randomSecret(count: Int) throws -> SecretBytes { try base.randomSecret(count: count) }
    func sha256(_ message: Span<UInt8>) throws -> [UInt8] { try base.sha256(message) }
    func sha256() -> any IncrementalSHA256 { base.sha256() }
    func hmacSHA256(key: Span<UInt8>) -> any HMACSHA256 { base.hmacSHA256(key: key) }

    func seal(
        _ algorithm: AEADAlgorithm, key: Span<UInt8>, nonce: Span<UInt8>, aad: Span<UInt8>,
        plaintext: Span<UInt8>, appendingTo output: inout [UInt8]
    ) throws {
        try fail()
        try base.seal(algorithm, key: key, nonce: nonce, aad: aad, plaintext: plaintext, appendingTo: &output)
    }

    func open(
        _ algorithm: AEADAlgorithm, key: Span<UInt8>, nonce: Span<UInt8>, aad: Span<UInt8>, ciphertext: Span<UInt8>
    ) throws -> [UInt8] {
        try fail()
        return try base.open(algorithm, key: key, nonce: nonce, aad: aad, ciphertext: ciphertext)
    }

    func supports(_ type: KeyPairType) -> Bool { base.supports(type) }
    func generateKeyPair(_ type: KeyPairType) throws -> any DecapsulationKey { try base.generateKeyPair(type) }

    func privateKey(_ type: KeyPairType, _ serialized: Span<UInt8>) throws -> any DecapsulationKey {
        if refusedPrivateKeys.contains(Array(serialized)) {
            throw CryptoError(.invalidPrivateKey, "refused by the test")
        }
        return try base.privateKey(type, serialized)
    }

    func publicKey(_ type: KeyPairType, _ serialized: Span<UInt8>) throws -> any EncapsulationKey {
        try base.publicKey(type, serialized)
    }

    func encapsulate(
        to recipient: any EncapsulationKey, into secret: inout MutableSpan<UInt8>, appendingTo output: inout [UInt8]
    ) throws { try base.encapsulate(to: recipient, into: &secret, appendingTo: &output) }

    func decapsulate(
        _ encapsulated: Span<UInt8>, with key: any DecapsulationKey, into secret: inout MutableSpan<UInt8>
    ) throws { try base.decapsulate(encapsulated, with: key, into: &secret) }

    func generateSigningKey() throws -> any SigningKey { try base.generateSigningKey() }
    func signingKey(_ seed: Span<UInt8>) throws -> any SigningKey { try base.signingKey(seed) }
    func verificationKey(_ serialized: Span<UInt8>) throws -> any VerificationKey {
        try base.verificationKey(serialized)
    }
}
