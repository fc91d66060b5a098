public import PushCryptPrimitives

/// A backend that fails in chosen functions and forwards all others.
public struct StubBackend: CryptoBackend {
    public enum Function: CaseIterable, Sendable {
        case random, seal, open
    }

    /// What a failing function throws.
    public static let failure = CryptoError(.backendFailure, "failed by the test")

    private let base: any CryptoBackend
    private let refusedPrivateKeys: Set<[UInt8]>
    private let failing: Set<Function>

    public init(_ base: any CryptoBackend, refusedPrivateKeys: Set<[UInt8]> = [], failing: Set<Function> = []) {
        (self.base, self.refusedPrivateKeys, self.failing) = (base, refusedPrivateKeys, failing)
    }

    public var name: String { "\(base.name), stubbed" }

    private func fail(at function: Function) throws {
        if failing.contains(function) { throw Self.failure }
    }

    public func randomBytes(into bytes: inout MutableSpan<UInt8>) throws {
        try fail(at: .random)
        try base.randomBytes(into: &bytes)
    }

    public func randomSecret(count: Int) throws -> SecretBytes {
        try fail(at: .random)
        return try base.randomSecret(count: count)
    }

    public func sha256(_ message: Span<UInt8>) throws -> [UInt8] { try base.sha256(message) }
    public func sha256() -> any IncrementalSHA256 { base.sha256() }
    public func hmacSHA256(key: Span<UInt8>) -> any HMACSHA256 { base.hmacSHA256(key: key) }

    public func seal(
        _ algorithm: AEADAlgorithm, key: Span<UInt8>, nonce: Span<UInt8>, aad: Span<UInt8>,
        plaintext: Span<UInt8>, appendingTo output: inout [UInt8]
    ) throws {
        try fail(at: .seal)
        try base.seal(algorithm, key: key, nonce: nonce, aad: aad, plaintext: plaintext, appendingTo: &output)
    }

    public func open(
        _ algorithm: AEADAlgorithm, key: Span<UInt8>, nonce: Span<UInt8>, aad: Span<UInt8>, ciphertext: Span<UInt8>
    ) throws -> [UInt8] {
        try fail(at: .open)
        return try base.open(algorithm, key: key, nonce: nonce, aad: aad, ciphertext: ciphertext)
    }

    public func supports(_ type: KeyPairType) -> Bool { base.supports(type) }
    public func generateKeyPair(_ type: KeyPairType) throws -> any DecapsulationKey { try base.generateKeyPair(type) }

    public func privateKey(_ type: KeyPairType, _ serialized: Span<UInt8>) throws -> any DecapsulationKey {
        if refusedPrivateKeys.contains(Array(serialized)) {
            throw CryptoError(.invalidPrivateKey, "refused by the test")
        }
        return try base.privateKey(type, serialized)
    }

    public func publicKey(_ type: KeyPairType, _ serialized: Span<UInt8>) throws -> any EncapsulationKey {
        try base.publicKey(type, serialized)
    }

    public func encapsulate(
        to recipient: any EncapsulationKey, into secret: inout MutableSpan<UInt8>, appendingTo output: inout [UInt8]
    ) throws { try base.encapsulate(to: recipient, into: &secret, appendingTo: &output) }

    public func decapsulate(
        _ encapsulated: Span<UInt8>, with key: any DecapsulationKey, into secret: inout MutableSpan<UInt8>
    ) throws { try base.decapsulate(encapsulated, with: key, into: &secret) }

    public func generateSigningKey() throws -> any SigningKey { try base.generateSigningKey() }
    public func signingKey(_ seed: Span<UInt8>) throws -> any SigningKey { try base.signingKey(seed) }
    public func verificationKey(_ serialized: Span<UInt8>) throws -> any VerificationKey {
        try base.verificationKey(serialized)
    }
}
