import PushCryptPrimitives

extension KeyRecord {
    /// Whether the other one is the same key, and not one whose id is the same: 64 bits can be collided on purpose. A key
    /// pair with another psk, or another device's key of the same master, is another key. A private key and its public
    /// half are the same key.
    package func isSameKey(as other: KeyRecord) -> Bool {
        guard kid == other.kid, let own = try? thumbprint(), let theirs = try? other.thumbprint() else { return false }
        return constantTimeEqual(own.bytes, theirs.bytes) && belongings == other.belongings
    }

    /// What belongs to a key beside what its thumbprint covers.
    private var belongings: Belongings {
        switch material {
        case .recipient(_, _, let psk): Belongings(psk: psk, device: nil)
        case .shared(_, let device): Belongings(psk: nil, device: device)
        case .sender: Belongings(psk: nil, device: nil)
        }
    }

    private struct Belongings: Equatable {
        let psk: SecretBytes?
        let device: DeviceID?
    }
}

extension Keyset {
    /// Whether both hold the same keys, in whatever order, with the same private halves, pre-shared keys and lifecycles,
    /// under the same `seq` and `updatedAt`.
    package func hasSameContent(as other: Keyset) -> Bool {
        guard sequence == other.sequence, updatedAt == other.updatedAt, entries.count == other.entries.count else {
            return false
        }
        return entries.allSatisfy { entry in other.entry(entry.record.kid)?.hasSameContent(as: entry) ?? false }
    }
}

extension Keyset.Entry {
    fileprivate func hasSameContent(as other: Keyset.Entry) -> Bool {
        lifecycle == other.lifecycle && demandsPSK == other.demandsPSK
            && record.isPrivateAsymmetric == other.record.isPrivateAsymmetric && record.isSameKey(as: other.record)
    }
}
