import PushCryptPrimitives

/// The environment variables, account and standard descriptors of this process.
package enum ProcessEnvironment {
    /// The value of a variable; nil if it isn't set. Use ``bytes(of:)`` for a secret, which must not be in a `String`.
    package static func variable(_ name: String) -> String? {
        unsafe getenv(name).map { unsafe String(cString: $0) }
    }

    package static func has(_ name: String) -> Bool { unsafe getenv(name) != nil }

    /// The bytes of a variable; nil if it isn't set. The caller wipes a secret.
    package static func bytes(of name: String) -> [UInt8]? {
        guard let value = unsafe getenv(name) else { return nil }
        return unsafe Array(UnsafeRawBufferPointer(start: value, count: strlen(value)))
    }

    /// The name of the account that runs the process; `uid N` if the account has no name.
    package static var accountName: String {
        let uid = getuid()
        return unsafe getpwuid(uid).map { unsafe String(cString: $0.pointee.pw_name) } ?? "uid \(uid)"
    }

    /// The name of the host, at most 255 bytes; empty if the system doesn't give it.
    package static var hostName: String {
        var name = [CChar](repeating: 0, count: 256)
        // The last byte stays zero.
        guard unsafe gethostname(&name, name.count - 1) == 0 else { return "" }
        return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Opens /dev/null at each standard descriptor that is closed. Otherwise the next file that is opened would get the
    /// number of stdout, and data would be written to it. The descriptor is read-only: writing to it still fails.
    package static func openClosedStandardDescriptors() {
        for descriptor: Int32 in 0...2 where fcntl(descriptor, F_GETFD) == -1 { _ = unsafe open("/dev/null", O_RDONLY) }
    }

    /// Sends SIGINT to the process. Returns if SIGINT is ignored.
    package static func interrupt() {
        // Threads of Swift's concurrency runtime block signals.
        var signals = sigset_t()
        _ = unsafe sigemptyset(&signals)
        _ = unsafe sigaddset(&signals, SIGINT)
        _ = unsafe pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        raise(SIGINT)
    }
}
