public import PushCryptCore
package import PushCryptPrimitives

/// One key of this device with its lifecycle: a key pair with its psk, or a device key of a shared master.
public struct DeviceKey: Sendable {
    /// Contains one key.
    private let keyset: Keyset

    package init(_ record: KeyRecord, _ lifecycle: KeyLifecycle, writtenAt: UnixTime) throws(DeviceKeyError) {
        try self.init(Keyset.Entry(record, lifecycle), sequence: 1, writtenAt: writtenAt)
    }

    private init(_ entry: Keyset.Entry, sequence: Int64, writtenAt time: UnixTime?) throws(DeviceKeyError) {
        do { keyset = try Keyset([entry], sequence: sequence, updatedAt: time) } catch {
            throw DeviceKeyError(.failed, "\(error)")
        }
    }

    /// Reads the output of ``jwkSet()``, UTF-8 JSON with a private key: wipe it afterwards.
    ///
    /// - Parameter kid: the id under which the key was stored.
    /// - Throws: `DeviceKeyError` with `damaged`, also if it is another key; `unsupportedSuite`.
    public init(jwkSet: [UInt8], kid: KeyID) throws(DeviceKeyError) {
        do { keyset = try Keyset(json: jwkSet) } catch {
            let isUnsupported = (error as? KeyError)?.code == .unsupportedSuite
            throw DeviceKeyError(
                isUnsupported ? .unsupportedSuite : .damaged, "the stored key \(kid) can't be read: \(error)")
        }
        guard keyset.keyIDs == [kid] else {
            throw DeviceKeyError(.damaged, "another key is stored under the id \(kid)")
        }
    }

    /// Returns the key with its private half and its lifecycle as a JWK set, UTF-8 JSON. The caller wipes the result.
    ///
    /// - Throws: `DeviceKeyError` with `unsuitable` for a key in a Secure Enclave.
    public func jwkSet() throws(DeviceKeyError) -> [UInt8] {
        do { return try keyset.jwkSet(withHistory: true) } catch {
            throw DeviceKeyError(.unsuitable, "key \(kid) can't be written: \(error)")
        }
    }

    private var entry: Keyset.Entry { keyset.entries[0] }
    package var record: KeyRecord { entry.record }

    /// The id of the key.
    public var kid: KeyID { record.kid }
    /// Whether the key is a key pair or a device key of a shared master.
    public var kind: KeyKind { keyset.kind }
    /// The times of creation, activation, retirement, revocation and expiry.
    public var lifecycle: KeyLifecycle { entry.lifecycle }
    /// When the key was last written. Its state is never evaluated for an earlier time.
    public var writtenAt: UnixTime? { keyset.updatedAt }

    /// Returns the key with another lifecycle; throws `failed`. A revocation always stays: the key may have been revoked
    /// after the new lifecycle was planned.
    public func changed(to lifecycle: KeyLifecycle, at time: UnixTime) throws(DeviceKeyError) -> DeviceKey {
        var changed = entry
        changed.lifecycle = lifecycle
        changed.lifecycle.revokedAt = [self.lifecycle.revokedAt, lifecycle.revokedAt].compactMap(\.self).min()
        return try DeviceKey(changed, sequence: keyset.sequence + 1, writtenAt: max(time, keyset.updatedAt ?? time))
    }

    package func replacing(_ record: KeyRecord) throws(DeviceKeyError) -> DeviceKey {
        try DeviceKey(entry.withRecord(record), sequence: keyset.sequence, writtenAt: keyset.updatedAt)
    }

    /// Returns the key for opening.
    ///
    /// - Throws: `FailureClass`: `keyExpired`, `keyRevoked`; `unknownKey` if the private half or the psk is missing.
    public func recipientKey(at time: UnixTime) throws(FailureClass) -> RecipientKey {
        try KeysetKeyring(keyset).key(kid, at: time)
    }

    /// Whether the other key is the same key, not only a key with the same id: collisions of 64-bit ids can be computed. A
    /// key pair with another psk, or another device's key of the same master, is a different key.
    public func isSameKey(as other: DeviceKey) -> Bool { record.isSameKey(as: other.record) }

    /// Makes a key pair in memory. The pair awaits its registration.
    package static func generate(
        _ suite: Suite, withPSK: Bool = false, psk: SecretBytes? = nil, at time: UnixTime
    ) throws(DeviceKeyError) -> DeviceKey {
        guard let type = suite.keyPairType else {
            throw DeviceKeyError(.unsuitable, "a device makes key pairs; \(suite) has none")
        }
        let record: KeyRecord
        do {
            let new = try KeyRecord.generate(.recipient, type: type, psk: withPSK, backend: DefaultBackend.shared)
            record = psk.map(new.withPSK) ?? new
        } catch let error as CryptoError where error.code == .unsupportedAlgorithm {
            throw DeviceKeyError(.unsupportedSuite, "\(suite): \(error.reason)")
        } catch {
            throw DeviceKeyError(.failed, "can't make a key pair: \(error)")
        }
        return try DeviceKey(record, KeyLifecycle(createdAt: time), writtenAt: time)
    }
}
