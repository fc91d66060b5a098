package import PushCryptCore
import PushCryptFiles
package import PushCryptKeysets

/// Finds the keysets that hold the same keys, or have the same signed set: one is a copy of the other. If both were rotated, each would get other
/// new keys, and apps and devices would know only those of one.
package struct KeysetCopies {
    /// A keyset that holds a key of another one.
    struct Copy: Hashable {
        let path: String
        let sequence: Int64
        /// When it was changed last, by its host's clock.
        let updatedAt: UnixTime?
        let inUse: Set<KeyID>
        /// The keys that it has revoked or destroyed.
        let givenUp: Set<KeyID>
        /// nil without a signed set.
        let publication: PublicationPolicy?

        var kids: Set<KeyID> { inUse.union(givenUp) }
    }

    /// The keysets with each key, in the form that two paths of the same folder share.
    private var holders: [KeyID: Set<String>] = [:]
    /// The keysets with each id of a signed set, in the same form. An old copy may have none of the later keys.
    private var publishers: [[UInt8]: Set<String>] = [:]
    /// The keysets by that form.
    private var keysets: [String: Copy] = [:]
    private var keystores: Set<String> = []

    package init() {}

    mutating func add(_ metadata: KeysetMetadata, at path: String) {
        let identity = Keystore.identity(of: path)
        let keyset = Copy(metadata, at: path)
        guard keysets.updateValue(keyset, forKey: identity) == nil else { return }
        for kid in Self.held(metadata) { holders[kid, default: []].insert(identity) }
        if let set = metadata.publication?.set { publishers[set, default: []].insert(identity) }
    }

    /// Adds a keyset, unless it can't be read.
    mutating func addKeyset(at path: String) {
        guard keysets[Keystore.identity(of: path)] == nil, let file = try? KeysetFolder(path).file() else { return }
        add(file.metadata, at: path)
    }

    /// Adds the keysets beside the one at `path`, except those that can't be read. It takes no lock, because a change of one of
    /// them may hold its lock and read this one.
    mutating func addNeighbours(of path: String) {
        let keystore = Self.keystore(of: path)
        guard keystores.insert(keystore).inserted else { return }
        let own = Keystore.identity(of: path)
        for neighbour in (try? Keystore(keystore).everyKeyset()) ?? [] where neighbour != keystore {
            let identity = Keystore.identity(of: neighbour)
            guard identity != own, keysets[identity] == nil, let file = try? KeysetFolder(neighbour).file()
            else { continue }
            add(file.metadata, at: neighbour.hasPrefix("./") ? String(neighbour.dropFirst(2)) : neighbour)
        }
    }

    /// The keysets beside the one at `path` that still use a key.
    package static func users(of kid: KeyID, beside path: String) -> [String] {
        PublishedKeyset(path, "").neighbours.filter { $0.metadata.timeline.inUse.contains(kid) }.map(\.path)
    }

    func others(with metadata: KeysetMetadata, at path: String) -> [Copy] {
        let sameSet = metadata.publication.flatMap { publishers[$0.set] } ?? []
        let found = Self.held(metadata).reduce(into: sameSet) { $0.formUnion(holders[$1] ?? []) }
        return found.subtracting([Keystore.identity(of: path)]).compactMap { keysets[$0] }
            .sorted { $0.path < $1.path }
    }

    static func haveSameKeys(_ metadata: KeysetMetadata, _ other: KeysetMetadata) -> Bool {
        !Set(held(metadata)).isDisjoint(with: held(other))
            || metadata.publication.map { $0.set == other.publication?.set } ?? false
    }

    private static func held(_ metadata: KeysetMetadata) -> [KeyID] {
        metadata.timeline.keys.filter { $0.lifecycle.destroyedAt == nil }.map(\.kid).filter { !DemoKeys.covers([$0]) }
    }

    private static func keystore(of path: String) -> String {
        let path = [".", ".."].contains(FileSystem.name(of: path)) ? Keystore.identity(of: path) : path
        let parent = FileSystem.parent(of: path)
        return parent.isEmpty ? "." : parent
    }

    /// A keyset that can't be read is refused when it is used.
    ///
    /// - Throws: `KeystoreError` with `copiedKeyset` for a keyset that has copies beside it.
    package mutating func requireNoCopy(of path: String) throws(KeystoreError) {
        guard let file = try? KeysetFolder(path).file() else { return }
        try requireNoCopy(file.metadata, at: path)
    }

    fileprivate mutating func requireNoCopy(_ metadata: KeysetMetadata, at path: String) throws(KeystoreError) {
        add(metadata, at: path)
        addNeighbours(of: path)
        let others = others(with: metadata, at: path)
        guard !others.isEmpty else { return }
        throw KeystoreError(
            .copiedKeyset,
            "\(path): \(Self.fault(metadata, others)). Move the copy out of the keystore; until then rotate changes neither, and "
                + "runs no program for them")
    }

    /// - Parameter others: not empty.
    static func fault(_ metadata: KeysetMetadata, _ others: [Copy]) -> String {
        let rest = others.count - shownCount
        let names =
            others.prefix(shownCount).map { "\($0.path) (seq \($0.sequence))" }.joined(separator: ", ")
            + (rest > 0 ? " and \(rest) more" : "")
        return
            "\(names) \(others.count == 1 ? "has" : "have") the same keys as this one (seq "
            + "\(metadata.sequence)): only one is the keyset, and a copy of it would get other new keys than apps and devices know"
    }

    /// The names in a message of a keystore in which all keysets are copies.
    private static let shownCount = 3
}

extension KeysetCopies.Copy {
    init(_ metadata: KeysetMetadata, at path: String) {
        let (kids, inUse) = (Set(metadata.timeline.keys.map(\.kid)), metadata.timeline.inUse)
        self.init(
            path: path, sequence: metadata.sequence, updatedAt: metadata.timeline.updatedAt, inUse: inUse,
            givenUp: kids.subtracting(inUse), publication: metadata.publication)
    }
}

extension KeyTimeline {
    /// The keys that are neither revoked nor destroyed.
    var inUse: Set<KeyID> {
        Set(keys.filter { $0.lifecycle.revokedAt == nil && $0.lifecycle.destroyedAt == nil }.map(\.kid))
    }
}

extension KeystoreError.Code {
    /// Another keyset of the keystore holds the same keys.
    package static let copiedKeyset = KeystoreError.Code(name: "copiedKeyset")
}

extension KeysetStore {
    /// - Throws: `KeystoreError` with `copiedKeyset`.
    func requireNoCopy(_ metadata: KeysetMetadata) throws(KeystoreError) {
        var copies = KeysetCopies()
        try copies.requireNoCopy(metadata, at: folder.path)
    }
}
