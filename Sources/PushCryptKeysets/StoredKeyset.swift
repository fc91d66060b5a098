package import PushCryptCore

/// A keyset of the keystore with its keys, and how they are protected.
package struct StoredKeyset: Sendable {
    package var metadata: KeysetMetadata
    /// Of every key that isn't destroyed.
    package var records: [KeyID: KeyRecord]
    package var protection: Protection
    /// What unlocked it, for writing it again; nil for plain text.
    package var secret: KeysetSecret?

    package init(
        metadata: KeysetMetadata, records: [KeyID: KeyRecord], protection: Protection, secret: KeysetSecret?
    ) {
        self.metadata = metadata
        self.records = records
        self.protection = protection
        self.secret = secret
    }

    /// The keys that are left, for sealing and opening.
    ///
    /// - Throws: `KeyError` where all are destroyed.
    package func keyset() throws -> Keyset {
        let entries = metadata.timeline.keys.compactMap { key in
            records[key.kid].map { record in
                Keyset.Entry(record, key.lifecycle, demandsPSK: metadata.traits[key.kid]?.demandsPSK)
            }
        }
        return try Keyset(entries, sequence: metadata.sequence, updatedAt: metadata.timeline.updatedAt)
    }
}
