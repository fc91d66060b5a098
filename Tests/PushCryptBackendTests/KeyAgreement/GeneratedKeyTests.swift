import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@Suite struct GeneratedKeyTests {
    @Test(
        "generated keys are distinct, agree on one secret and can be exported", arguments: DHGroup.allCases,
        Backends.all)
    func generatedKeysAgreeAndExport(_ group: DHGroup, _ named: NamedBackend) throws {
        for _ in 0..<20 {
            let first = try named.backend.generateKeyPair(group)
            let second = try named.backend.generateKeyPair(group)
            let shared = try first.sharedSecret(with: second.publicKey)
            #expect(shared.count == DHGroup.sharedSecretByteCount)
            #expect(try second.sharedSecret(with: first.publicKey) == shared)

            let serialized = try first.serialized
            #expect(serialized.count == DHGroup.privateKeyByteCount)
            let imported = try named.backend.privateKey(group, serialized.bytes)
            #expect(imported.publicKey.serialized == first.publicKey.serialized)
            #expect(first.publicKey.serialized.count == group.publicKeyByteCount)
            let importedPublic = try named.backend.publicKey(group, second.publicKey.serialized.bytes)
            #expect(try imported.sharedSecret(with: importedPublic) == shared)
        }
    }
}
