import PushCryptCore
import PushCryptFiles

/// The sets of one name in a folder: what is served, and the numbered copies (NAME.SEQ.json, NAME.SEQ.jwks.json).
struct ServedHistory {
    /// By rising `seq`; what is served after its copy.
    private let sets: [ServedSet]

    /// - Parameter isSigned: only signed sets or only public keys; nil for both.
    init(of name: String, isSigned: Bool? = nil, in folder: Folder) {
        let kinds = [true, false].filter { (isSigned ?? $0) == $0 }
        sets = kinds.flatMap { Self.sets(name, isSigned: $0, folder) }.sorted {
            ($0.sequence, -$0.path.utf8.count) < ($1.sequence, -$1.path.utf8.count)
        }
    }

    private static func sets(_ name: String, isSigned: Bool, _ folder: Folder) -> [ServedSet] {
        let suffix = ServedSet.suffix(isSigned: isSigned)
        return ((try? folder.names()) ?? []).compactMap { file in
            guard file.hasPrefix(name), file.hasSuffix(suffix) else { return nil }
            let number = file.dropFirst(name.count).dropLast(suffix.count)
            guard number.isEmpty || number.first == "." && Int64(number.dropFirst()) != nil,
                let bytes = try? folder.read(file).bytes
            else { return nil }
            return ServedSet(bytes, path: folder.path(of: file), isSigned: isSigned)
        }
    }

    /// The keys that a set revokes and the keyset doesn't, each with the last set that shows it. A later set may lack the key,
    /// because it was destroyed since.
    func revived(by timeline: KeyTimeline) -> [(kid: KeyID, path: String)] {
        let kids = Set(sets.flatMap { $0.revived(by: timeline) })
        return kids.sorted().compactMap { kid in
            sets.last { $0.revived(by: timeline).contains(kid) }.map { (kid, $0.path) }
        }
    }
}
