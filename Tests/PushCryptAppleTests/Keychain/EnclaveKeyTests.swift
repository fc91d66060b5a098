import Foundation
import PushCryptApple
import PushCryptCore
import PushCryptPrimitives
import Security
import Testing

@Suite("Secure Enclave pairs") struct EnclaveKeyTests {
    @Test("a push to a Secure Enclave pair opens", arguments: [true, false])
    func opens(withPSK: Bool) throws {
        let place = TestKeychain(usesSecureEnclave: true)
        let record = try place.identity(withPSK: withPSK).makeIfNeeded()
        _ = try place.open(record).get()
        #expect(place.enclaveKeys.count == 1)
    }

    @Test("the private half is not in the keychain's data and can't be exported") func nothingInClear() throws {
        let place = TestKeychain(usesSecureEnclave: true)
        let kid = try place.register().kid
        let text = try place.text(kid)
        #expect(!text.contains("\"d\"") && text.contains("\"psk\""))
        let key = try place.keyring.load(kid)
        expectDeviceKeyError(.unsuitable) { try key.jwkSet() }
    }

    @Test("an X25519 pair is made outside the Secure Enclave") func otherGroup() throws {
        let place = TestKeychain(usesSecureEnclave: true)
        let record = try place.identity(suite: .x25519).makeIfNeeded()
        _ = try place.open(record).get()
        #expect(place.enclaveKeys.isEmpty)
    }

    @Test("a keyring without the Secure Enclave still opens with existing pairs") func switchedOff() throws {
        let place = TestKeychain(usesSecureEnclave: true)
        let kid = try place.register().kid
        let keyring = KeychainKeyring(accessGroup: place.group, usesSecureEnclave: false)
        _ = try keyring.key(kid, at: TestKeychain.now)
    }

    @Test("a record whose Secure Enclave key is missing is unknownKey, and a new pair can be made") func gone() throws {
        let place = TestKeychain(usesSecureEnclave: true)
        let kid = try place.register().kid
        let query: [String: Any] = [
            kSecClass as String: kSecClassKey, kSecAttrAccessGroup as String: place.group,
        ]
        #expect(SecItemDelete(query as CFDictionary) == errSecSuccess)
        place.expectNoKey(.unknownKey, kid)
        #expect(try place.identity().makeIfNeeded().kid != kid)
    }

    @Test("a key that a crash left without a record is removed when the next one is made") func orphans() throws {
        let place = TestKeychain(usesSecureEnclave: true)
        let record = try place.register()
        let query: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword, kSecAttrAccount as String: record.kid.description,
            kSecAttrAccessGroup as String: place.group,
        ]
        #expect(SecItemDelete(query as CFDictionary) == errSecSuccess)
        let new = try place.register()
        #expect(place.enclaveKeys.count == 1)
        _ = try place.open(new).get()
    }

    @Test("a private half that belongs to another record is refused") func otherRecord() throws {
        let place = TestKeychain(usesSecureEnclave: true)
        let (first, second) = (try place.register(), try place.identity().rotate())
        let (left, right) = (try place.keyring.load(first.kid), try place.keyring.load(second.kid))
        guard case .recipient(_, let privateKey?, _) = right.record.material else {
            Issue.record("no private half")
            return
        }
        #expect(throws: KeyError.self) { try left.record.withPrivateKey(privateKey) }
        #expect(throws: CryptoError.self) { try privateKey.serialized }
    }

    @Test("both halves of a pair compute the same shared secret") func agreement() throws {
        let place = TestKeychain(usesSecureEnclave: true)
        let key = try place.keyring.load(place.register().kid)
        guard case .recipient(let publicKey, let privateKey?, _) = key.record.material else {
            Issue.record("no private half")
            return
        }
        let peer = try DefaultBackend.shared.generateKeyPair(.p256)
        #expect(try privateKey.sharedSecret(with: peer.publicKey) == peer.sharedSecret(with: publicKey))
        let wrong = try DefaultBackend.shared.generateKeyPair(.x25519)
        let error = #expect(throws: CryptoError.self) { try privateKey.sharedSecret(with: wrong.publicKey) }
        #expect(error?.code == .keyMismatch)
    }
}
