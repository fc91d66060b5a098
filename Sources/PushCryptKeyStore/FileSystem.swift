#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The few system calls of a keystore, with errors that say what and where.
package enum FileSystem {
    /// The whole file. Key files are small: one of more than 16 MiB is refused.
    package static func readFile(_ path: String) throws(KeyStoreError) -> [UInt8] {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("read", path) }
        defer { close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw failure("read", path) }
        guard status.st_mode & S_IFMT != S_IFDIR else {
            throw KeyStoreError(.notAKeyset, "\(path) is a folder; a key file is needed here")
        }
        return try readAll(descriptor, path, expectedByteCount: Int(status.st_size))
    }

    /// Throws for a symbolic link, and unless nobody but the owner can reach the file or folder.
    package static func requirePrivate(_ path: String, mode: Int) throws(KeyStoreError) {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { throw failure("read", path) }
        guard status.st_mode & S_IFMT != S_IFLNK else {
            throw KeyStoreError(.notAKeyset, "\(path) is a symbolic link; a keystore holds files and folders only")
        }
        guard status.st_mode & 0o077 == 0 else {
            let octal = String(mode, radix: 8)
            throw KeyStoreError(
                .looseMode,
                "\(path) can be reached by others than its owner; mend it with: chmod \(octal) \(path)")
        }
    }

    package static func exists(_ path: String) -> Bool {
        var status = stat()
        return unsafe lstat(path, &status) == 0
    }

    package static func isFolder(_ path: String) -> Bool {
        (try? status(of: path)).map { $0.st_mode & S_IFMT == S_IFDIR } ?? false
    }

    /// Makes the folder and those above it, for the owner alone.
    package static func makeFolders(_ path: String) throws(KeyStoreError) {
        guard !path.isEmpty, !isFolder(path) else { return }
        try makeFolders(parent(of: path))
        guard unsafe mkdir(path, 0o700) == 0 || errno == EEXIST else { throw failure("create", path) }
    }

    package static func makeFolder(_ path: String) throws(KeyStoreError) {
        guard unsafe mkdir(path, 0o700) == 0 else { throw failure("create", path) }
    }

    /// Writes a new file under `path` in one step: a crash leaves the old file or the new one, never a part.
    package static func replace(_ path: String, with bytes: [UInt8]) throws(KeyStoreError) {
        let temporary = path + ".new-\(getpid())"
        let descriptor = unsafe open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw failure("create", temporary) }
        do throws(KeyStoreError) {
            defer { close(descriptor) }
            try writeAll(bytes, to: descriptor, temporary)
            guard fsync(descriptor) == 0 else { throw failure("write", temporary) }
        } catch {
            unsafe unlink(temporary)
            throw error
        }
        guard unsafe rename(temporary, path) == 0 else {
            let error = failure("write", path)
            unsafe unlink(temporary)
            throw error
        }
        try synchronize(parent(of: path))
    }

    /// Gives a finished folder its name, which must be free.
    package static func publishFolder(_ temporary: String, as path: String) throws(KeyStoreError) {
        guard !exists(path) else { throw KeyStoreError(.alreadyExists, "\(path) exists already") }
        guard unsafe rename(temporary, path) == 0 else { throw failure("create", path) }
        try synchronize(parent(of: path))
    }

    /// Removes a folder that holds nothing but `files`.
    package static func removeFolder(_ path: String, files: [String]) {
        for file in files { unsafe unlink(path + "/" + file) }
        unsafe rmdir(path)
    }

    package static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "" }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    private static func status(of path: String) throws(KeyStoreError) -> stat {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { throw failure("read", path) }
        return status
    }

    /// Room for all of it is made at once: an array that grows leaves copies of secrets behind.
    private static func readAll(
        _ descriptor: Int32, _ path: String, expectedByteCount: Int
    ) throws(KeyStoreError) -> [UInt8] {
        let limit = 16 << 20
        var bytes = [UInt8]()
        bytes.reserveCapacity(min(max(expectedByteCount, 0), limit))
        var chunk = [UInt8](repeating: 0, count: 65_536)
        defer { for index in chunk.indices { chunk[index] = 0 } }
        while true {
            let count = unsafe chunk.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure("read", path) }
            guard count > 0 else { return bytes }
            bytes += chunk[..<count]
            guard bytes.count <= limit else {
                throw KeyStoreError(.notAKeyset, "\(path) is longer than \(limit) bytes: not a key file")
            }
        }
    }

    static func writeAll(_ bytes: [UInt8], to descriptor: Int32, _ path: String) throws(KeyStoreError) {
        var written = 0
        while written < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                unsafe write(descriptor, buffer.baseAddress! + written, buffer.count - written)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw failure("write", path) }
            written += count
        }
    }

    static func synchronize(_ folder: String) throws(KeyStoreError) {
        let path = folder.isEmpty ? "." : folder
        let descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("write", path) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw failure("write", path) }
    }

    static func failure(_ verb: String, _ path: String) -> KeyStoreError {
        let number = errno
        let code: KeyStoreError.Code =
            switch number {
            case ENOENT, ENOTDIR: verb == "create" ? .cannotCreate : .notFound
            case EEXIST, ENOTEMPTY: .alreadyExists
            case EACCES, EPERM, EROFS: .noPermission
            case ELOOP: .notAKeyset
            default: verb == "create" ? .cannotCreate : .inputOutput
            }
        return KeyStoreError(code, "can't \(verb) \(path): \(unsafe String(cString: strerror(number)))")
    }
}
