import Foundation
import PushCryptApple
import PushCryptCore
import PushCryptPrimitives
import Security
import Testing

@Suite("pairs of the Secure Enclave") struct EnclaveKeyTests {
    @Test("a push opens by the same HPKE", arguments: [true, false])
    func opens(withPSK: Bool) throws {
        let place = KeychainPlace(usesSecureEnclave: true)
        let record = try place.identity(withPSK: withPSK).makeIfNeeded()
        _ = try place.open(record).get()
        #expect(place.enclaveKeys.count == 1)
    }

    @Test("no private half is in the keychain's data, nor comes out") func nothingInClear() throws {
        let place = KeychainPlace(usesSecureEnclave: true)
        let kid = try place.register().kid
        let text = try place.text(kid)
        #expect(!text.contains("\"d\"") && text.contains("\"psk\""))
        let key = try place.keyring.load(kid)
        expectDeviceKeyError(.unsuitable) { try key.jwkSet() }
    }

    @Test("X25519 is not for it, and is made outside") func otherGroup() throws {
        let place = KeychainPlace(usesSecureEnclave: true)
        let record = try place.identity(suite: .x25519).makeIfNeeded()
        _ = try place.open(record).get()
        #expect(place.enclaveKeys.isEmpty)
    }

    @Test("whoever stops using it still opens with what is there") func switchedOff() throws {
        let place = KeychainPlace(usesSecureEnclave: true)
        let kid = try place.register().kid
        let keyring = KeychainKeyring(accessGroup: place.group, usesSecureEnclave: false)
        _ = try keyring.key(kid, at: KeychainPlace.now)
    }

    @Test("a record whose key is gone is damaged, never locked") func gone() throws {
        let place = KeychainPlace(usesSecureEnclave: true)
        let kid = try place.register().kid
        let query: [String: Any] = [
            kSecClass as String: kSecClassKey, kSecAttrAccessGroup as String: place.group,
        ]
        #expect(SecItemDelete(query as CFDictionary) == errSecSuccess)
        place.expectNoKey(.unknownKey, kid)
        #expect(try place.identity().makeIfNeeded().kid != kid)
    }

    @Test("a key that a crash left without a record goes with the next") func orphans() throws {
        let place = KeychainPlace(usesSecureEnclave: true)
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

    @Test("the private half of another record is refused") func otherRecord() throws {
        let place = KeychainPlace(usesSecureEnclave: true)
        let (first, second) = (try place.register(), try place.identity().rotate())
        let (left, right) = (try place.keyring.load(first.kid), try place.keyring.load(second.kid))
        guard case .recipient(_, let privateKey?, _) = right.record.material else {
            Issue.record("no private half")
            return
        }
        #expect(throws: KeyError.self) { try left.record.withPrivateKey(privateKey) }
        #expect(throws: CryptoError.self) { try privateKey.serialized }
    }

    @Test("both halves agree on what HPKE needs") func agreement() throws {
        let place = KeychainPlace(usesSecureEnclave: true)
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
