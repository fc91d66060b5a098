import PushCryptFiles
import PushCryptSQLite

/// The file of an index: `FILE.index` beside the directory or, where that can't be written, one that goes with this object.
///
/// ```
/// FILE.index        never changed once it has its name; readers need no locks
/// FILE.index.new    is being made, under the folder's lock; what a process left here that was killed goes first
/// ```
final class IndexFile: Sendable {
    let path: String
    let report: IndexReport
    private let folder: PrivateFolder?

    private static let lockTimeout: Duration = .seconds(3_600)

    /// Uses the index that is there, adds what was appended to the file since, or makes it anew.
    init(of file: DirectoryFile, progress: @escaping (DirectoryProgress) -> Void) throws {
        let (parent, name) = Self.split(file.path + ".index")
        let usual = file.path + ".index"
        if let report = Self.current(usual, of: file) {
            (path, self.report, folder) = (usual, report, nil)
            return
        }
        let maker = IndexMaker(file: file, name: name, basis: usual, progress: progress)
        do {
            let shared = try SharedFolder(parent)
            let made = try shared.withLock(.exclusive, timeout: Self.lockTimeout) { () throws(SQLiteError) in
                Result { try Self.current(usual, of: file) ?? maker.make(in: shared) }
            }
            (path, report, folder) = (usual, try made.get(), nil)
        } catch let error as SQLiteError where error.kind == .unavailable || error.kind == .locked {
            let own = try PrivateFolder()
            report = try maker.make(in: SharedFolder(own.path))
            (path, folder) = (own.path + "/" + name, own)
        }
    }

    /// An index of the file as it is now.
    private static func current(_ path: String, of file: DirectoryFile) -> IndexReport? {
        guard let source = RecipientIndex(path)?.source, source.isOf(file.status),
            source.byteCount == file.status.byteCount, source.modifiedAt == file.status.modifiedAt,
            (try? FileDigest.probe(file, byteCount: source.indexedByteCount)) == source.probe
        else { return nil }
        return source.report
    }

    static func split(_ path: String) -> (folder: String, name: String) {
        guard let slash = path.lastIndex(of: "/") else { return (".", path) }
        let folder = slash == path.startIndex ? "/" : String(path[..<slash])
        return (folder, String(path[path.index(after: slash)...]))
    }
}

/// Makes an index and gives it its name.
struct IndexMaker {
    let file: DirectoryFile
    let name: String
    /// The path of an index that may be of the file's first lines.
    let basis: String
    let progress: (DirectoryProgress) -> Void

    /// - Throws: `SQLiteError` with `unavailable` or `locked` where nothing can be written.
    func make(in folder: SharedFolder) throws -> IndexReport {
        let new = name + ".new"
        defer { folder.remove(new) }
        if try !extend(new, in: folder) {
            try begin(new, in: folder)
            try IndexBuilder(file, into: folder.path(new), basis: nil, progress: progress).build()
        }
        try folder.rename(new, to: name)
        guard let index = RecipientIndex(folder.path(name)) else {
            throw RecipientDirectoryError(.damaged, "\(folder.path(name)) is damaged as soon as it is written")
        }
        return index.source.report
    }

    /// - Returns: whether the file begins with what was indexed before.
    private func extend(_ new: String, in folder: SharedFolder) throws -> Bool {
        guard let old = RecipientIndex(basis), old.source.isOf(file.status),
            old.source.byteCount < file.status.byteCount, old.source.canGrow
        else { return false }
        try begin(new, in: folder)
        try old.database.run("VACUUM INTO ?", .text(folder.path(new)))
        do {
            try IndexBuilder(file, into: folder.path(new), basis: old.source, progress: progress).build()
            return true
        } catch is IndexBuilder.Changed {
            return false
        }
    }

    private func begin(_ new: String, in folder: SharedFolder) throws {
        folder.remove(new)
        folder.remove(new + "-journal")
        try folder.create(new)
    }
}
