import PushCryptFiles
import PushCryptPrimitives

#if canImport(Darwin)
private typealias FileActions = posix_spawn_file_actions_t?
private typealias Attributes = posix_spawnattr_t?
#else
private typealias FileActions = posix_spawn_file_actions_t
private typealias Attributes = posix_spawnattr_t
#endif

extension HelperProcess {
    /// Whether this process has a terminal. A helper in the same process group may ask there for a PIN, and Ctrl-C
    /// reaches both.
    static var hasTerminal: Bool {
        let terminal = unsafe open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard terminal >= 0 else { return false }
        close(terminal)
        return true
    }

    /// Starts `sh -c script` with these two streams and this process's stderr.
    static func spawn(
        _ script: String, stdin: Int32, stdout: Int32, leadsGroup: Bool
    ) throws(HelperFailure) -> pid_t {
        var (actions, attributes) = unsafe (Self.noFileActions, Self.noAttributes)
        guard unsafe posix_spawn_file_actions_init(&actions) == 0, unsafe posix_spawnattr_init(&attributes) == 0 else {
            throw HelperFailure(system: "posix_spawn", ENOMEM)
        }
        defer {
            unsafe posix_spawn_file_actions_destroy(&actions)
            unsafe posix_spawnattr_destroy(&attributes)
        }
        unsafe posix_spawn_file_actions_adddup2(&actions, stdin, 0)
        unsafe posix_spawn_file_actions_adddup2(&actions, stdout, 1)
        unsafe closeOthers(&actions)
        setSignals(&attributes, leadsGroup: leadsGroup)
        var child = pid_t()
        let words: [UnsafeMutablePointer<CChar>?] = unsafe [strdup("sh"), strdup("-c"), strdup(script), nil]
        defer { for index in unsafe words.indices { unsafe free(words[index]) } }
        let result = unsafe posix_spawn(&child, "/bin/sh", &actions, &attributes, words, environment() + [nil])
        guard result == 0 else { throw HelperFailure(system: "/bin/sh", result) }
        return child
    }

    /// Whatever this process has open without O_CLOEXEC, the descriptor of a passphrase too, is not the helper's.
    private static func closeOthers(_ actions: inout FileActions) {
        #if canImport(Darwin)
        // All others go by POSIX_SPAWN_CLOEXEC_DEFAULT.
        unsafe posix_spawn_file_actions_addinherit_np(&actions, 2)
        #else
        let names = (try? FileSystem.names(in: "/proc/self/fd")) ?? (3..<1_024).map { String($0) }
        for descriptor in names.compactMap({ Int32($0) }) where descriptor > 2 {
            let flags = fcntl(descriptor, F_GETFD)
            guard flags >= 0, flags & FD_CLOEXEC == 0 else { continue }
            unsafe posix_spawn_file_actions_addclose(&actions, descriptor)
        }
        #endif
    }

    /// None blocked, and SIGPIPE not ignored, as a shell starts its commands: threads of a server block signals, and the
    /// tool ignores SIGPIPE.
    private static func setSignals(_ attributes: inout Attributes, leadsGroup: Bool) {
        var (none, defaults) = (sigset_t(), sigset_t())
        _ = unsafe sigemptyset(&none)
        _ = unsafe sigemptyset(&defaults)
        _ = unsafe sigaddset(&defaults, SIGPIPE)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setsigdefault(&attributes, &defaults)
        var flags = Int32(POSIX_SPAWN_SETSIGMASK) | Int32(POSIX_SPAWN_SETSIGDEF)
        if leadsGroup {
            flags |= Int32(POSIX_SPAWN_SETPGROUP)
            unsafe posix_spawnattr_setpgroup(&attributes, 0)
        }
        #if canImport(Darwin)
        flags |= Int32(POSIX_SPAWN_CLOEXEC_DEFAULT)
        #endif
        unsafe posix_spawnattr_setflags(&attributes, Int16(flags))
    }

    /// That of this process, but for the passphrase: to one who wraps data keys it says nothing.
    private static func environment() -> [UnsafeMutablePointer<CChar>?] {
        #if canImport(Darwin)
        guard let variables = unsafe _NSGetEnviron().pointee else { return unsafe [] }
        #else
        let variables = unsafe environ
        #endif
        var kept: [UnsafeMutablePointer<CChar>?] = unsafe []
        var index = 0
        while let variable = unsafe variables[index] {
            if unsafe strncmp(variable, hidden, hidden.utf8.count) != 0 { unsafe kept.append(variable) }
            index += 1
        }
        return unsafe kept
    }

    private static let hidden = "PUSHCRYPT_PASSPHRASE="

    #if canImport(Darwin)
    private static var noFileActions: FileActions { nil }
    private static var noAttributes: Attributes { nil }
    #else
    private static var noFileActions: FileActions { unsafe FileActions() }
    private static var noAttributes: Attributes { Attributes() }
    #endif
}
