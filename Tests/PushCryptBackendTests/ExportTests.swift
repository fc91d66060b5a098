import PushCryptPrimitives
import PushCryptTestSupport
import Testing

/// An export is a copy: wiping it must not wipe the library's key.
@Suite struct ExportTests {
    @Test(
        "a key agreement key that was exported still agrees on the same secret", arguments: KeyPairType.groups,
        Backends.all)
    func keyAgreementKeyWorksAfterwards(_ type: KeyPairType, _ named: NamedBackend) throws {
        let seed = [0x7f] + [UInt8](repeating: 5, count: 31)
        for key in [try named.backend.generateKeyPair(type), try named.backend.privateKey(type, seed.bytes)] {
            let peer = try named.backend.generateKeyPair(type)
            let shared = try key.sharedSecret(with: peer.publicKey)
            let publicKey = key.publicKey.serialized
            let first = try key.serialized.revealed
            let second = try key.serialized.revealed
            #expect(first == second)
            #expect(key.publicKey.serialized == publicKey)
            #expect(try key.sharedSecret(with: peer.publicKey) == shared)
        }
    }

    @Test("a signing key that was exported still signs", arguments: Backends.all)
    func signingKeyWorksAfterwards(_ named: NamedBackend) throws {
        let seed = [UInt8](repeating: 5, count: 32)
        let message = Array("message".utf8)
        for key in [try named.backend.generateSigningKey(), try named.backend.signingKey(seed.bytes)] {
            let first = try key.serialized.revealed
            let second = try key.serialized.revealed
            #expect(first == second)
            let signature = try key.signature(for: message.bytes)
            #expect(key.publicKey.accepts(signature, for: message))
        }
    }
}
