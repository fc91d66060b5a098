public import PushCryptCore
import PushCryptPrimitives

/// Where the device's own keys are kept: the extension reads them as a ``RecipientKeyring``, the app changes them through
/// ``DeviceIdentity``.
///
/// Every function says `locked` when it can't tell. What it can't read is never taken for absent: an app that did so
/// would make a new key after each reboot, and its pushes would stay placeholders.
public protocol DeviceKeyStorage: RecipientKeyring {
    /// The ids of all keys, damaged ones too, in their order.
    ///
    /// - Throws: `DeviceKeyError` with `locked` where the list may be incomplete.
    func keyIDs() throws(DeviceKeyError) -> [KeyID]

    /// One key; memory for no more than that.
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

    /// Gives a key another life, in one step.
    ///
    /// - Throws: `DeviceKeyError` with `notFound`, `locked`, `damaged`.
    func update(_ kid: KeyID, to lifecycle: KeyLifecycle, at time: UnixTime) throws(DeviceKeyError)

    /// Erases a key; nothing where there is none.
    func remove(_ kid: KeyID) throws(DeviceKeyError)
}

extension DeviceKeyStorage {
    public func key(_ id: KeyID, at time: UnixTime) throws(FailureClass) -> RecipientKey {
        let key: DeviceKey
        do throws(DeviceKeyError) {
            key = try load(id)
        } catch {
            throw error.failureClass
        }
        return try key.recipientKey(at: time)
    }

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
