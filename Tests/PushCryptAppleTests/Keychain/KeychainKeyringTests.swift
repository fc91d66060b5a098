import Foundation
import PushCryptApple
import PushCryptPrimitives
import PushCryptSender
import Security
import Testing

@Suite("KeychainKeyring") struct KeychainKeyringTests {
    private static let other = KeyID("AAAAAAAAAAA")!
    private let place = TestKeychain(usesSecureEnclave: false)

    @Test("a push to the registered pair opens", arguments: [Suite.p256, .x25519], [true, false])
    func opens(_ suite: Suite, withPSK: Bool) throws {
        let record = try place.identity(suite: suite, withPSK: withPSK).makeIfNeeded()
        _ = try place.open(record).get()
        #expect(place.enclaveKeys.isEmpty)
    }

    @Test func `keys are found by id, and missing keys throw unknownKey`() throws {
        place.expectNoKey(.unknownKey, Self.other)
        #expect(try place.keyring.keyIDs() == [])
        let kid = try place.register().kid
        _ = try place.keyring.key(kid, at: TestKeychain.now)
        place.expectNoKey(.unknownKey, Self.other)
        #expect(try place.keyring.keyIDs() == [kid])
    }

    /// The conditions are the documented status, a keychain that doesn't find an existing item, and no keychain.
    @Test(
        "before the first unlock every call throws locked and no key is made",
        arguments: [StubKeychain.Condition.locked, .hidden, .unavailable], [false, true])
    func locked(_ condition: StubKeychain.Condition, usesSecureEnclave: Bool) throws {
        let place = TestKeychain(usesSecureEnclave: usesSecureEnclave)
        let record = try place.register()
        let before = place.items.count
        place.set(condition)
        place.expectNoKey(.keyLocked, record.kid)
        place.expectNoKey(.keyLocked, Self.other)
        expectDeviceKeyError(.locked) { try place.keyring.keyIDs() }
        expectDeviceKeyError(.locked) { try place.identity().current() }
        expectDeviceKeyError(.locked) { try place.identity().makeIfNeeded() }
        expectDeviceKeyError(.locked) { try place.identity().rotate() }
        expectDeviceKeyError(.locked) { try place.identity().prune() }
        expectDeviceKeyError(.locked) { try place.identity().eraseAll() }
        #expect(place.items.count == before)
        place.set(.open)
        #expect(try place.identity().makeIfNeeded().kid == record.kid)
        _ = try place.open(record).get()
        #expect(place.items.count == before)
    }

    /// The device was restarted before the app made its first pair.
    @Test("a locked empty keychain throws locked", arguments: [StubKeychain.Condition.locked, .hidden, .unavailable])
    func emptyAndLocked(_ condition: StubKeychain.Condition) throws {
        place.set(condition)
        place.expectNoKey(.keyLocked, Self.other)
        expectDeviceKeyError(.locked) { try place.identity().makeIfNeeded() }
        expectDeviceKeyError(.locked) { try place.keyring.make(.p256, withPSK: true, at: TestKeychain.now) }
        #expect(place.items.isEmpty)
    }

    @Test func `an access group without an entitlement throws notEntitled`() throws {
        place.set(.foreign)
        place.expectNoKey(.internalError, Self.other)
        expectDeviceKeyError(.notEntitled) { try place.identity().makeIfNeeded() }
        #expect(place.items.isEmpty)
    }

    @Test("keychain items stay on this device and are readable after the first unlock", arguments: [false, true])
    func attributes(usesSecureEnclave: Bool) throws {
        let place = TestKeychain(usesSecureEnclave: usesSecureEnclave)
        _ = try place.register()
        #expect(place.items.count == (usesSecureEnclave ? 3 : 2))
        for item in place.items {
            let accessible = item[kSecAttrAccessible as String] as? String
            #expect(accessible == kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly as String)
            #expect(item[kSecAttrAccessGroup as String] as? String == place.group)
        }
        #expect((place.passwords[0][kSecAttrGeneric as String] == nil) == !usesSecureEnclave)
    }

