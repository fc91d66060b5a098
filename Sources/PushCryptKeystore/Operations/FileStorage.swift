package import PushCryptCore
import PushCryptFiles
package import PushCryptKeysets
import PushCryptPrimitives

/// The real files of a host.
package struct FileStorage: KeystoreStorage {
    /// nil for a keyset outside of the keystores of the settings: nothing remembers it.
    package let histories: HistoryFolder?
    /// nil if nothing is published.
    package let servedFolder: String?
    /// How long to wait for another process.
    private let patience: Duration
    private let secret: (KeysetLocation, KeysetRows) throws -> KeysetSecret?

    /// - Parameter secret: of a keyset; nil for keys in clear.
    package init(
        histories: HistoryFolder?, servedFolder: String?, patience: Duration = .seconds(120),
        secret: @escaping (KeysetLocation, KeysetRows) throws -> KeysetSecret?
    ) {
        self.histories = histories
        self.servedFolder = servedFolder
        self.patience = patience
        self.secret = secret
    }

    /// - Throws: `FileError`, also with `symbolicLink`, `foreignOwner`, `looseMode`, `busy`, `noLocks`.
    package func lock(_ path: String?) throws -> LockedFiles {
        let end = FileLock.Wait.until(.now + patience)
        let keystore = try path.map { path in
            let folder = try Folder(KeysetLocation(path).keystore)
            try folder.check(.othersMayRead)
            let lock = try FileLock(in: folder, named: KeysetLocation.lockName)
            try lock.lock(.exclusive, end)
            try folder.requireCurrent()
            return (folder, lock)
        }
        let lock = try histories?.lock(end)
        FaultPoint.reach("locked")
        return try LockedFiles(self, keystore?.0, [keystore?.1, lock].compactMap(\.self))
    }

    /// - Throws: `FileError`, `KeysetFileError`, as `KeysetRows.init(at:_:)`.
    package func keyset(_ path: String) throws -> FoundKeyset? {
        let location = KeysetLocation(path)
        return try found(location) { try KeysetRows(at: location, .reading) }
    }

    fileprivate func found(_ location: KeysetLocation, _ read: () throws -> KeysetRows) throws -> FoundKeyset? {
        do {
            let rows = try read()
            return FoundKeyset(rows.log) {
                try KeysetFileError.naming(location.path) { try rows.unlocked(secret(location, rows)) }
            }
        } catch let error as FileError where error.code == .notFound {
            return nil
        }
    }

    package func history(of id: KeysetID) throws -> KeysetHistory? { try histories?.history(of: id) }

    package func raiseHistory(to keyset: OpenedKeyset, from seen: KeysetHistory?, at time: UnixTime) throws {
        guard !keyset.state.isDemo else { return }
        try histories?.raise(to: keyset, from: seen, at: time)
    }

    /// - Throws: `FileError`.
    package func served(_ name: String) throws -> [UInt8]? {
        guard let servedFolder else { return nil }
        do {
            return try Folder(servedFolder, followingLinks: true).read(name).bytes
        } catch let error where [.notFound, .symbolicLink, .notAFile, .tooLong].contains(error.code) {
            // Whatever else has the name isn't a document: it is replaced.
            return nil
        }
    }

    /// None if there is no such folder, as after its loss.
    package func servedNames() throws -> [String] {
        guard let servedFolder, FileSystem.exists(servedFolder) else { return [] }
        return try FileSystem.names(in: servedFolder)
    }

    /// Writes the document unless it is there already. Does nothing without a served folder.
    ///
    /// - Throws: `FileError`.
    package func serve(_ document: [UInt8], as name: String) throws {
        guard let servedFolder else { return }
        let folder = try Folder(servedFolder, followingLinks: true)
        let isReadable = folder.status(of: name)?.access.mode == 0o644
        guard try !isReadable || served(name) != document else { return }
        for leftover in try folder.leftovers() where leftover.hasPrefix("\(name).") { try folder.remove(leftover) }
        try folder.replace(name, with: document, mode: 0o644) { FaultPoint.reach("publication-\($0)") }
    }

    package func removeServed(_ name: String) throws {
        try servedFolder.map { try Folder($0, followingLinks: true).remove(name) }
    }
}

/// A keystore and the histories, locked until the object is released.
package final class LockedFiles: LockedStorage {
    private let storage: FileStorage
    /// nil if only the histories are locked.
    private let keystore: Folder?
    private let locks: [FileLock]

    /// Removes the files that a crash left.
    fileprivate init(_ storage: FileStorage, _ keystore: Folder?, _ locks: [FileLock]) throws(FileError) {
        (self.storage, self.keystore, self.locks) = (storage, keystore, locks)
        guard let keystore else { return }
        for name in try keystore.leftovers() where Self.isOurs(name) { try keystore.remove(name) }
    }

    /// A person's file may have a similar name.
    private static func isOurs(_ leftover: String) -> Bool {
        let mark = leftover.dropLast(FileSystem.randomNameCharacterCount)
        return mark.hasSuffix("\(KeysetLocation.suffix).new-") && !leftover.hasSuffix(KeysetLocation.suffix)
    }

    /// The keystore's folder, if it is that of the path.
    private func folder(of location: KeysetLocation) -> Folder {
        guard let keystore, keystore.path == location.keystore else {
            preconditionFailure("\(location.keystore) isn't locked")
        }
        return keystore
    }

    package func keyset(_ path: String) throws -> FoundKeyset? {
        let location = KeysetLocation(path)
        return try storage.found(location) { try KeysetRows(in: folder(of: location), location) }
    }

    package func others(of id: KeysetID, than path: String) throws -> [String] {
        let location = KeysetLocation(path)
        let folder = folder(of: location)
        // By identity: a file system may ignore the case of names.
        let own = folder.status(of: location.fileName)?.identity
        return try folder.names().filter { name in
            guard name.hasSuffix(KeysetLocation.suffix), let status = folder.status(of: name), status.kind == .file,
                status.identity != own
            else { return false }
            return try KeysetID(ofFile: folder.file(name)) == id
        }.map(folder.path(of:))
    }

    /// Parses the new text before it replaces the current one.
    package func replace(_ path: String, with keyset: OpenedKeyset) throws {
        let location = KeysetLocation(path)
        var text = try keyset.material.file(keyset.log)
        defer { wipe(&text) }
        _ = try KeysetFileError.naming(location.path) { try KeysetRows(text) }
        try folder(of: location).replace(location.fileName, with: text) { FaultPoint.reach("keyset-\($0)") }
    }

    package func remove(_ path: String) throws {
        let location = KeysetLocation(path)
        try folder(of: location).remove(location.fileName)
        try folder(of: location).synchronize()
    }

    package func setHistory(_ history: KeysetHistory, from seen: KeysetHistory?) throws {
        try storage.histories?.setHistory(history, from: seen) { FaultPoint.reach("history-\($0)") }
    }
}
