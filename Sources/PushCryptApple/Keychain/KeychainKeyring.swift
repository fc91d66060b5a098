#if canImport(Security)
import Foundation
public import PushCryptCore
public import PushCryptExtension
public import PushCryptPrimitives
import Security

/// Stores keys in the keychain, in an access group that the app and its extension share.
///
/// | item             | service         | account | data                                                         |
/// | ---------------- | --------------- | ------- | ------------------------------------------------------------ |
/// | generic password | SERVICE         | kid     | a JWK set of one key with its lifecycle; if the private half is in the Secure Enclave, `kSecAttrGeneric` contains its tag instead |
/// | generic password | SERVICE.probe   | probe   | none; proves that the keychain is unlocked                     |
/// | key              | label: SERVICE  |         | a P-256 private key in the Secure Enclave                      |
///
/// All are `kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly`, because pushes are received while the device is locked, and a
/// key must never move to another device, for example by a backup. Items remain when the app is deleted; call
/// `DeviceIdentity.eraseAll()` when the user signs out.
///
/// Each read or write of a key outside the Secure Enclave uses a `Data` value made by the system, which can't be wiped.
public struct KeychainKeyring: DeviceKeyStorage {
    let items: KeychainItems
    let enclave: EnclaveKeys
    private let probe: KeychainProbe
    private let usesSecureEnclave: Bool
    /// How long the keys are used.
    public let period: KeyPeriod

    /// Creates a keyring.
    ///
    /// - Parameters:
    ///   - accessGroup: a group in the entitlements of app and extension, with its prefix: a keychain access group
    ///     (`TEAMID.com.example.shared`) or an app group.
    ///   - service: distinguishes these items from others in the group.
    ///   - usesSecureEnclave: whether new P-256 pairs are made in the Secure Enclave, where they can't be read; check
    ///     CryptoKit's `SecureEnclave.isAvailable` first. Existing pairs are used in any case.
    public init(
        accessGroup: String, service: String = "pushcrypt", usesSecureEnclave: Bool, period: KeyPeriod = .renewed()
    ) {
        self.period = period
        items = KeychainItems(service: service, accessGroup: accessGroup)
        probe = KeychainProbe(beside: items)
        enclave = EnclaveKeys(label: service, accessGroup: accessGroup)
        self.usesSecureEnclave = usesSecureEnclave
    }

    /// Returns the sorted ids of all keys. Throws `locked`, `notEntitled`, `failed`.
    public func keyIDs() throws(DeviceKeyError) -> [KeyID] {
        // A list that is read before the first unlock may be incomplete.
        try probe.requireUnlocked()
        return try items.list().compactMap { KeyID($0.account) }.sorted()
    }

    /// Loads one key; throws `notFound`, `locked`, `damaged`, `notEntitled`, `failed`. A private half that was made in the
    /// Secure Enclave stays there.
    public func load(_ kid: KeyID) throws(DeviceKeyError) -> DeviceKey {
        let (key, tag) = try read(kid)
        guard let tag else { return key }
        guard let privateKey = try enclave.find(tag) else {
            throw DeviceKeyError(.damaged, "the private half of key \(kid) is no longer in the Secure Enclave")
        }
        do { return try key.replacing(try key.record.withPrivateKey(privateKey)) } catch {
            throw DeviceKeyError(.damaged, "\(error)")
        }
    }

    /// Stores a key; one that is already stored stays unchanged. Throws `conflict`, `locked`, `notEntitled`, `failed`.
    public func add(_ key: DeviceKey) throws(DeviceKeyError) {
        guard try !items.add(key.kid.description, Self.data(key)) else { return }
        guard try load(key.kid).isSameKey(as: key) else {
            throw DeviceKeyError(.conflict, "another key has the id \(key.kid); it is not replaced")
        }
    }

    /// Makes and stores a key pair; a P-256 pair in the Secure Enclave if the keyring uses it. Throws `locked`,
    /// `notEntitled`, `unsuitable` for a suite without key pairs, `failed`.
    public func make(_ suite: Suite, withPSK: Bool, at time: UnixTime) throws(DeviceKeyError) -> DeviceKey {
        try probe.requireUnlocked()
        guard usesSecureEnclave, suite == .p256 else {
            let key = try DeviceKey.generate(suite, withPSK: withPSK, at: time)
            try add(key)
            return key
        }
        return try makeInEnclave(withPSK: withPSK, at: time)
    }

    /// Changes the lifecycle of a key in one step. Throws `notFound`, `locked`, `damaged`, `notEntitled`, `failed`.
    public func update(_ kid: KeyID, to lifecycle: KeyLifecycle, at time: UnixTime) throws(DeviceKeyError) {
        try items.update(kid.description, Self.data(try read(kid).key.changed(to: lifecycle, at: time)))
    }

