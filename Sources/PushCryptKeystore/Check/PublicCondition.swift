package import PushCryptCore
package import PushCryptKeysets

/// Whether `public.jwks.json` matches the keyset.
package enum PublicCondition: Hashable, Sendable {
    /// The keyset has no public halves, and there is no file.
    case unneeded
    /// The file equals the public keyset made from the keys and the metadata.
    case whole
    /// The file matches the metadata. Comparing the public keys with the private ones needs the secret.
    case plausible
    case missing
    /// The file is from an earlier change, as an interrupted change leaves it.
    case stale(sequence: Int64)
    /// The file is from a later change than the keyset, which is an old copy.
    case newer(sequence: Int64)
    /// Neither a change nor a crash can leave the file in this state. The text names the fault.
    case foreign(String)

    package init(_ published: [UInt8]?, _ metadata: KeysetMetadata, _ records: [KeyID: KeyRecord]?) {
        guard metadata.kind != .shared else {
            self = published == nil ? .unneeded : .foreign("shared keys have no public half")
            return
        }
        guard let published else {
            self = .missing
            return
        }
        do {
            self = try Self.condition(published, Keyset(json: published), metadata, records)
        } catch {
            self = .foreign("\(error)")
        }
    }

    private static func condition(
        _ bytes: [UInt8], _ set: Keyset, _ metadata: KeysetMetadata, _ records: [KeyID: KeyRecord]?
    ) throws -> PublicCondition {
        guard set.entries.allSatisfy({ !$0.record.isPrivateAsymmetric && !$0.record.hasPSK }) else {
            return .foreign("it contains secrets, which are no longer secret")
        }
        if set.sequence > metadata.sequence { return .newer(sequence: set.sequence) }
        // A restored copy lacks the keys of later changes, which the file may still have after a crash.
        if set.sequence < metadata.sequence, metadata.audit.isRestored { return .stale(sequence: set.sequence) }
        guard Set(set.keyIDs).isSubset(of: metadata.timeline.keys.map(\.kid)) else {
            return .foreign("it contains keys that are not in the keyset")
        }
        if set.sequence < metadata.sequence { return .stale(sequence: set.sequence) }
        let wanted = metadata.timeline.keys.filter { $0.lifecycle.destroyedAt == nil }.map(\.kid)
        let known = records ?? Dictionary(uniqueKeysWithValues: set.entries.map { ($0.record.kid, $0.record) })
        let made = StoredKeyset(metadata: metadata, records: known, protection: .plaintext, secret: nil)
        guard Set(set.keyIDs) == Set(wanted), bytes == (try made.published()) else { return .foreign("it was changed") }
        return records == nil ? .plausible : .whole
    }

    package var isForeign: Bool {
        if case .foreign = self { true } else { false }
    }

    /// Whether an interrupted change can leave this state. The next change writes the file again.
    package var isUnfinished: Bool {
        switch self {
        case .missing, .stale: true
        default: false
        }
    }
}

extension AuditHead {
    /// Whether the last change restored a copy.
    fileprivate var isRestored: Bool {
        lastLines.contains { AuditEntry(line: $0)?.what == AuditEvent.Action.restored.rawValue }
    }
}
