public import PushCryptCore
public import PushCryptExtension

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The signing key of a backend in a test. Each one is new:
///
/// ```swift
/// let sender = try TestSender()
/// let phone = try await TestDevice(topic: "com.example.app", senders: sender.trust)
/// let sealer = try Sealer(topic: "com.example.app", signer: .key(SenderKey(jwk: sender.privateKey)))
/// ```
public struct TestSender: Sendable {
    /// The private key, a JWK, UTF-8 JSON.
    public let privateKey: Data
    /// The public key, a JWK, UTF-8 JSON.
    public let publicKey: Data
    /// The keys that a phone pins. Join those of several senders with `SenderTrust.pinned`.
    public let senders: TrustedSenders
    /// Opens only the pushes that this sender signs.
    public var trust: SenderTrust { .pinned(senders) }

    /// Makes a key pair (Ed25519).
    ///
    /// - Throws: `CryptoError` if the system has no randomness.
    public init() throws {
        let record = try KeyRecord.generate(.sender, backend: DefaultBackend.shared)
        var (secret, published) = ([UInt8](), [UInt8]())
        try record.appendJWK(to: &secret)
        try record.publicRecord(keepingPSK: false).appendJWK(to: &published)
        // The id of the key is a name that no other sender has.
        senders = try TrustedSenders(json: published, name: record.kid.description)
        (privateKey, publicKey) = (Data(secret), Data(published))
    }
}
