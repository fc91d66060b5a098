import PushCryptCore
import PushCryptFiles
import PushCryptKeysets

/// The sets of one name or of all names in a folder: what is served, and the numbered copies (NAME.SEQ.json, NAME.SEQ.jwks.json).
struct ServedHistory {
    /// By rising `seq`; what is served after its copy.
    private let sets: [ServedSet]

    /// - Parameters:
    ///   - name: nil for all names; a key is in no other keyset.
    ///   - isSigned: only signed sets or only public keys; nil for both.
    init(of name: String? = nil, isSigned: Bool? = nil, in folder: Folder) {
        let kinds = [true, false].filter { (isSigned ?? $0) == $0 }
        sets = kinds.flatMap { Self.sets(name, isSigned: $0, folder) }.sorted {
            ($0.sequence, -$0.path.utf8.count) < ($1.sequence, -$1.path.utf8.count)
        }
    }

    private static func sets(_ name: String?, isSigned: Bool, _ folder: Folder) -> [ServedSet] {
        let suffix = ServedSet.suffix(isSigned: isSigned)
        return ((try? folder.names()) ?? []).compactMap { file in
            guard file.hasSuffix(suffix), name.map({ isSet(file.dropLast(suffix.count), of: $0) }) ?? true,
                let bytes = try? folder.read(file).bytes
            else { return nil }
            return ServedSet(bytes, path: folder.path(of: file), isSigned: isSigned)
        }
    }

    /// NAME or NAME.SEQ
    private static func isSet(_ stem: Substring, of name: String) -> Bool {
        guard stem.hasPrefix(name) else { return false }
        let number = stem.dropFirst(name.count)
        return number.isEmpty || number.first == "." && Int64(number.dropFirst()) != nil
    }

    /// That apps which have fetched one of the sets refuse a signed set; nil if they don't.
    func refusal(of set: SenderSetPublication) -> String? { sets.lazy.compactMap { $0.refusal(of: set) }.first }

    /// A key that the keyset uses and a set doesn't allow.
    struct GivenUpKey {
        let kid: KeyID
        /// Such as "www/senders.json revokes key KID, which the keyset doesn't".
        let reason: String
    }

    /// The keys that a set revokes and the keyset doesn't, each with the last set that shows it, and those that the newest set lacks
    /// although they are older than it. A later set may lack a revoked key, because it was destroyed since.
    ///
    /// - Parameter time: the clock's. A set of a later time was issued under a wrong clock, and says nothing about older keys.
    func givenUp(by metadata: KeysetMetadata, at time: UnixTime) -> [GivenUpKey] {
        let timeline = metadata.timeline
        let revived = Set(sets.flatMap { $0.keys.revived(by: timeline) })
        let revoked = revived.sorted().compactMap { kid in
            sets.last { $0.keys.revived(by: timeline).contains(kid) }.map {
                GivenUpKey(kid: kid, reason: "\($0.path) revokes key \(kid), which the keyset doesn't")
            }
        }
        guard let newest = sets.last(where: { $0.belongs(to: metadata) && ($0.publication?.issuedAt ?? time) <= time })
        else { return revoked }
        let name = "\(newest.path), seq \(newest.sequence),"
        let destroyed = newest.dropped(from: timeline).filter { !revived.contains($0) }.map {
            GivenUpKey(kid: $0, reason: "\(name) lacks key \($0), which is older: it was destroyed since")
        }
        return revoked + destroyed
    }
}
