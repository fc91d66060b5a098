public import PushCryptCore
import PushCryptPrimitives

/// One key of this device with its lifecycle, as a storage holds it: a key pair with its psk, or a device key of a
/// shared master.
public struct DeviceKey: Sendable {
    /// Of one key.
    private let keyset: Keyset

    private init(_ keyset: Keyset) {
        self.keyset = keyset
    }

    package init(_ record: KeyRecord, _ lifecycle: KeyLifecycle, writtenAt: UnixTime) throws(DeviceKeyError) {
        try self.init(Keyset.Entry(record, lifecycle), sequence: 1, writtenAt: writtenAt)
    }

    private init(_ entry: Keyset.Entry, sequence: Int64, writtenAt: UnixTime?) throws(DeviceKeyError) {
        do {
            keyset = try Keyset([entry], sequence: sequence, updatedAt: writtenAt)
        } catch {
            throw DeviceKeyError(.failed, "\(error)")
        }
    }

    /// Reads what ``jwkSet()`` wrote.
    ///
    /// - Parameters:
    ///   - jwkSet: UTF-8 JSON with a private key in it: wipe it afterwards.
    ///   - kid: the key's id, by which it was found.
    /// - Throws: `DeviceKeyError` with `damaged`, also for another key.
    public init(jwkSet: [UInt8], kid: KeyID) throws(DeviceKeyError) {
        let keyset: Keyset
        do {
            keyset = try Keyset(json: jwkSet)
        } catch {
            throw DeviceKeyError(.damaged, "the stored key \(kid) can't be read: \(error)")
        }
        guard keyset.keyIDs == [kid] else {
            throw DeviceKeyError(.damaged, "another key is stored in the place of key \(kid)")
        }
        self.init(keyset)
    }

    /// The key as a JWK set of one, UTF-8 JSON: its private half and its lifecycle. The caller wipes the result.
    ///
    /// - Throws: `DeviceKeyError` with `unsuitable` for a key in a Secure Enclave.
    public func jwkSet() throws(DeviceKeyError) -> [UInt8] {
        do {
            return try keyset.jwkSet(withHistory: true)
        } catch {
            throw DeviceKeyError(.unsuitable, "key \(kid) can't be written: \(error)")
        }
    }

    private var entry: Keyset.Entry { keyset.entries[0] }
    package var record: KeyRecord { entry.record }

    /// The id of the key.
    public var kid: KeyID { record.kid }
    /// Whether it is a key pair or a device key of a shared master.
    public var kind: KeyKind { keyset.kind }
    /// When it was created, activated, retired, revoked, and when it expires.
    public var lifecycle: KeyLifecycle { entry.lifecycle }
    /// When it was last written. Its state is evaluated no earlier than this.
    public var writtenAt: UnixTime? { keyset.updatedAt }

    /// The same key with another lifecycle. A revocation stays in any case: the key may have been revoked after the new
    /// lifecycle was decided on.
    ///
    /// - Throws: `DeviceKeyError` with `failed`.
    public func changed(to lifecycle: KeyLifecycle, at time: UnixTime) throws(DeviceKeyError) -> DeviceKey {
        var changed = entry
        changed.lifecycle = lifecycle
        changed.lifecycle.revokedAt = [self.lifecycle.revokedAt, lifecycle.revokedAt].compactMap(\.self).min()
        return try DeviceKey(
            changed, sequence: keyset.sequence + 1, writtenAt: max(time, keyset.updatedAt ?? time))
    }

    package func replacing(_ record: KeyRecord) throws(DeviceKeyError) -> DeviceKey {
        try DeviceKey(entry.withRecord(record), sequence: keyset.sequence, writtenAt: keyset.updatedAt)
    }

    /// The key that the extension opens with.
    ///
    /// - Throws: `FailureClass`: `keyExpired`, `keyRevoked`; `unknownKey` where the private half or the psk is missing.
    public func recipientKey(at time: UnixTime) throws(FailureClass) -> RecipientKey {
        try KeysetKeyring(keyset).key(kid, at: time)
    }

    /// Whether the other one is the same key, and not only one with the same id: ids have 64 bits, for which collisions can
    /// be computed. A key pair with another psk, or another device's key of the same master, is another key.
    public func isSameKey(as other: DeviceKey) -> Bool {
        record.isSameKey(as: other.record)
    }
}
