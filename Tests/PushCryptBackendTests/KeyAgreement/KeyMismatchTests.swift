import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@Suite struct KeyMismatchTests {
    @Test(
        "a key of the other backend throws keyMismatch, and a key of the same backend agrees",
        arguments: Backends.pairs, KeyPairType.groups)
    func otherBackend(_ pair: BackendPair, _ type: KeyPairType) throws {
        let ours = try pair.first.generateKeyPair(type)
        let theirs = try pair.second.generateKeyPair(type)
        let code = try cryptoErrorCode { try ours.sharedSecret(with: theirs.publicKey) }
        #expect(code == (pair.first.name == pair.second.name ? nil : .keyMismatch))
    }

    @Test("a key of the other group throws keyMismatch", arguments: Backends.pairs)
    func otherGroup(_ pair: BackendPair) throws {
        for (type, otherGroup) in [(KeyPairType.p256, KeyPairType.x25519), (.x25519, .p256)] {
            let ours = try pair.first.generateKeyPair(type)
            let theirs = try pair.second.generateKeyPair(otherGroup)
            #expect(try cryptoErrorCode { try ours.sharedSecret(with: theirs.publicKey) } == .keyMismatch)
        }
    }
}