    @Test func `adding another key with the same id throws conflict and keeps the first key`() throws {
        let key = try place.keyring.load(place.register().kid)
        let before = try place.text(key.kid)
        try place.keyring.add(key)
        let without = try key.replacing(key.record.publicRecord(keepingPSK: false))
        expectDeviceKeyError(.conflict) { try place.keyring.add(without) }
        #expect(try place.text(key.kid) == before)
    }

    @Test("a key with damaged keychain data is unknownKey, and its item is kept", arguments: ["", "{", "{}"])
    func damaged(_ text: String) throws {
        let kid = try place.register().kid
        StubKeychain.shared.damage(kid.description, inGroup: place.group, Data(text.utf8))
        place.expectNoKey(.unknownKey, kid)
        #expect(try place.identity().makeIfNeeded().kid != kid)
        #expect(try place.text(kid) == text)
    }

    @Test("after a rotation the old pair opens for the overlap, and prune then erases it", arguments: [false, true])
    func rotation(usesSecureEnclave: Bool) throws {
        let place = TestKeychain(usesSecureEnclave: usesSecureEnclave)
        let old = try place.register()
        let later = TestKeychain.now + 10
        let new = try place.identity(at: later).rotate()
        try place.identity(at: later).confirmRegistered(new)
        _ = try place.open(old).get()
        _ = try place.open(new).get()
        let end = later + 30 * 86_400 + 600
        #expect(try place.identity(at: end).prune() == [old.kid])
        place.expectNoKey(.unknownKey, old.kid)
        _ = try place.open(new).get()
        #expect(place.passwords.count == 1)
        #expect(place.enclaveKeys.count == (usesSecureEnclave ? 1 : 0))
    }

    @Test func `two services in one access group don't see each other's keys`() throws {
        let kid = try place.register().kid
        let second = KeychainKeyring(accessGroup: place.group, service: "second", usesSecureEnclave: false)
        #expect(try second.keyIDs() == [])
        #expect(throws: FailureClass.unknownKey) { try second.key(kid, at: TestKeychain.now) }
    }
}

@Suite("Secure Enclave pairs") struct EnclaveKeyTests {
    private let place = TestKeychain(usesSecureEnclave: true)

    @Test("a push to a Secure Enclave pair opens", arguments: [true, false])
    func opens(withPSK: Bool) throws {
        let record = try place.identity(withPSK: withPSK).makeIfNeeded()
        _ = try place.open(record).get()
        #expect(place.enclaveKeys.count == 1)
    }

    @Test func `the private half is not in the keychain's data and can't be exported`() throws {
        let kid = try place.register().kid
        let text = try place.text(kid)
        #expect(!text.contains("\"d\"") && text.contains("\"psk\""))
        let key = try place.keyring.load(kid)
        expectDeviceKeyError(.unsuitable) { try key.jwkSet() }
    }

    @Test func `an X25519 pair is made outside the Secure Enclave`() throws {
        let record = try place.identity(suite: .x25519).makeIfNeeded()
        _ = try place.open(record).get()
        #expect(place.enclaveKeys.isEmpty)
    }

    @Test func `a keyring without the Secure Enclave still opens with existing pairs`() throws {
        let kid = try place.register().kid
        let keyring = KeychainKeyring(accessGroup: place.group, usesSecureEnclave: false)
        _ = try keyring.key(kid, at: TestKeychain.now)
    }

    @Test func `a record whose Secure Enclave key is missing is unknownKey, and a new pair can be made`() throws {
        let kid = try place.register().kid
        place.delete([kSecClass as String: kSecClassKey])
        place.expectNoKey(.unknownKey, kid)
        #expect(try place.identity().makeIfNeeded().kid != kid)
    }

    @Test func `a key that a crash left without a record is removed when the next one is made`() throws {
        let record = try place.register()
        place.delete([
            kSecClass as String: kSecClassGenericPassword, kSecAttrAccount as String: record.kid.description,
        ])
        let new = try place.register()
        #expect(place.enclaveKeys.count == 1)
        _ = try place.open(new).get()
    }

