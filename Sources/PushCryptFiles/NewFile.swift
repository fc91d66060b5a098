import PushCryptPrimitives

/// A file that is written in parts under a temporary name and renamed when it is complete, so that readers see
/// the whole file or none. Deinitialisation removes a file that isn't published.
package final class NewFile {
    package let path: String
    package var temporaryPath: String { file.path }
    private let folder: Folder
    private let file: OpenFile
    private var byteCount = 0
    private var wholeByteCount = 0
    private var isKept = false

    private var name: String { FileSystem.name(of: path) }
    private var temporaryName: String { FileSystem.name(of: temporaryPath) }

    /// - Parameter mode: 0600 for a private file.
    /// - Throws: `FileError` with `alreadyExists` if anything has the name, `cannotCreate`, `noPermission`.
    package init(_ path: String, mode: Int = 0o600) throws(FileError) {
        guard !FileSystem.exists(path) else { throw FileError(.alreadyExists, path, "\(path) exists already") }
        self.path = path
        let temporaryName = FileSystem.name(of: path) + ".part-\(FileSystem.randomName())"
        do throws(FileError) {
            folder = try Folder(above: path)
        } catch {
            throw FileError(.create, path, systemError: error.systemError)
        }
        file = try folder.makeFile(temporaryName, mode: mode)
        // The umask must not decide which users can read it.
        try file.setMode(mode)
    }

    deinit {
        if !isKept { try? folder.remove(temporaryName) }
    }

    /// - Throws: `FileError` with `noSpace`, `inputOutput`; a part may have been written.
    package func append(_ bytes: [UInt8]) throws(FileError) {
        // The count comes first, so that publish() also cuts off a part that a failed write left.
        byteCount += bytes.count
        try file.write(bytes)
    }

    /// Marks the content so far as complete. ``publish()`` cuts off bytes that are appended later.
    package func markWhole() { wholeByteCount = byteCount }

    /// Renames the file to its own name, which must still be free. After a failure the temporary file remains.
    ///
    /// - Throws: `FileError` with the temporary path in its reason.
    package func publish() throws(FileError) {
        isKept = true
        do throws(FileError) {
            if wholeByteCount < byteCount { try file.truncate(to: wholeByteCount) }
            try file.synchronize()
            try takeName()
            try folder.synchronize()
        } catch {
            throw error.adding("; the data is in \(temporaryPath)")
        }
    }

    /// Uses link(2), which refuses a name that is taken, unlike rename(2). Not every file system supports it.
    private func takeName() throws(FileError) {
        if unsafe linkat(folder.descriptor, temporaryName, folder.descriptor, name, 0) == 0 {
            return try folder.remove(temporaryName)
        }
        guard [EPERM, ENOTSUP, EOPNOTSUPP, ENOSYS].contains(errno) else { throw FileError(.create, path) }
        try folder.publish(temporaryName, as: name)
    }
}
