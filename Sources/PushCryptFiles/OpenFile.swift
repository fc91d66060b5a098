import PushCryptPrimitives

/// An open file, pipe or device. Deinitialisation closes it.
package final class OpenFile: Sendable {
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
    /// - Parameter waiting: whether to wait until another process opens a pipe for writing. Such a wait may never end.
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
    ///   - rule: nil to check the owner and mode later or not at all.
    ///   - advice: text for the error about a folder, pipe or device.
    /// - Throws: `FileError` with `notAFile`, `foreignOwner`, `looseMode`.
    @discardableResult
    package func requireFile(_ rule: FileAccess.Rule? = nil, advice: String = "") throws(FileError) -> FileStatus {
        let status = try status()
        guard status.kind == .file else { throw FileError(.notAFile, path, "\(path) is not a file\(advice)") }
        if let rule { try status.access.check(rule, path) }
        return status
    }

    // MARK: Reading

    /// 16 MiB. Keys and their logs are much smaller.
    package static let usualLimitInBytes = 16 << 20

    /// Reserves the array's capacity first, because an array that grows leaves copies of secrets in memory.
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
    /// - Parameter offset: the place in the file to read from, without moving its position; nil to read on.
    /// - Returns: the number of bytes.
    package func readFull(into buffer: inout [UInt8], at offset: Int64? = nil) throws(FileError) -> Int {
        var count = 0
        while count < buffer.count {
            let more = try readSome(into: &buffer, from: count, at: offset.map { $0 + Int64(count) })
            guard more > 0 else { break }
            count += more
        }
        return count
    }

    /// Reads the bytes that are available, and waits only if there are none.
    ///
    /// - Parameters:
    ///   - start: the index in the buffer of the first byte to write; less than `buffer.count`.
    ///   - offset: as for ``readFull(into:at:)``.
    /// - Returns: the number of bytes; 0 at the end.
    package func readSome(
        into buffer: inout [UInt8], from start: Int = 0, at offset: Int64? = nil
    ) throws(FileError) -> Int {
        while true {
            let count = unsafe buffer.withUnsafeMutableBytes { bytes in
                let (free, room) = unsafe (bytes.baseAddress! + start, bytes.count - start)
                guard let offset else { return unsafe read(descriptor, free, room) }
                return unsafe pread(descriptor, free, room, off_t(offset))
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw FileError(.read, path) }
            return count
        }
    }

    // MARK: Writing

    /// - Parameter count: is increased by the number of bytes written, also if an error follows.
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

    /// Waits until there is room for a write, for a descriptor that may be nonblocking.
    package func waitUntilWritable() {
        var item = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        // write(2) reports every error again.
        _ = unsafe poll(&item, 1, -1)
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
    /// Apple's fsync(2) leaves it in the drive's cache. A power failure could then lose a key whose public half is
    /// published.
    package func synchronize() throws(FileError) {
        #if canImport(Darwin)
        if fcntl(descriptor, F_FULLFSYNC) == 0 { return }
        #endif
        guard fsync(descriptor) == 0 else { throw FileError(.write, path) }
    }
}

/// write(2), which methods of the same name hide.
private func writeBytes(_ descriptor: Int32, _ start: UnsafeRawPointer, _ count: Int) -> Int {
    unsafe write(descriptor, start, count)
}
