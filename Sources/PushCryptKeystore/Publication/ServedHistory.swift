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

    /// The keys that a set revokes and the keyset doesn't, each with the last set that shows it. A later set may lack the key,
    /// because it was destroyed since.
    func revived(by timeline: KeyTimeline) -> [(kid: KeyID, path: String)] {
        let kids = Set(sets.flatMap { $0.keys.revived(by: timeline) })
        return kids.sorted().compactMap { kid in
            sets.last { $0.keys.revived(by: timeline).contains(kid) }.map { (kid, $0.path) }
        }
    }
}
