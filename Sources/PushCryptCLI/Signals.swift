import PushCryptPrimitives

#if !canImport(Darwin)
import CPushCryptProcess
#endif

/// The output of a crash, which would show memory that contains keys.
enum CrashOutput {
    /// Turns crash output off. Call it before any secret is read. A failure here is no reason to stop.
    ///
    /// The Swift runtime's backtracer prints registers and the memory that they point to. It reads its settings before
    /// `main`, too early for an environment variable set here, so its signal handlers are removed. A core file
    /// contains all of the memory.
    static func turnOff() {
        for number in [SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGQUIT, SIGSEGV, SIGTRAP] {
            setSignalHandler(number, SIG_DFL)
        }
        var limit = rlimit()
        if unsafe getrlimit(coreSize, &limit) == 0 {
            // Only the soft limit: a command that the tool starts inherits it and may raise it again.
            limit.rlim_cur = 0
            _ = unsafe setrlimit(coreSize, &limit)
        }
        #if os(Linux)
        // execve(2) resets this attribute, so a command that the tool starts is dumpable again.
        _ = pushcrypt_process_forbid_dumps()
        #endif
    }

    #if canImport(Glibc)
    private static let coreSize = __rlimit_resource_t(RLIMIT_CORE.rawValue)
    #else
    private static let coreSize = RLIMIT_CORE
    #endif
}

/// Waits for SIGINT and SIGTERM instead of ending at once. The second signal of a kind ends the process.
final class Interruption: Sendable {
    /// Static because a signal handler has no context argument.
    private static let pipe: (end: Int32, start: Int32) = {
        var ends: [Int32] = [-1, -1]
        guard makePipe(&ends) == 0 else { return (-1, -1) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }()

    /// Installs the signal handlers. Signals that were ignored stay ignored.
    ///
    /// - Throws: `Failure` when no pipe can be made.
    init() throws(Failure) {
        guard Self.pipe.end >= 0 else { throw Failure(.software, "can't make the pipe that reports signals") }
        for number in [SIGINT, SIGTERM] { setSignalHandler(number, handle) }
    }

    /// Waits until the descriptor is readable or a signal has arrived.
    ///
    /// - Returns: the signal, or nil when the descriptor is readable.
    func wait(toRead descriptor: Int32) -> Int32? {
        var items = [
            pollfd(fd: Self.pipe.end, events: Int16(POLLIN), revents: 0),
            pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
        ]
        // read(2) reports every other error of poll(2) again.
        while unsafe poll(&items, 2, -1) < 0, errno == EINTR {}
        guard items[0].revents != 0 else { return nil }
        var number: UInt8 = 0
        guard unsafe readByte(Self.pipe.end, &number) == 1 else { return nil }
        return Int32(number)
    }

    fileprivate static func raise(_ number: Int32) {
        var byte = UInt8(truncatingIfNeeded: number)
        _ = unsafe writeByte(pipe.start, &byte)
    }
}

/// Calls async-signal-safe functions only.
private func handle(_ number: Int32) {
    let old = errno
    _ = signal(number, SIG_DFL)
    Interruption.raise(number)
    errno = old
}

/// Sets a signal's handler. A signal that is ignored stays ignored, as in the background of a script.
private func setSignalHandler(_ number: Int32, _ handler: (@convention(c) (Int32) -> Void)?) {
    let old = signal(number, handler)
    if unsafe unsafeBitCast(old, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) {
        _ = signal(number, SIG_IGN)
    }
}

// pipe(2), read(2) and write(2), which members of the class hide.

private func makePipe(_ ends: inout [Int32]) -> Int32 {
    unsafe pipe(&ends)
}

private func readByte(_ descriptor: Int32, _ byte: UnsafeMutablePointer<UInt8>) -> Int {
    unsafe read(descriptor, byte, 1)
}

private func writeByte(_ descriptor: Int32, _ byte: UnsafePointer<UInt8>) -> Int {
    unsafe write(descriptor, byte, 1)
}
