import PushCryptFiles
import PushCryptPrimitives

/// An open folder of small private files, shared by an app and its extension. Files are reached through the
/// descriptor, so that what was checked is what is used.
///
/// What data protection answers before the device's first unlock is EPERM or EACCES, on a file's opening or reading: that
/// is `locked`. Names can be read at any time, so ENOENT does mean that there is none.
final class KeyFolder {
    let path: String
    let descriptor: Int32

    /// - Parameter creating: makes the folder, mode 0700, where there is none; those above it must exist.
    /// - Throws: `DeviceKeyError` with `notFound`, `locked`, `insecure` for a link, for a folder of another user, or where
    ///   others may write.
    init(_ path: String, creating: Bool = false) throws(DeviceKeyError) {
        self.path = path
        if creating, unsafe mkdir(path, 0o700) == 0 {
            try FileProtection.apply(toPath: path)
        }
        descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else {
            let failure = Self.failure(errno, "open \(path)")
            throw creating && failure.code == .notFound ? DeviceKeyError(.failed, failure.reason) : failure
        }
        // Anybody who can write in the folder can replace the device's key by one of their own.
        try Self.check(status(of: descriptor, path), .othersMayRead, path)
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Waits until no other writer holds the folder; given back with the object, also by a crash.
    func lock() throws(DeviceKeyError) {
        while flock(descriptor, LOCK_EX) != 0 {
            guard errno == EINTR else { throw Self.failure(errno, "lock \(path)") }
        }
    }

    /// A whole file.
    ///
    /// - Throws: `DeviceKeyError` with `notFound`, `locked`, `damaged` for a file that is far too long, `insecure` for a
    ///   link, what is no file, what belongs to another user, or what others can reach.
    func read(_ name: String) throws(DeviceKeyError) -> [UInt8] {
        // Without blocking: a pipe under the name would hold the extension up until its time is over.
        let file = unsafe openat(descriptor, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { throw Self.failure(errno, "read \(path)/\(name)") }
        defer { close(file) }
        let status = try status(of: file, name)
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw DeviceKeyError(.insecure, "\(path)/\(name) is not a file")
        }
        try Self.check(status, .ownerOnly, "\(path)/\(name)")
        guard status.st_size <= Self.maximumByteCount else {
            throw DeviceKeyError(.damaged, "\(path)/\(name) is longer than \(Self.maximumByteCount) bytes")
        }
        return try readAll(file, count: Int(status.st_size), name)
    }

    /// Of a file; a set of a few hundred sender keys is the longest.
    static let maximumByteCount: Int64 = 1 << 20

    func has(_ name: String) -> Bool {
        var status = stat()
        return unsafe fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0
    }

    /// Sorted, without `.` and `..`.
    func names() throws(DeviceKeyError) -> [String] {
        guard let folder = unsafe opendir(path) else { throw Self.failure(errno, "read \(path)") }
        defer { unsafe closedir(folder) }
        var names = [String]()
        while let entry = unsafe readdir(folder) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe String(cString: UnsafeRawPointer(pointer).assumingMemoryBound(to: CChar.self))
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    /// The array has its length from the start: one that grows leaves copies of secrets behind.
    private func readAll(_ file: Int32, count: Int, _ name: String) throws(DeviceKeyError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var read = 0
        while read < count {
            let more = unsafe bytes.withUnsafeMutableBytes { buffer in
                unsafe readBytes(file, buffer.baseAddress! + read, buffer.count - read)
            }
            if more < 0, errno == EINTR { continue }
            guard more >= 0 else { throw Self.failure(errno, "read \(path)/\(name)") }
            guard more > 0 else { throw DeviceKeyError(.damaged, "\(path)/\(name) ends too early") }
            read += more
        }
        return bytes
    }

    private static func check(
        _ status: stat, _ rule: FileAccess.Rule, _ path: String
    ) throws(DeviceKeyError) {
        do throws(FileError) {
            try FileStatus(status).access.check(rule, path)
        } catch {
            throw DeviceKeyError(.insecure, error.reason)
        }
    }

    private func status(of file: Int32, _ name: String) throws(DeviceKeyError) -> stat {
        var status = stat()
        guard unsafe fstat(file, &status) == 0 else { throw Self.failure(errno, "read \(name)") }
        return status
    }

    static func failure(_ number: Int32, _ what: String) -> DeviceKeyError {
        let code: DeviceKeyError.Code =
            switch number {
            case ENOENT: .notFound
            case EACCES, EPERM: .locked
            case ELOOP, ENOTDIR: .insecure
            default: .failed
            }
        return DeviceKeyError(code, "can't \(what): \(unsafe String(cString: strerror(number)))")
    }
}

/// read(2), which the method hides by its name.
private func readBytes(_ descriptor: Int32, _ start: UnsafeMutableRawPointer, _ count: Int) -> Int {
    unsafe read(descriptor, start, count)
}
