package import PushCryptCore
package import PushCryptFiles
import PushCryptPrimitives

/// The folder with what a host has seen of each keyset: a file per keyset with the id as its name. Only the owner can use the
/// folder and the files, and links are refused.
package struct HistoryFolder: Hashable, Sendable {
    package let path: String

    package init(_ path: String) { self.path = path }

    /// The folder that a command or a reader uses.
    ///
    /// - Parameters:
    ///   - given: of the settings or an option; nil for the standard one.
    ///   - variable: the value of an environment variable.
    ///   - canWrite: whether there is a folder of this path that the caller can change.
    /// - Returns: nil for a caller without a home.
    package static func standard(
        given: String? = nil, variable: (String) -> String? = ProcessEnvironment.variable,
        canWrite: (String) -> Bool = FileSystem.canChangeFolder
    ) -> HistoryFolder? {
        if let given { return HistoryFolder(given) }
        if canWrite("/var/lib/pushcrypt") { return HistoryFolder("/var/lib/pushcrypt") }
        // The XDG specification: relative paths are ignored.
        if let state = variable("XDG_STATE_HOME"), state.hasPrefix("/") { return HistoryFolder("\(state)/pushcrypt") }
        guard let home = variable("HOME"), home.hasPrefix("/") else { return nil }
        return HistoryFolder("\(home)/.local/state/pushcrypt")
    }

    /// - Returns: nil if the host hasn't seen the keyset, or has no such folder.
    /// - Throws: `FileError`; ``KeysetFileError`` for a damaged history, and with `misplaced` for that of another keyset.
    package func history(of id: KeysetID) throws -> KeysetHistory? {
        do {
            return try history(of: id, in: folder())
        } catch let error as FileError where error.code == .notFound {
            return nil
        }
    }

    private func history(of id: KeysetID, in folder: Folder) throws -> KeysetHistory {
        let limit = KeysetHistory.maximumByteCount
        let bytes = try folder.read(id.description, .ownerOnly, limitInBytes: limit).bytes
        return try KeysetFileError.naming(folder.path(of: id.description)) {
            let history = try KeysetHistory(bytes)
            guard history.log.state.id == id else { throw KeysetLogError(.misplaced, row: 1, "id") }
            return history
        }
    }

    private func folder() throws(FileError) -> Folder {
        let folder = try Folder(path)
        try folder.check(.ownerOnly)
        return folder
    }

    /// Writes a history unless it is there already. The caller holds the lock.
    ///
    /// - Parameters:
    ///   - seen: the history that is there, as the caller has read it under the lock.
    ///   - step: called after each step with its name, for tests that end the process there.
    /// - Throws: `FileError`.
    package func setHistory(
        _ history: KeysetHistory, from seen: KeysetHistory?, step: (String) -> Void = { _ in }
    ) throws {
        guard seen?.file != history.file else { return }
        try folder().replace(history.log.state.id.description, with: history.file, step: step)
    }

    /// Makes the folder if there is none, and locks the histories until the result is released. Removes what crashes left.
    ///
    /// - Throws: `FileError`, also with `busy`, `noLocks`.
    package func lock(_ wait: FileLock.Wait) throws -> FileLock {
        try FileSystem.makeFolders(path)
        let folder = try folder()
        // Otherwise a change would be made, and its history couldn't be written.
        try FileSystem.requireChangeable(path)
        let lock = try FileLock(file: "lock", in: folder)
        try lock.lock(.exclusive, wait)
        for name in try folder.leftovers() { try folder.remove(name) }
        return lock
    }

    /// Remembers a keyset that was read and authenticated. It is left to others if this user can't write the folder, if
    /// another process has the lock or has changed the keyset since, or if there is no room: readers don't wait or fail for it.
    ///
    /// - Parameters:
    ///   - seen: what the keyset was compared with. Nothing is locked or written if it has the same lines.
    ///   - time: of a first sight.
    /// - Throws: `FileError`; ``KeysetFileError`` for a damaged history.
    package func raise(to keyset: OpenedKeyset, from seen: KeysetHistory?, at time: UnixTime = .now) throws {
        guard seen?.file != keyset.history(after: seen, seenAt: time).file else { return }
        do {
            let lock = try lock(.none)
            defer { lock.unlock() }
            let seen = try history(of: keyset.state.id)
            guard seen?.objection(to: keyset) == nil else { return }
            try setHistory(keyset.history(after: seen, seenAt: time), from: seen)
        } catch let error as FileError where [.busy, .noPermission, .noLocks, .noSpace].contains(error.code) {}
    }
}
