import PushCryptCore
import PushCryptPrimitives

/// Writing, for who holds the lock.
extension KeyFolder {
    /// Puts a new file in place of `name` in one step: a crash leaves the old one or the new one, never a part.
    ///
    /// - Throws: `DeviceKeyError` with `unsuitable` for more bytes than ``read(_:)`` takes, `locked`, `failed`.
    func replace(_ name: String, with bytes: [UInt8]) throws(DeviceKeyError) {
        guard bytes.count <= Self.maximumByteCount else {
            throw DeviceKeyError(.unsuitable, "\(path)/\(name) would be longer than \(Self.maximumByteCount) bytes")
        }
        try removeLeftovers()
        let temporary = try "\(name)\(Self.temporaryMark)\(Self.randomName())"
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
        let file = unsafe openat(descriptor, temporary, flags, mode_t(0o600))
        guard file >= 0 else { throw Self.failure(errno, "create \(path)/\(temporary)") }
        do throws(DeviceKeyError) {
            defer { close(file) }
            // Before the first byte: nothing secret is ever in a file of a weaker class.
            try FileProtection.apply(toPath: "\(path)/\(temporary)")
            try write(bytes, to: file, temporary)
            guard Self.synchronize(file) else { throw Self.failure(errno, "write \(path)/\(temporary)") }
            guard unsafe renameat(descriptor, temporary, descriptor, name) == 0 else {
                throw Self.failure(errno, "write \(path)/\(name)")
            }
        } catch {
            unsafe unlinkat(descriptor, temporary, 0)
            throw error
        }
        try synchronizeNames()
    }

    func remove(_ name: String) throws(DeviceKeyError) {
        guard unsafe unlinkat(descriptor, name, 0) == 0 || errno == ENOENT else {
            throw Self.failure(errno, "remove \(path)/\(name)")
        }
        try synchronizeNames()
    }

    /// What a crash in ``replace(_:with:)`` left. Nobody else writes as long as the lock is held.
    private func removeLeftovers() throws(DeviceKeyError) {
        for name in try names() where name.contains(Self.temporaryMark) {
            unsafe unlinkat(descriptor, name, 0)
        }
    }

    private static let temporaryMark = ".new-"

    private func write(_ bytes: [UInt8], to file: Int32, _ name: String) throws(DeviceKeyError) {
        var written = 0
        while written < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                unsafe writeBytes(file, buffer.baseAddress! + written, buffer.count - written)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw Self.failure(errno, "write \(path)/\(name)") }
            written += count
        }
    }

    private func synchronizeNames() throws(DeviceKeyError) {
        guard fsync(descriptor) == 0 else { throw Self.failure(errno, "write \(path)") }
    }

    /// Apple's fsync(2) leaves the bytes in the drive's cache: a battery that dies would take a key with it whose public
    /// half was uploaded.
    private static func synchronize(_ file: Int32) -> Bool {
        #if canImport(Darwin)
        if fcntl(file, F_FULLFSYNC) == 0 { return true }
        #endif
        return fsync(file) == 0
    }

    private static func randomName() throws(DeviceKeyError) -> String {
        do {
            return Base64URL.encode(try DefaultBackend.shared.randomBytes(count: 9))
        } catch {
            throw DeviceKeyError(.failed, "no random name for a temporary file: \(error)")
        }
    }
}

/// write(2), which the method hides by its name.
private func writeBytes(_ descriptor: Int32, _ start: UnsafeRawPointer, _ count: Int) -> Int {
    unsafe write(descriptor, start, count)
}
