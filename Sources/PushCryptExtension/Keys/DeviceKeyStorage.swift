public import PushCryptCore
import PushCryptPrimitives

/// Storage of the device's own keys: the extension reads them as a ``RecipientKeyring``, the app changes them through
/// ``DeviceIdentity``.
///
/// Every function throws `locked` if the keys can't be read. A key that can't be read is never taken for absent: an app that
/// did so would make a new key after each restart, and its pushes would stay placeholders.
public protocol DeviceKeyStorage: RecipientKeyring {
    /// The ids of all keys, also damaged ones, in their order.
    ///
    /// - Throws: `DeviceKeyError` with `locked` if the list may be incomplete.
    func keyIDs() throws(DeviceKeyError) -> [KeyID]

    /// Loads one key, and no other, into memory.
    ///
    /// - Throws: `DeviceKeyError` with `notFound`, `locked`, `damaged`.
    func load(_ kid: KeyID) throws(DeviceKeyError) -> DeviceKey

    /// Makes a key pair and keeps it, in one step. It opens from now on, and awaits its registration.
    ///
    /// - Parameters:
    ///   - suite: `p256` or `x25519`.
    ///   - withPSK: whether a pre-shared key goes with it.
    /// - Throws: `DeviceKeyError` with `locked`, `unsuitable` for another suite.
    func make(_ suite: Suite, withPSK: Bool, at time: UnixTime) throws(DeviceKeyError) -> DeviceKey

    /// Keeps a key. One that is there already stays as it is.
    ///
    /// - Throws: `DeviceKeyError` with `conflict` when another key has its id: that one stays.
    func add(_ key: DeviceKey) throws(DeviceKeyError)

    /// Changes the lifecycle of a key, in one step.
    ///
    /// - Throws: `DeviceKeyError` with `notFound`, `locked`, `damaged`.
    func update(_ kid: KeyID, to lifecycle: KeyLifecycle, at time: UnixTime) throws(DeviceKeyError)

    /// Erases a key, if there is one.
    ///
    /// - Throws: `DeviceKeyError` with `locked`.
    func remove(_ kid: KeyID) throws(DeviceKeyError)
}

extension DeviceKeyStorage {
    /// Loads the key and checks that it opens at that time.
    public func key(_ id: KeyID, at time: UnixTime) throws(FailureClass) -> RecipientKey {
        let key: DeviceKey
        do throws(DeviceKeyError) {
            key = try load(id)
        } catch {
            throw error.failureClass
        }
        return try key.recipientKey(at: time)
    }

    /// Makes a key pair in memory and adds it.
    public func make(_ suite: Suite, withPSK: Bool, at time: UnixTime) throws(DeviceKeyError) -> DeviceKey {
        let key = try DeviceKey.generate(suite, withPSK: withPSK, at: time)
        try add(key)
        return key
    }
}

extension DeviceKey {
    /// A fresh key pair that awaits its registration, in memory only.
    package static func generate(
        _ suite: Suite, withPSK: Bool, at time: UnixTime
    ) throws(DeviceKeyError) -> DeviceKey {
        guard let group = suite.group else {
            throw DeviceKeyError(.unsuitable, "a device makes key pairs, P-256 or X25519; \(suite) has none")
        }
        let record: KeyRecord
        do {
            record = try KeyRecord.generate(.recipient, group: group, psk: withPSK, backend: DefaultBackend.shared)
        } catch {
            throw DeviceKeyError(.failed, "no key pair could be made: \(error)")
        }
        return try DeviceKey(record, KeyLifecycle(createdAt: time), writtenAt: time)
    }
}
