import PushCryptCore
import PushCryptFiles
import PushCryptKeysets

/// The sets in a folder that a web server serves, as `keys publish` wrote them, to compare keysets with.
package struct ServedFolder: Sendable {
    package let path: String
    /// Every set in the folder without the numbered copies.
    private let sets: [ServedSet]
    private var history: ServedHistory

    /// - Throws: `KeystoreError` if there is no such folder, or it can't be read.
    package init(_ path: String) throws {
        let path = KeysetFolder(path).path
        self.path = path
        guard FileSystem.exists(path) else {
            throw KeystoreError(
                .notFound,
                "\(path): there is no such folder: name the one that `keys publish --to FOLDER` writes; if it is lost, nothing can "
                    + "fetch the keys: create it, and publish every set again")
        }
        let folder = try KeystoreError.convertingFileErrors { try Folder(path, followingLinks: true) }
        _ = try KeystoreError.convertingFileErrors { try folder.names() }
        history = ServedHistory(in: folder)
        sets = history.served
    }

    /// The same folder, compared for a keyset that has these neighbours.
    func beside(_ others: [KeysetMetadata]) -> ServedFolder {
        var folder = self
        folder.history = history.beside(others)
        return folder
    }

    /// The sets of a keyset: those with its name, and those of it under another name (`keys publish --as`, or a renamed keyset).
    ///
    /// - Throws: `KeystoreError` if a file with the keyset's name can't be read.
    func sets(of name: String, _ metadata: KeysetMetadata) throws -> [ServedSet] {
        try files(of: name).compactMap(\.set) + sets.filter { set in set.name != name && set.belongs(to: metadata) }
    }

    /// The files with the name of a keyset's sets that aren't sets.
    ///
    /// - Throws: `KeystoreError` if one can't be read.
    func foreignFiles(of name: String) throws -> [String] {
        try files(of: name).filter { $0.set == nil }.map(\.path)
    }

    /// The numbered copies of a keyset's sets that aren't sets.
    func damagedCopies(of name: String) -> [(path: String, sequence: Int64)] {
        history.damagedCopies(of: name)
    }

    private func files(of name: String) throws -> [(path: String, set: ServedSet?)] {
        let folder = try KeystoreError.convertingFileErrors { try Folder(path, followingLinks: true) }
        return try [true, false].map { name + ServedSet.suffix(isSigned: $0) }.filter(folder.has).map { file in
            (Self.path(of: file, in: path), try Self.set(file, in: folder, path))
        }
    }

    var hasSets: Bool { !sets.isEmpty }

    /// The file of a set; nil if it is gone.
    func bytes(of set: ServedSet) -> [UInt8]? {
        (try? Folder(path, followingLinks: true)).flatMap { try? $0.read(FileSystem.name(of: set.path)).bytes }
    }

    func hasSet(named name: String) -> Bool { sets.contains { $0.name == name } }

    /// The numbered copy with the highest `seq` of the sets of a keyset.
    func newestCopy(of name: String, areSigned kinds: [Bool], _ metadata: KeysetMetadata) -> ServedSet? {
        kinds.compactMap { history.of(name, isSigned: $0).newestCopy(of: metadata) }
            .max { $0.sequence < $1.sequence }
    }

    /// Whether the folder has a set of one of the keysets.
    ///
    /// - Parameter name: of the set; nil for each name.
    func hasSet(named name: String? = nil, ofOneOf keysets: [KeysetMetadata]) -> Bool {
        sets.contains { set in (name ?? set.name) == set.name && keysets.contains(where: set.belongs) }
    }

    /// The newest set or numbered copy of each name that is neither the name of a keyset nor has a set of one.
    func orphans(of keysets: [KeysetMetadata], named names: Set<String>) -> [ServedSet] {
        history.newestOfNames.filter { set in
            !names.contains(set.nameOfCopies) && !keysets.contains(where: set.belongs)
        }
    }

    /// Whether a set has one of the keys.
    func hasKey(_ kids: Set<KeyID>) -> Bool { sets.contains { !$0.keys.kids.isDisjoint(with: kids) } }

    /// As ``ServedHistory/otherKeyset(of:isSigned:_:_:_:)``.
    func otherKeyset(
        of name: String, isSigned: Bool, _ metadata: KeysetMetadata, _ log: AuditLog?,
        _ others: [(path: String, metadata: KeysetMetadata)]
    ) -> ServedHistory.OtherKeyset? {
        history.otherKeyset(of: name, isSigned: isSigned, metadata, log, others)
    }

    /// As ``ServedHistory/home(of:)``.
    func home(of metadata: KeysetMetadata) -> String? { history.home(of: metadata) }

    /// The last set of any name that shows that a publisher keyset has a key which was destroyed.
    func refusal(of publisher: PublisherKeyset) -> PublisherKeyset.Difference? { history.refusal(of: publisher) }

    /// The newest numbered copies of the keyset's sets that the folder lacks.
    func lostSets(of metadata: KeysetMetadata) -> [ServedSet] {
        history.lostSets(of: metadata)
    }

    /// The numbered copy of a served set if its bytes differ: `keys publish` writes the same bytes to both.
    func copy(differingFrom set: ServedSet) -> String? {
        let name = set.nameOfNumberedCopy
        guard let folder = try? Folder(path, followingLinks: true), let kept = try? folder.read(name).bytes,
            let served = bytes(of: set)
        else { return nil }
        return kept == served ? nil : Self.path(of: name, in: path)
    }

    /// The path of the numbered copy of a served set; nil if the folder has it, perhaps under an earlier name.
    func lostCopy(of set: ServedSet) -> String? {
        let path = Self.path(of: set.nameOfNumberedCopy, in: path)
        return FileSystem.exists(path) || history.hasCopy(of: set) ? nil : path
    }

    /// The sets of a name and their numbered copies, either signed or not.
    func history(of name: String, isSigned: Bool) -> ServedHistory { history.of(name, isSigned: isSigned) }

    /// - Returns: nil for a file that isn't a set.
    private static func set(_ name: String, in folder: Folder, _ path: String) throws -> ServedSet? {
        guard name.hasSuffix(ServedSet.suffix(isSigned: true)) else { return nil }
        let bytes = try KeystoreError.convertingFileErrors { try folder.read(name).bytes }
        let isSigned = !name.hasSuffix(ServedSet.suffix(isSigned: false))
        return ServedSet(bytes, path: Self.path(of: name, in: path), isSigned: isSigned)
    }

    private static func path(of name: String, in path: String) -> String { (path == "/" ? "" : path) + "/" + name }
}
