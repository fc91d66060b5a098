#if canImport(Security)
import Foundation
public import PushCryptCore
public import PushCryptExtension
import PushCryptPrimitives
import Security

/// Keys in the keychain, in an access group that the app and its extension share.
///
/// | item             | service         | account | data                                                         |
/// | ---------------- | --------------- | ------- | ------------------------------------------------------------ |
/// | generic password | SERVICE         | kid     | a JWK set of one key with its lifecycle; without its private half where that is in the Secure Enclave, whose tag stands in `kSecAttrGeneric` |
/// | generic password | SERVICE.probe   | probe   | nothing: proves that the keychain is unlocked                  |
/// | key              | label: SERVICE  |         | a P-256 private key in the Secure Enclave                      |
///
/// All are `kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly`: pushes come to a locked device, too, and no key ever goes to
/// another one, by a backup or otherwise. Items outlive the app's removal; `DeviceIdentity.eraseAll()` is for users who sign
/// out.
///
/// A key outside the Secure Enclave passes through `Data` values that the system makes and nobody can wipe: one for each
/// reading or writing, gone with the last reference but not overwritten.
public struct KeychainKeyring: DeviceKeyStorage {
    let items: KeychainItems
    let enclave: EnclaveKeys
    private let probe: KeychainProbe
    private let usesSecureEnclave: Bool

    /// - Parameters:
    ///   - accessGroup: of the app's and the extension's entitlements, with its prefix: a keychain access group
    ///     (`TEAMID.com.example.shared`) or an app group.
    ///   - service: tells these items from others in the group.
    ///   - usesSecureEnclave: makes P-256 pairs in the Secure Enclave, where nothing reads them; ask CryptoKit's
    ///     `SecureEnclave.isAvailable` first. Pairs that are there are used in any case.
    public init(accessGroup: String, service: String = "pushcrypt", usesSecureEnclave: Bool) {
        items = KeychainItems(service: service, accessGroup: accessGroup)
        probe = KeychainProbe(beside: items)
        enclave = EnclaveKeys(label: service, accessGroup: accessGroup)
        self.usesSecureEnclave = usesSecureEnclave
    }

    /// The ids of all keys, in their order.
    ///
    /// - Throws: `DeviceKeyError` with `locked`, `notEntitled`, `failed`.
    public func keyIDs() throws(DeviceKeyError) -> [KeyID] {
        // First, for what was listed before the unlocking may be some of them, or none.
        try probe.requireUnlocked()
        return try items.list().compactMap { KeyID($0.account) }.sorted()
    }

    /// One key, with a private half that stays in the Secure Enclave if it was made there.
    ///
    /// - Throws: `DeviceKeyError` with `notFound`, `locked`, `damaged`, `notEntitled`, `failed`.
    public func load(_ kid: KeyID) throws(DeviceKeyError) -> DeviceKey {
        let (key, tag) = try read(kid)
        guard let tag else { return key }
        guard let privateKey = try enclave.find(tag) else {
            throw DeviceKeyError(.damaged, "the private half of key \(kid) isn't in the Secure Enclave any more")
        }
        do {
            return try key.replacing(try key.record.withPrivateKey(privateKey))
        } catch {
            throw DeviceKeyError(.damaged, "\(error)")
        }
    }

    /// Keeps a key. One that is there already stays as it is.
    ///
    /// - Throws: `DeviceKeyError` with `conflict` if another key has its id, `locked`, `notEntitled`, `failed`.
    public func add(_ key: DeviceKey) throws(DeviceKeyError) {
        guard try !items.add(key.kid.description, Self.data(key)) else { return }
        guard try load(key.kid).isSameKey(as: key) else {
            throw DeviceKeyError(.conflict, "another key is called \(key.kid); it is not replaced")
        }
    }