    /// Erases a key if it exists. The record is removed first: a crash after that leaves a key in the Secure Enclave, which
    /// is removed when the next one is made.
    public func remove(_ kid: KeyID) throws(DeviceKeyError) {
        try probe.requireUnlocked()
        guard let item = try items.read(kid.description) else { return }
        try items.remove(kid.description)
        if let tag = item.generic { try enclave.remove(tag) }
    }

    /// Reads the day keys; nil if there are none, and before the first unlock perhaps also if there are. Throws `locked`,
    /// `notEntitled`, `failed`.
    public func dayKeys() throws(DeviceKeyError) -> SecretBytes? {
        guard let item = try items.read(Self.daysAccount) else { return nil }
        var text = [UInt8](item.data ?? Data())
        defer { wipe(&text) }
        return SecretBytes(copying: text.bytes)
    }

    /// Replaces the day keys: in one call of the keychain, which changes the item only if it still has the old digest. Throws
    /// `locked`, `notEntitled`, `failed`.
    public func replaceDayKeys(_ old: SecretBytes?, by new: SecretBytes?) throws(DeviceKeyError) -> Bool {
        guard let new else {
            try items.remove(Self.daysAccount)
            return true
        }
        var text = Array(new.bytes)
        defer { wipe(&text) }
        let data = Data(text)
        guard let old else {
            try probe.requireUnlocked()
            return try items.add(Self.daysAccount, data, generic: Self.digest(new))
        }
        return try items.update(Self.daysAccount, data, replacing: Self.digest(old), by: Self.digest(new))
    }

    private static let daysAccount = "days"

    private static func digest(_ item: SecretBytes) throws(DeviceKeyError) -> Data {
        do { return Data(try DefaultBackend.shared.sha256(item.bytes)) } catch {
            throw DeviceKeyError(.failed, "can't hash the day keys: \(error)")
        }
    }

    private func read(_ kid: KeyID) throws(DeviceKeyError) -> (key: DeviceKey, tag: Data?) {
        guard let item = try found(kid) else { throw DeviceKeyError(.notFound, "the keychain has no key \(kid)") }
        var text = [UInt8](item.data ?? Data())
        defer { wipe(&text) }
        return (try DeviceKey(jwkSet: text, kid: kid), item.generic)
    }

    private func found(_ kid: KeyID) throws(DeviceKeyError) -> KeychainItems.Item? {
        if let item = try items.read(kid.description) { return item }
        // Before the first unlock an existing item may not be found. If the device was unlocked after the first read, the
        // second read finds it.
        try probe.requireUnlocked()
        return try items.read(kid.description)
    }

    static func data(_ key: DeviceKey) throws(DeviceKeyError) -> Data {
        var text = try key.jwkSet()
        defer { wipe(&text) }
        return Data(text)
    }
}

/// Pairs whose private half is made in the Secure Enclave and stays there. The keychain item contains the public half, the
/// psk and the lifecycle.
extension KeychainKeyring {
    /// Serialises the creation of keys, which has two steps.
    private static let making = Locked(())

    func makeInEnclave(withPSK: Bool, at time: UnixTime) throws(DeviceKeyError) -> DeviceKey {
        try Self.making.withLock { _ in
            Result { () throws(DeviceKeyError) in
                // A crash may have left keys without a record.
                let known = Set(try items.list().compactMap(\.generic))
                for tag in try enclave.tags() where !known.contains(tag) { try enclave.remove(tag) }
                let (key, tag) = try enclavePair(withPSK: withPSK, at: time)
                let stored = try key.replacing(key.record.publicRecord(keepingPSK: true))
                guard try items.add(key.kid.description, Self.data(stored), generic: tag) else {
                    throw DeviceKeyError(.conflict, "another key has the id \(key.kid); it is not replaced")
                }
                return key
            }
        }.get()
    }

    /// Makes pairs until the kid doesn't begin with `-`, like ``KeyRecord/generate(_:group:psk:backend:)``.
    private func enclavePair(withPSK: Bool, at time: UnixTime) throws(DeviceKeyError) -> (DeviceKey, tag: Data) {
        while true {
            let tag = Data("\(items.service).\(UUID().uuidString)".utf8)
            let record = try Self.record(try enclave.make(tag), withPSK: withPSK)
            guard record.kid.description.hasPrefix("-") else {
                return (try DeviceKey(record, KeyLifecycle(createdAt: time), writtenAt: time), tag)
            }
            try enclave.remove(tag)
        }
    }

    private static func record(_ privateKey: EnclaveKey, withPSK: Bool) throws(DeviceKeyError) -> KeyRecord {
        let backend = DefaultBackend.shared
        do {
            let psk = withPSK ? try backend.randomSecret(count: KeyRecord.secretByteCount) : nil
            return try KeyRecord(
                .recipient(publicKey: privateKey.publicKey, privateKey: privateKey, psk: psk), backend: backend)
        } catch {
            throw DeviceKeyError(.failed, "can't make a key pair: \(error)")
        }
    }
}
#endif
