import PushCryptPrimitives

/// SIGINT and SIGTERM as something to wait for and not as a sudden end. The second of a kind ends the process at once.
final class Interruption: Sendable {
    /// The handler has nothing else to write to, and a handler can't be given anything.
    private static let pipe: (end: Int32, start: Int32) = {
        var ends: [Int32] = [-1, -1]
        guard makePipe(&ends) == 0 else { return (-1, -1) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }()

    /// Signals that were ignored, as in the background of a script, stay ignored.
    ///
    /// - Throws: `Failure` when there is no descriptor left.
    init() throws(Failure) {
        guard Self.pipe.end >= 0 else { throw Failure(.software, "can't make a pipe to be interrupted through") }
        for number in [SIGINT, SIGTERM] { setSignalHandler(number, handle) }
    }

    /// Waits until there is something to read.
    ///
    /// - Returns: the signal that came before, if one did.
    func wait(toRead descriptor: Int32) -> Int32? {
        var items = [
            pollfd(fd: Self.pipe.end, events: Int16(POLLIN), revents: 0),
            pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
        ]
        // An error of poll(2), other than a signal's, comes back from read(2) too, which says which.
        while unsafe poll(&items, 2, -1) < 0, errno == EINTR {}
        guard items[0].revents != 0 else { return nil }
        var number: UInt8 = 0
        // Not a blocking one: there is something.
        guard unsafe readByte(Self.pipe.end, &number) == 1 else { return nil }
        return Int32(number)
    }

    fileprivate static func raise(_ number: Int32) {
        var byte = UInt8(truncatingIfNeeded: number)
        _ = unsafe writeByte(pipe.start, &byte)
    }
}

/// Calls nothing that a handler may not call.
private func handle(_ number: Int32) {
    let old = errno
    _ = signal(number, SIG_DFL)
    Interruption.raise(number)
    errno = old
}

/// pipe(2), read(2) and write(2), whose names the class has taken.
private func makePipe(_ ends: inout [Int32]) -> Int32 {
    unsafe pipe(&ends)
}

private func readByte(_ descriptor: Int32, _ byte: UnsafeMutablePointer<UInt8>) -> Int {
    unsafe read(descriptor, byte, 1)
}

private func writeByte(_ descriptor: Int32, _ byte: UnsafePointer<UInt8>) -> Int {
    unsafe write(descriptor, byte, 1)
}
