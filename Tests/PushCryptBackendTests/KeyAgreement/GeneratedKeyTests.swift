import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@Suite struct GeneratedKeyTests {
    @Test(
        "generated keys are distinct, agree on one secret and can be exported", arguments: KeyPairType.groups,
        Backends.all)
    func generatedKeysAgreeAndExport(_ type: KeyPairType, _ named: NamedBackend) throws {
        for _ in 0..<20 {
            let first = try named.backend.generateKeyPair(type)
            let second = try named.backend.generateKeyPair(type)
            let shared = try first.sharedSecret(with: second.publicKey)
            #expect(shared.count == KeyPairType.sharedSecretByteCount)
            #expect(try second.sharedSecret(with: first.publicKey) == shared)

            let serialized = try first.serialized
            #expect(serialized.count == KeyPairType.privateKeyByteCount)
            let imported = try named.backend.privateKey(type, serialized.bytes)
            #expect(imported.publicKey.serialized == first.publicKey.serialized)
            #expect(first.publicKey.serialized.count == type.publicKeyByteCount)
            let importedPublic = try named.backend.publicKey(type, second.publicKey.serialized.bytes)
            #expect(try imported.sharedSecret(with: importedPublic) == shared)
        }
    }
}
