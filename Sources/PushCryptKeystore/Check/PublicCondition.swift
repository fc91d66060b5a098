package import PushCryptCore
package import PushCryptKeysets

/// Whether `public.jwks.json` is what the keyset gives.
package enum PublicCondition: Hashable, Sendable {
    /// The keyset has nothing public.
    case unneeded
    /// What the keyset gives, byte for byte.
    case whole
    /// What the keyset's file gives with the public keys that stand in it; that the private keys belong to them needs the
    /// secret.
    case plausible
    case missing
    /// From an earlier change, as an interrupted change leaves it.
    case stale(sequence: Int64)
    /// From a later change than the keyset: the keyset is an old copy.
    case newer(sequence: Int64)
    /// Something that neither a change nor a crash leaves.
    case foreign(String)

    /// - Parameters:
    ///   - published: the file; nil where there is none.
    ///   - records: the keys; nil while they are encrypted.
    package init(_ published: [UInt8]?, _ metadata: KeysetMetadata, _ records: [KeyID: KeyRecord]?) {
        guard metadata.kind != .shared else {
            self = published == nil ? .unneeded : .foreign("shared keys have nothing public")
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
            return .foreign("there are secrets in it: the keys in it are not secret any more")
        }
        if set.sequence > metadata.sequence { return .newer(sequence: set.sequence) }
        guard Set(set.keyIDs).isSubset(of: metadata.timeline.keys.map(\.kid)) else {
            return .foreign("there are keys in it that are not the keyset's")
        }
        if set.sequence < metadata.sequence { return .stale(sequence: set.sequence) }
        let wanted = metadata.timeline.keys.filter { $0.lifecycle.destroyedAt == nil }.map(\.kid)
        let known = records ?? Dictionary(uniqueKeysWithValues: set.entries.map { ($0.record.kid, $0.record) })
        let made = StoredKeyset(metadata: metadata, records: known, protection: .plaintext, secret: nil)
        guard Set(set.keyIDs) == Set(wanted), bytes == (try made.published()) else {
            return .foreign("it was changed")
        }
        return records == nil ? .plausible : .whole
    }

    /// Whether an interrupted change left it so; the next change writes it again.
    package var isUnfinished: Bool {
        switch self {
        case .missing, .stale: true
        default: false
        }
    }
}
