import PushCryptCore
import PushCryptFiles
package import PushCryptKeysets

/// Finds the keysets of a keystore that hold the same keys: one is a copy of the other. If both were rotated, each would get other
/// new keys, and apps and devices would know only those of one.
struct KeysetCopies {
    /// The keysets with each key, in the form that two paths of the same folder share.
    private var holders: [KeyID: Set<String>] = [:]
    /// The paths of the keysets, by that form.
    private var paths: [String: String] = [:]
    private var keystores: Set<String> = []

    mutating func add(_ metadata: KeysetMetadata, at path: String) {
        let identity = Keystore.identity(of: path)
        guard paths.updateValue(path, forKey: identity) == nil else { return }
        for kid in Self.held(metadata) { holders[kid, default: []].insert(identity) }
    }

    /// Adds the keysets beside the one at `path`, except those that can't be read. It takes no lock, because a change of one of
    /// them may hold its lock and read this one.
    mutating func addNeighbours(of path: String) {
        let keystore = Self.keystore(of: path)
        guard keystores.insert(keystore).inserted else { return }
        let own = Keystore.identity(of: path)
        for neighbour in (try? Keystore(keystore).everyKeyset()) ?? [] where neighbour != keystore {
            let identity = Keystore.identity(of: neighbour)
            guard identity != own, paths[identity] == nil, let file = try? KeysetFolder(neighbour).file()
            else { continue }
            add(file.metadata, at: neighbour.hasPrefix("./") ? String(neighbour.dropFirst(2)) : neighbour)
        }
    }

    func others(with metadata: KeysetMetadata, at path: String) -> [String] {
        let found = Self.held(metadata).reduce(into: Set<String>()) { $0.formUnion(holders[$1] ?? []) }
        return found.subtracting([Keystore.identity(of: path)]).compactMap { paths[$0] }.sorted()
    }

    private static func held(_ metadata: KeysetMetadata) -> [KeyID] {
        metadata.timeline.keys.filter { $0.lifecycle.destroyedAt == nil }.map(\.kid).filter { !DemoKeys.covers([$0]) }
    }

    private static func keystore(of path: String) -> String {
        let path = [".", ".."].contains(FileSystem.name(of: path)) ? Keystore.identity(of: path) : path
        let parent = FileSystem.parent(of: path)
        return parent.isEmpty ? "." : parent
    }

    /// What is wrong with a keyset that has copies.
    static func fault(_ others: [String]) -> String {
        let rest = others.count - shownCount
        let names = others.prefix(shownCount).joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : "")
        return
            "\(names) in the same keystore \(others.count == 1 ? "has" : "have") the same keys: only one is the keyset, and a copy "
            + "of it would get other new keys than apps and devices know"
    }

    /// The names in a message of a keystore in which all keysets are copies.
    private static let shownCount = 3
}

extension KeystoreError.Code {
    /// Another keyset of the keystore holds the same keys.
    package static let copiedKeyset = KeystoreError.Code(name: "copiedKeyset")
}

extension KeysetStore {
    /// - Throws: `KeystoreError` with `copiedKeyset`.
    func requireNoCopy(_ metadata: KeysetMetadata) throws(KeystoreError) {
        var copies = KeysetCopies()
        copies.addNeighbours(of: folder.path)
        let others = copies.others(with: metadata, at: folder.path)
        guard !others.isEmpty else { return }
        throw KeystoreError(
            .copiedKeyset,
            "\(folder.path): \(KeysetCopies.fault(others)). Move the copy out of the keystore; until then rotate changes neither"
        )
    }
}
