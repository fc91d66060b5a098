import PushCryptPrimitives
import PushCryptTestSupport

@testable import PushCryptCore

/// A recipient's key with a profile: what a message can be sealed as.
struct TestChannel: Sendable, CustomStringConvertible {
    let jwk: TestJWK
    let isSigned: Bool

    var description: String { isSigned ? "\(jwk) signed" : "\(jwk)" }

    static let all = ["p256", "p256 psk", "x25519", "x25519 psk", "shared", "device"].flatMap { name in
        [false, true].map { TestChannel(jwk: .named(name), isSigned: $0) }
    }

    func recipient(_ backend: any CryptoBackend) throws -> Recipient {
        try Recipient(jwk: jwk.withoutPrivateKey.json.utf8, backend: backend)
    }

    func recipientKey(_ backend: any CryptoBackend) throws -> RecipientKey {
        try RecipientKey(jwk.keyset(backend).entries[0])
    }

    func signer(_ backend: any CryptoBackend) throws -> SenderKey? {
        isSigned ? try SenderKey(TestJWK.named("sender").keyset(backend).entries[0]) : nil
    }

    func verifier(_ backend: any CryptoBackend) throws -> (skid: KeyID, key: any VerificationKey)? {
        guard isSigned else { return nil }
        let keyset = try TestJWK.named("sender").withoutPrivateKey.keyset(backend)
        let kid = keyset.keyIDs[0]
        return (kid, try TrustedSenders(keyset).verificationKey(kid, at: UnixTime(0)).key)
    }

    func seal(_ message: [UInt8], _ backend: any CryptoBackend) throws -> [UInt8] {
        try Envelope.seal(message, to: recipient(backend), signer: signer(backend), topic: Topic("com.example.app"))
    }

    func open(_ sealed: [UInt8], _ backend: any CryptoBackend, topic: String = "com.example.app") throws -> [UInt8] {
        try Envelope.open(sealed, with: recipientKey(backend), signedBy: verifier(backend), topic: Topic(topic))
    }
}
