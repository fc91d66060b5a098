import PushCryptPrimitives

/// A file for its owner alone that is written piece by piece under a temporary name beside it and gets its own name
/// when it is done: whoever finds the name finds a whole file. What nobody publishes goes with this object.
package final class NewFile {
    package let path: String
    package let temporaryPath: String
    private let descriptor: Int32
    private var byteCount = 0
    private var wholeByteCount = 0
    private var isKept = false

    /// - Throws: `KeystoreError` with `alreadyExists` when the name is taken by anything, `cannotCreate`,
    ///   `noPermission`.
    package init(_ path: String) throws(KeystoreError) {
        guard !FileSystem.exists(path) else { throw KeystoreError(.alreadyExists, "\(path) exists already") }
        self.path = path
        temporaryPath = try path + ".part-\(FileSystem.randomName())"
        descriptor = unsafe open(temporaryPath, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw FileSystem.failure("create", temporaryPath) }
    }

    deinit {
        guard descriptor >= 0 else { return }
        close(descriptor)
        if !isKept { unsafe unlink(temporaryPath) }
    }

    /// - Throws: `KeystoreError` with `inputOutput`; a part may have been written.
    package func append(_ bytes: [UInt8]) throws(KeystoreError) {
        // Counted before: what a failure leaves behind is to be cut off too.
        byteCount += bytes.count
        try FileSystem.writeAll(bytes, to: descriptor, temporaryPath)
    }

    /// Says that the file is whole so far. ``publish()`` cuts off what was appended later.
    package func markWhole() {
        wholeByteCount = byteCount
    }

    /// Gives the file its name, which must still be free. If that fails the temporary file stays.
    ///
    /// - Throws: `KeystoreError`, with the temporary name in its words.
    package func publish() throws(KeystoreError) {
        isKept = true
        do throws(KeystoreError) {
            if wholeByteCount < byteCount, ftruncate(descriptor, off_t(wholeByteCount)) != 0 {
                throw FileSystem.failure("write", temporaryPath)
            }
            guard fsync(descriptor) == 0 else { throw FileSystem.failure("write", temporaryPath) }
            try takeName()
            try FileSystem.synchronizeFolder(of: path)
        } catch {
            throw KeystoreError(error.code, "\(error.reason); what was written is in \(temporaryPath)")
        }
    }

    /// link(2) takes no name that is taken, as rename(2) would. Not every file system has it.
    private func takeName() throws(KeystoreError) {
        if unsafe link(temporaryPath, path) == 0 {
            unsafe unlink(temporaryPath)
            return
        }
        guard [EPERM, ENOTSUP, EOPNOTSUPP, ENOSYS].contains(errno) else { throw FileSystem.failure("create", path) }
        guard !FileSystem.exists(path) else { throw KeystoreError(.alreadyExists, "\(path) exists already") }
        guard unsafe rename(temporaryPath, path) == 0 else { throw FileSystem.failure("create", path) }
    }
}
