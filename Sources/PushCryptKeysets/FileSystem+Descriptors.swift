import PushCryptCore
import PushCryptPrimitives

extension FileSystem {
    /// What makes a file or folder itself, whatever its name.
    struct Identity: Equatable {
        let device: UInt64
        let inode: UInt64
    }

    /// Not that of what a symbolic link points to.
    static func identity(of path: String) throws(KeystoreError) -> Identity {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { throw failure("read", path) }
        return identity(status)
    }

    static func identity(ofDescriptor descriptor: Int32, _ path: String) throws(KeystoreError) -> Identity {
        identity(try status(ofDescriptor: descriptor, path))
    }

    private static func identity(_ status: stat) -> Identity {
        Identity(device: UInt64(truncatingIfNeeded: status.st_dev), inode: UInt64(truncatingIfNeeded: status.st_ino))
    }

    static func status(ofDescriptor descriptor: Int32, _ path: String) throws(KeystoreError) -> stat {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw failure("read", path) }
        return status
    }

    /// Room for all of it, of a pipe for what is likely, is made at once: an array that grows leaves copies of secrets
    /// behind.
    static func readAll(_ descriptor: Int32, _ path: String) throws(KeystoreError) -> [UInt8] {
        let expectedByteCount = Int(try status(ofDescriptor: descriptor, path).st_size)
        let limit = 16 << 20
        var bytes = [UInt8]()
        bytes.reserveCapacity(min(max(expectedByteCount, 65_536), limit))
        var chunk = [UInt8](repeating: 0, count: 65_536)
        defer { wipe(&chunk) }
        while true {
            let count = unsafe chunk.withUnsafeMutableBytes { unsafe readBytes(descriptor, $0.baseAddress!, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure("read", path) }
            guard count > 0 else { return bytes }
            bytes += chunk[..<count]
            guard bytes.count <= limit else {
                throw KeystoreError(.notAKeyset, "\(path) is longer than \(limit) bytes: not a key file")
            }
        }
    }

    /// Reads to the end, or until the buffer is full.
    ///
    /// - Returns: the number of bytes.
    static func read(
        _ descriptor: Int32, into buffer: inout [UInt8], _ path: String
    ) throws(KeystoreError) -> Int {
        var count = 0
        while count < buffer.count {
            let more = unsafe buffer.withUnsafeMutableBytes { bytes in
                unsafe readBytes(descriptor, bytes.baseAddress! + count, bytes.count - count)
            }
            if more < 0, errno == EINTR { continue }
            guard more >= 0 else { throw failure("read", path) }
            guard more > 0 else { break }
            count += more
        }
        return count
    }

    static func writeAll(_ bytes: [UInt8], to descriptor: Int32, _ path: String) throws(KeystoreError) {
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

    package static let randomNameCharacterCount = 12

    /// A part of a file name that nobody foresees.
    package static func randomName() throws(KeystoreError) -> String {
        do {
            return Base64URL.encode(
                try DefaultBackend.shared.randomBytes(count: randomNameCharacterCount * 3 / 4))
        } catch {
            throw KeystoreError(.inputOutput, "no random name for a temporary file: \(error)")
        }
    }

    static func failure(_ verb: String, _ path: String) -> KeystoreError {
        let number = errno
        let code: KeystoreError.Code =
            switch number {
            case ENOENT, ENOTDIR: verb == "create" ? .cannotCreate : .notFound
            case EEXIST, ENOTEMPTY: .alreadyExists
            case EACCES, EPERM, EROFS: .noPermission
            case ELOOP: .notAKeyset
            case ENOSPC, EDQUOT: .inputOutput
            default: verb == "create" ? .cannotCreate : .inputOutput
            }
        return KeystoreError(code, "can't \(verb) \(path): \(unsafe String(cString: strerror(number)))")
    }
}

/// read(2), which a function above hides by its name.
private func readBytes(_ descriptor: Int32, _ start: UnsafeMutableRawPointer, _ count: Int) -> Int {
    unsafe read(descriptor, start, count)
}
