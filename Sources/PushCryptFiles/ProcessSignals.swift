import PushCryptPrimitives

#if os(Linux)
import CPushCryptProcess
#endif

// Only programs handle signals: not the extensions of iOS apps, which link this target too.
#if !canImport(Darwin) || os(macOS)
/// The signal handlers and the core file limit of the process.
package enum ProcessSignals {
    /// Makes writing to a pipe without a reader an error instead of a signal that ends the process.
    package static func ignoreBrokenPipes() { signal(SIGPIPE, SIG_IGN) }

    /// Removes the handlers of the signals of a crash, which the Swift runtime's backtracer has installed.
    package static func removeCrashHandlers() {
        for number in [SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGQUIT, SIGSEGV, SIGTRAP] { setHandler(number, SIG_DFL) }
    }

    /// Sets the soft limit of the size of core files to 0, and on Linux forbids dumps. A program that this process starts
    /// inherits the limit and may raise it again; execve(2) allows dumps again.
    package static func forbidCoreFiles() {
        #if os(Linux)
        _ = pushcrypt_process_forbid_dumps()
        #endif
        #if canImport(Glibc)
        let coreSize = __rlimit_resource_t(RLIMIT_CORE.rawValue)
        #else
        let coreSize = RLIMIT_CORE
        #endif
        var limit = rlimit()
        guard unsafe getrlimit(coreSize, &limit) == 0 else { return }
        limit.rlim_cur = 0
        _ = unsafe setrlimit(coreSize, &limit)
    }

    /// Sets a signal's handler. A signal that is ignored stays ignored, as in the background of a script.
    fileprivate static func setHandler(_ number: Int32, _ handler: (@convention(c) (Int32) -> Void)?) {
        let old = signal(number, handler)
        if unsafe unsafeBitCast(old, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) { signal(number, SIG_IGN) }
    }
}

/// Waits for SIGINT and SIGTERM instead of letting them end the process. The second signal of a kind ends it.
package final class Interruption: Sendable {
    /// Static because a signal handler has no context argument. nil if the pipe couldn't be created.
    private static let pipe = try? HelperProcess.pipe()

    private let readEnd: OpenFile

    /// Installs the signal handlers. Signals that were ignored stay ignored.
    ///
    /// - Returns: nil if the pipe that reports signals can't be created.
    package init?() {
        guard let pipe = Self.pipe else { return nil }
        readEnd = pipe.readEnd
        for number in [SIGINT, SIGTERM] { ProcessSignals.setHandler(number, handle) }
    }

    /// Waits until the descriptor is readable or a signal has arrived.
    ///
    /// - Returns: the signal; nil if the descriptor is readable.
    package func wait(toRead descriptor: Int32) -> Int32? {
        var items = [
            pollfd(fd: readEnd.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
        ]
        // read(2) reports every other error of poll(2) again.
        while unsafe poll(&items, 2, -1) < 0, errno == EINTR {}
        guard items[0].revents != 0 else { return nil }
        var number: [UInt8] = [0]
        guard (try? readEnd.readSome(into: &number)) == 1 else { return nil }
        return Int32(number[0])
    }

    fileprivate static func report(_ number: Int32) {
        guard let pipe else { return }
        var byte = UInt8(truncatingIfNeeded: number)
        _ = unsafe write(pipe.writeEnd.descriptor, &byte, 1)
    }
}

/// Calls async-signal-safe functions only.
private func handle(_ number: Int32) {
    let old = errno
    signal(number, SIG_DFL)
    Interruption.report(number)
    errno = old
}
#endif
