import PushCryptCore

/// A published set of sender keys in one form: its keys in the order of their ids, written as this library writes them, so
/// that equal sets have equal bytes.
struct PinnedSet {
    let keyset: Keyset
    /// RFC 7638 thumbprints, 32 bytes, of the keys that it lists as revoked, whatever time it gives.
    let revoked: Set<[UInt8]>
    let text: [UInt8]

    /// - Throws: `DeviceKeyError` with `unsuitable`.
    init(published json: [UInt8]) throws(DeviceKeyError) {
        do {
            try self.init(json)
        } catch {
            throw DeviceKeyError(.unsuitable, "not a published set of sender keys: \(error)")
        }
    }

    /// - Throws: `DeviceKeyError` with `damaged`.
    init(stored json: [UInt8]) throws(DeviceKeyError) {
        do {
            try self.init(json)
        } catch {
            throw DeviceKeyError(.damaged, "the pinned sender keys can't be read: \(error)")
        }
    }

    private init(_ json: [UInt8]) throws {
        let read = try Keyset(json: json)
        guard !read.entries.contains(where: \.record.isPrivateAsymmetric) else {
            throw KeyError(.wrongKind, "it holds private keys")
        }
        let sorted = read.entries.sorted { $0.record.kid < $1.record.kid }
        keyset = try Keyset(sorted, sequence: read.sequence)
        // Refuses every other kind of keys.
        _ = try TrustedSenders(keyset)
        revoked = Set(try sorted.filter { $0.lifecycle.revokedAt != nil }.map { try $0.record.thumbprint() })
        text = try keyset.jwkSet(withHistory: false)
    }

    /// - Parameter revoked: thumbprints of keys that verify nothing.
    /// - Throws: `DeviceKeyError` with `damaged`.
    func senders(revoked: Set<[UInt8]>) throws(DeviceKeyError) -> TrustedSenders {
        do {
            return try TrustedSenders(keyset, revoked: revoked)
        } catch {
            throw DeviceKeyError(.damaged, "the pinned sender keys can't be used: \(error)")
        }
    }

    /// A key id is 64 bits of a thumbprint: a key can be made on purpose whose id is that of a revoked one.
    ///
    /// - Throws: `DeviceKeyError` with `conflict`.
    func checkNames(revoked: Set<[UInt8]>) throws(DeviceKeyError) {
        guard !revoked.isEmpty else { return }
        for entry in keyset.entries {
            guard let own = try? entry.record.thumbprint() else { continue }
            let hasNameOfAnother = revoked.contains {
                $0 != own && $0.prefix(KeyID.byteCount) == own.prefix(KeyID.byteCount)
            }
            guard !hasNameOfAnother else {
                throw DeviceKeyError(.conflict, "a revoked sender key is called \(entry.record.kid), too")
            }
        }
    }

    /// - Returns: false for the same set.
    /// - Throws: `DeviceKeyError` with `rolledBack` or `conflict`.
    func isNewer(than pinned: PinnedSet) throws(DeviceKeyError) -> Bool {
        let (own, theirs) = (keyset.sequence, pinned.keyset.sequence)
        guard own >= theirs else {
            throw DeviceKeyError(
                .rolledBack, "the set of sender keys is number \(own), older than the pinned \(theirs)")
        }
        if own == theirs {
            guard text == pinned.text else {
                throw DeviceKeyError(.conflict, "another set of sender keys is pinned under number \(own)")
            }
            return false
        }
        for entry in keyset.entries {
            guard let known = pinned.keyset.entry(entry.record.kid) else { continue }
            guard let new = try? entry.record.thumbprint(), new == (try? known.record.thumbprint()) else {
                throw DeviceKeyError(.conflict, "another sender key is called \(entry.record.kid)")
            }
        }
        return true
    }
}