    @Test func `a private half that belongs to another record is refused`() throws {
        let (first, second) = (try place.register(), try place.identity().rotate())
        let (left, right) = (try place.keyring.load(first.kid), try place.keyring.load(second.kid))
        guard case .recipient(_, let privateKey?, _) = right.record.material else {
            throw KeyError(.wrongKind, "no private half")
        }
        #expect(throws: KeyError.self) { try left.record.withPrivateKey(privateKey) }
        #expect(throws: CryptoError.self) { try privateKey.serialized }
    }

    @Test func `both halves of a pair compute the same shared secret`() throws {
        let key = try place.keyring.load(place.register().kid)
        guard case .recipient(let publicKey, let privateKey?, _) = key.record.material else {
            throw KeyError(.wrongKind, "no private half")
        }
        let peer = try DefaultBackend.shared.generateKeyPair(.p256)
        #expect(try privateKey.sharedSecret(with: peer.publicKey) == peer.sharedSecret(with: publicKey))
        let wrong = try DefaultBackend.shared.generateKeyPair(.x25519)
        let error = #expect(throws: CryptoError.self) { try privateKey.sharedSecret(with: wrong.publicKey) }
        #expect(error?.code == .keyMismatch)
    }
}

/// An access group of the stub keychain that only one test uses.
struct TestKeychain {
    static let (now, topic) = (UnixTime(1_800_000_000), "com.example.app")
    let group = "TEAMID.\(UUID().uuidString)"
    let usesSecureEnclave: Bool
    var period = KeyPeriod.renewed()

    var keyring: KeychainKeyring {
        KeychainKeyring(accessGroup: group, usesSecureEnclave: usesSecureEnclave, period: period)
    }

    func identity(suite: Suite = .p256, withPSK: Bool = true, at time: UnixTime = now) -> DeviceIdentity {
        DeviceIdentity(storage: keyring, options: .init(suite: suite, withPSK: withPSK), clock: { time })
    }

    func register() throws -> RegistrationRecord {
        let record = try identity().makeIfNeeded()
        try identity().confirmRegistered(record)
        return record
    }

    func set(_ condition: StubKeychain.Condition) {
        StubKeychain.shared.setCondition(condition, ofGroup: group)
    }

    func delete(_ query: [String: Any]) {
        let query = query.merging([kSecAttrAccessGroup as String: group]) { $1 }
        #expect(SecItemDelete(query as CFDictionary) == errSecSuccess)
    }

    var items: [[String: Any]] { StubKeychain.shared.items(inGroup: group) }
    var passwords: [[String: Any]] {
        items.filter { $0[kSecAttrAccount as String] as? String != "probe" && !Self.isKey($0) }
    }
    var enclaveKeys: [[String: Any]] { items.filter(Self.isKey) }

    private static func isKey(_ item: [String: Any]) -> Bool {
        item[kSecClass as String] as? String == kSecClassKey as String
    }

    func text(_ kid: KeyID) throws -> String {
        let item = try #require(passwords.first { $0[kSecAttrAccount as String] as? String == kid.description })
        return String(decoding: try #require(item[kSecValueData as String] as? Data), as: UTF8.self)
    }

    func open(_ record: RegistrationRecord) throws -> Result<OpenedPush, FailureClass> {
        let sealer = try Sealer(topic: Self.topic, clock: { Self.now })
        let push = try sealer.seal(
            Array(#"{"aps":{"alert":"Zoë"}}"#.utf8), to: Recipient(jwk: Array(record.jwk.bytes)),
            placeholder: .literal(title: "New message", body: nil))
        return try Opener(topic: Self.topic, keyring: keyring, senders: .unsigned).open(Array(push.json), at: Self.now)
    }

    func expectNoKey(
        _ expected: FailureClass, _ kid: KeyID, location: SourceLocation = #_sourceLocation
    ) {
        do throws(FailureClass) {
            _ = try keyring.key(kid, at: Self.now)
            Issue.record("found", sourceLocation: location)
        } catch {
            #expect(error == expected, sourceLocation: location)
        }
    }
}

func expectDeviceKeyError(
    _ code: DeviceKeyError.Code, location: SourceLocation = #_sourceLocation, _ body: () throws -> some Any
) {
    let error = #expect(throws: DeviceKeyError.self, sourceLocation: location) { _ = try body() }
    if let error { #expect(error.code == code, "\(error)", sourceLocation: location) }
}
