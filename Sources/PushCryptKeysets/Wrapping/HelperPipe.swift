import PushCryptPrimitives

/// What went wrong with a helper program.
struct HelperFailure: Error {
    let reason: String

    init(_ reason: String) {
        self.reason = reason
    }

    /// What errno says.
    init(system call: String, _ number: Int32 = errno) {
        reason = "\(call): \(unsafe String(cString: strerror(number)))"
    }
}

/// A pipe to or from a helper. Unlike a socket, it can be opened again as /dev/stdin, as many clients do.
final class HelperPipe {
    private(set) var readEnd: Int32 = -1
    private(set) var writeEnd: Int32 = -1

    init() throws(HelperFailure) {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { throw HelperFailure(system: "pipe") }
        // Two steps, because the system's module lacks pipe2. What another thread starts in between keeps the pipe open;
        // at worst the helper then waits for the end of its input until it is late.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        readEnd = Self.aboveStandardStreams(ends[0])
        writeEnd = Self.aboveStandardStreams(ends[1])
        guard readEnd > 2, writeEnd > 2 else { throw HelperFailure(system: "pipe") }
    }

    deinit {
        closeReadEnd()
        closeWriteEnd()
    }

    /// In a process without standard streams a pipe gets their numbers, which the child needs for the other pipe.
    private static func aboveStandardStreams(_ descriptor: Int32) -> Int32 {
        guard (0...2).contains(descriptor) else { return descriptor }
        defer { close(descriptor) }
        return fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
    }

    /// Puts all of it into the pipe and closes the end, while nobody reads yet.
    ///
    /// Up to 4,096 bytes there is room for in any pipe. The read end is open here, so that no child that goes without
    /// reading turns the write into a SIGPIPE.
    func fill(_ bytes: [UInt8]) throws(HelperFailure) {
        defer { closeWriteEnd() }
        _ = fcntl(writeEnd, F_SETFL, O_NONBLOCK)
        var count: Int
        repeat {
            count = unsafe bytes.withUnsafeBytes { unsafe write(writeEnd, $0.baseAddress, $0.count) }
        } while count < 0 && errno == EINTR
        guard count == bytes.count else { throw HelperFailure(system: "writing to it") }
    }

    func closeReadEnd() {
        if readEnd >= 0 { close(readEnd) }
        readEnd = -1
    }

    func closeWriteEnd() {
        if writeEnd >= 0 { close(writeEnd) }
        writeEnd = -1
    }
}
