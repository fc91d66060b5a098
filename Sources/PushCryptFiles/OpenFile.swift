import PushCryptPrimitives

/// An open file, pipe or device. It is closed with this object.
package final class OpenFile: Sendable {
    /// As errors name it.
    package let path: String
    package let descriptor: Int32
    private let isOwned: Bool

    /// - Parameters:
    ///   - descriptor: open.
    ///   - isOwned: whether this object closes it.
    package init(descriptor: Int32, named path: String, isOwned: Bool = false) {
        self.descriptor = descriptor
        self.path = path
        self.isOwned = isOwned
    }

    /// Opens a file for reading; links are followed.
    ///
    /// - Parameter waiting: whether to wait for somebody who writes to a pipe. A pipe in place of a file would hold up for
    ///   good a process that waits.
    /// - Throws: `FileError` with `notFound`, `noPermission`.
    package convenience init(_ path: String, waiting: Bool = false) throws(FileError) {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | (waiting ? 0 : O_NONBLOCK))
        guard descriptor >= 0 else { throw FileError(.read, path) }
        self.init(descriptor: descriptor, named: path, isOwned: true)
    }

    deinit {
        if isOwned { close(descriptor) }
    }

    package func status() throws(FileError) -> FileStatus {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw FileError(.read, path) }
        return FileStatus(status)
    }

    /// - Parameters:
    ///   - rule: who may reach it; nil where that doesn't matter, or not yet.
    ///   - advice: what is needed in place of something that isn't a file, for the error.
    /// - Throws: `FileError` with `notAFile`, `foreignOwner`, `looseMode`.
    @discardableResult
    package func requireFile(_ rule: FileAccess.Rule? = nil, advice: String = "") throws(FileError) -> FileStatus {
        let status = try status()
        guard status.kind == .file else { throw FileError(.notAFile, path, "\(path) is not a file\(advice)") }
        if let rule { try status.access.check(rule, path) }
        return status
    }

    // MARK: Reading

    /// Most files of this project are small: keys and their logs.
    package static let usualLimitInBytes = 16 << 20

    /// Everything to the end.
    ///
    /// Space for all of it, of a pipe for what is likely, is reserved at once: an array that grows leaves copies of secrets
    /// behind.
    ///
    /// - Throws: `FileError` with `tooLong`, `inputOutput`, `noPermission`.
    package func readAll(limitInBytes limit: Int = usualLimitInBytes) throws(FileError) -> [UInt8] {
        var bytes = [UInt8]()
        bytes.reserveCapacity(min(max(Int(try status().byteCount), 65_536), limit))
        var chunk = [UInt8](repeating: 0, count: 65_536)
        defer { wipe(&chunk) }
        while true {
            let count = try readSome(into: &chunk, from: 0)
            guard count > 0 else { return bytes }
            guard bytes.count + count <= limit else {
                wipe(&bytes)
                throw FileError(.tooLong, path, "\(path) is longer than \(limit) bytes")
            }
            bytes += chunk[..<count]
        }
    }

    /// Reads until the buffer is full or the file ends.
    ///
    /// - Returns: the number of bytes.
    package func readFull(into buffer: inout [UInt8]) throws(FileError) -> Int {
        var count = 0
        while count < buffer.count {
            let more = try readSome(into: &buffer, from: count)
            guard more > 0 else { break }
            count += more
        }
        return count
    }

    /// Reads what is there; waits only where there is nothing.
    ///
    /// - Parameter start: an index of the buffer, which must have at least one byte from there.
    /// - Returns: the number of bytes; 0 at the end.
    package func readSome(into buffer: inout [UInt8], from start: Int = 0) throws(FileError) -> Int {
        while true {
            let count = unsafe buffer.withUnsafeMutableBytes { bytes in
                unsafe read(descriptor, bytes.baseAddress! + start, bytes.count - start)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw FileError(.read, path) }
            return count
        }
    }

    // MARK: Writing

    /// - Parameter count: grows by the bytes that were written, also before an error.
    /// - Throws: `FileError` with `noSpace`, `inputOutput`; a part may have been written.
    package func write(_ bytes: ArraySlice<UInt8>, counting count: inout Int) throws(FileError) {
        var rest = bytes
        while !rest.isEmpty {
            let written = unsafe rest.withUnsafeBytes { bytes in
                unsafe writeBytes(descriptor, bytes.baseAddress!, bytes.count)
            }
            if written < 0, errno == EINTR { continue }
            guard written > 0 else { throw FileError(.write, path) }
            count += written
            rest = rest.dropFirst(written)
        }
    }

    package func write(_ bytes: [UInt8]) throws(FileError) {
        var count = 0
        try write(bytes[...], counting: &count)
    }

    package func setMode(_ mode: Int) throws(FileError) {
        guard fchmod(descriptor, mode_t(mode)) == 0 else { throw FileError(.write, path) }
    }

    func truncate(to byteCount: Int) throws(FileError) {
        guard ftruncate(descriptor, off_t(byteCount)) == 0 else { throw FileError(.write, path) }
    }

    /// Waits until the content is on the disk.
    ///
    /// Apple's fsync(2) leaves it in the drive's cache: a battery that dies would take a key with it whose public half was
    /// published.
    package func synchronize() throws(FileError) {
        #if canImport(Darwin)
        if fcntl(descriptor, F_FULLFSYNC) == 0 { return }
        #endif
        guard fsync(descriptor) == 0 else { throw FileError(.write, path) }
    }
}

/// read(2) and write(2), which methods of the same name hide.
private func writeBytes(_ descriptor: Int32, _ start: UnsafeRawPointer, _ count: Int) -> Int {
    unsafe write(descriptor, start, count)
}