    /// Makes a key pair and keeps it: a P-256 pair in the Secure Enclave if the keyring uses it.
    ///
    /// - Throws: `DeviceKeyError` with `locked`, `notEntitled`, `unsuitable` for a suite without key pairs, `failed`.
    public func make(_ suite: Suite, withPSK: Bool, at time: UnixTime) throws(DeviceKeyError) -> DeviceKey {
        try probe.requireUnlocked()
        guard usesSecureEnclave, suite == .p256 else {
            let key = try DeviceKey.generate(suite, withPSK: withPSK, at: time)
            try add(key)
            return key
        }
        return try makeInEnclave(withPSK: withPSK, at: time)
    }

    /// Changes the lifecycle of a key in one step.
    ///
    /// - Throws: `DeviceKeyError` with `notFound`, `locked`, `damaged`, `notEntitled`, `failed`.
    public func update(_ kid: KeyID, to lifecycle: KeyLifecycle, at time: UnixTime) throws(DeviceKeyError) {
        try items.update(kid.description, Self.data(try read(kid).key.changed(to: lifecycle, at: time)))
    }

    /// The record goes first: what a crash leaves is a key in the Secure Enclave without a name, which the next one that is
    /// made there takes away.
    public func remove(_ kid: KeyID) throws(DeviceKeyError) {
        try probe.requireUnlocked()
        guard let item = try items.read(kid.description) else { return }
        try items.remove(kid.description)
        if let tag = item.generic { try enclave.remove(tag) }
    }

    /// What the keychain holds of a key, and where its private half is if not there.
    private func read(_ kid: KeyID) throws(DeviceKeyError) -> (key: DeviceKey, tag: Data?) {
        guard let item = try found(kid) else { throw DeviceKeyError(.notFound, "the keychain has no key \(kid)") }
        var text = [UInt8](item.data ?? Data())
        defer { wipe(&text) }
        return (try DeviceKey(jwkSet: text, kid: kid), item.generic)
    }

    private func found(_ kid: KeyID) throws(DeviceKeyError) -> KeychainItems.Item? {
        if let item = try items.read(kid.description) { return item }
        // It may be there all the same. The device may be unlocked in between, so that it is looked for once more.
        try probe.requireUnlocked()
        return try items.read(kid.description)
    }

    static func data(_ key: DeviceKey) throws(DeviceKeyError) -> Data {
        var text = try key.jwkSet()
        defer { wipe(&text) }
        return Data(text)
    }
}

/// Pairs whose private half is made in the Secure Enclave and stays there. The record beside it holds the public half, the
/// psk and the lifecycle.
extension KeychainKeyring {
    /// Making a key is two steps, which another one in the same process must not come between.
    private static let making = Locked(())

    func makeInEnclave(withPSK: Bool, at time: UnixTime) throws(DeviceKeyError) -> DeviceKey {
        try Self.making.withLock { _ in
            Result { () throws(DeviceKeyError) in
                try removeUnnamed()
                return try make(withPSK: withPSK, at: time)
            }
        }.get()
    }

    /// Keys that a crash left without a record.
    private func removeUnnamed() throws(DeviceKeyError) {
        let known = Set(try items.list().compactMap(\.generic))
        for tag in try enclave.tags() where !known.contains(tag) { try enclave.remove(tag) }
    }

    private func make(withPSK: Bool, at time: UnixTime) throws(DeviceKeyError) -> DeviceKey {
        let (key, tag) = try enclavePair(withPSK: withPSK, at: time)
        let stored = try key.replacing(key.record.publicRecord(keepingPSK: true))
        guard try items.add(key.kid.description, Self.data(stored), generic: tag) else {
            throw DeviceKeyError(.conflict, "another key is called \(key.kid); it is not replaced")
        }
        return key
    }

    /// As of ``KeyRecord/generate(_:group:psk:backend:)``, its kid doesn't begin with `-`.
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
            throw DeviceKeyError(.failed, "no key pair could be made: \(error)")
        }
    }
}
#endif
