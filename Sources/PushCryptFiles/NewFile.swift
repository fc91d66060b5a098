import PushCryptPrimitives

/// A file for its owner alone that is written piece by piece under a temporary name beside it and gets its own name
/// when it is complete: a reader finds a whole file or none. A file that isn't published is removed with this object.
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

    /// - Throws: `FileError` with `alreadyExists` when the name is taken by anything, `cannotCreate`, `noPermission`.
    package init(_ path: String) throws(FileError) {
        guard !FileSystem.exists(path) else {
            throw FileError(.alreadyExists, path, "\(path) exists already")
        }
        self.path = path
        let temporaryName = FileSystem.name(of: path) + ".part-\(FileSystem.randomName())"
        do throws(FileError) {
            folder = try Folder(above: path)
        } catch {
            throw FileError(.create, path, systemError: error.systemError)
        }
        file = try folder.makeFile(temporaryName)
    }

    deinit {
        if !isKept { try? folder.remove(temporaryName) }
    }

    /// - Throws: `FileError` with `noSpace`, `inputOutput`; a part may have been written.
    package func append(_ bytes: [UInt8]) throws(FileError) {
        // Counted before: what a failure leaves behind is to be cut off too.
        byteCount += bytes.count
        try file.write(bytes)
    }

    /// Says that the file is whole so far. ``publish()`` cuts off what was appended later.
    package func markWhole() {
        wholeByteCount = byteCount
    }

    /// Gives the file its name, which must still be free. If that fails the temporary file stays.
    ///
    /// - Throws: `FileError`, with the temporary name in its reason.
    package func publish() throws(FileError) {
        isKept = true
        do throws(FileError) {
            if wholeByteCount < byteCount { try file.truncate(to: wholeByteCount) }
            try file.synchronize()
            try takeName()
            try folder.synchronize()
        } catch {
            throw error.adding("; what was written is in \(temporaryPath)")
        }
    }

    /// link(2) takes no name that is taken, as rename(2) would. Not every file system has it.
    private func takeName() throws(FileError) {
        if unsafe linkat(folder.descriptor, temporaryName, folder.descriptor, name, 0) == 0 {
            return try folder.remove(temporaryName)
        }
        guard [EPERM, ENOTSUP, EOPNOTSUPP, ENOSYS].contains(errno) else { throw FileError(.create, path) }
        try folder.publish(temporaryName, as: name)
    }
}
