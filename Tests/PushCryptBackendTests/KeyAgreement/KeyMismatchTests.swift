import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@Suite struct KeyMismatchTests {
    @Test(
        "a key of the other backend throws keyMismatch, and a key of the same backend agrees",
        arguments: Backends.pairs, DHGroup.allCases)
    func otherBackend(_ pair: BackendPair, _ group: DHGroup) throws {
        let ours = try pair.first.generateKeyPair(group)
        let theirs = try pair.second.generateKeyPair(group)
        let code = try cryptoErrorCode { try ours.sharedSecret(with: theirs.publicKey) }
        #expect(code == (pair.first.name == pair.second.name ? nil : .keyMismatch))
    }

    @Test("a key of the other group throws keyMismatch", arguments: Backends.pairs)
    func otherGroup(_ pair: BackendPair) throws {
        for (group, otherGroup) in [(DHGroup.p256, DHGroup.x25519), (.x25519, .p256)] {
            let ours = try pair.first.generateKeyPair(group)
            let theirs = try pair.second.generateKeyPair(otherGroup)
            #expect(try cryptoErrorCode { try ours.sharedSecret(with: theirs.publicKey) } == .keyMismatch)
        }
    }
}
