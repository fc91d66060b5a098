import PushCryptCore
import PushCryptFiles
package import PushCryptKeysets

/// Finds the keysets of a keystore that hold the same keys: one is a copy of the other. If both were rotated, each would get other
/// new keys, and apps and devices would know only those of one.
struct KeysetCopies {
    private var holders: [KeyID: [String]] = [:]
    /// The keysets that were added, in the form that two paths of the same folder share.
    private var known: Set<String> = []
    private var keystores: Set<String> = []

    mutating func add(_ metadata: KeysetMetadata, at path: String) {
        guard known.insert(Keystore.identity(of: path)).inserted else { return }
        for kid in Self.held(metadata) { holders[kid, default: []].append(path) }
    }

    /// Adds the keysets beside the one at `path`, except those that can't be read. It takes no lock, because a change of one of
    /// them may hold its lock and read this one.
    mutating func addNeighbours(of path: String) {
        let keystore = Self.keystore(of: path)
        guard keystores.insert(keystore).inserted else { return }
        for neighbour in (try? Keystore(keystore).everyKeyset()) ?? [] where neighbour != keystore {
            guard !known.contains(Keystore.identity(of: neighbour)), let file = try? KeysetFolder(neighbour).file()
            else { continue }
            add(file.metadata, at: neighbour.hasPrefix("./") ? String(neighbour.dropFirst(2)) : neighbour)
        }
    }

    func others(with metadata: KeysetMetadata, at path: String) -> [String] {
        let own = Keystore.identity(of: path)
        let found = Set(Self.held(metadata).flatMap { holders[$0] ?? [] })
        return found.filter { Keystore.identity(of: $0) != own }.sorted()
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
        "\(others.joined(separator: ", ")) in the same keystore \(others.count == 1 ? "has" : "have") the same keys: one of them is a "
            + "copy, which would get other new keys than apps and devices know"
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
        copies.addNeighbours(of: folder.path)
        let others = copies.others(with: metadata, at: folder.path)
        guard !others.isEmpty else { return }
        throw KeystoreError(
            .copiedKeyset,
            "\(folder.path): \(KeysetCopies.fault(others)). Move the copy out of the keystore; until then rotate changes neither"
        )
    }
}
