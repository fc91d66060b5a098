import Foundation

#if canImport(Darwin)
import Darwin
private typealias FileActions = posix_spawn_file_actions_t?
private typealias Attributes = posix_spawnattr_t?
#elseif canImport(Glibc)
import Glibc
private typealias FileActions = posix_spawn_file_actions_t
private typealias Attributes = posix_spawnattr_t
#endif

/// A child process by posix_spawn(2) and waitpid(2).
///
/// Foundation's `Process` isn't used: its `run` crashes at times if more than a thousand files are open, and its children inherit
/// the thread's signal mask, which blocks nearly all signals. They would miss SIGPIPE, and a shell would wait forever for
/// SIGCHLD.
public struct ChildProcess {
    private let executable: String
    private let arguments: [String]
    private let environment: [String: String]
    private let folder: String
    private let stdin, stdout, stderr: String
    private let socket: Int32?

    public struct Failure: Error {
        let call: String
        let number: Int32

        public init(call: String, number: Int32) {
            (self.call, self.number) = (call, number)
        }
    }

    public enum Ending: Hashable, Sendable {
        case exit(Int32)
        case signal(Int32)
    }

    /// - Parameters:
    ///   - environment: this process's environment by default.
    ///   - folder: the working directory.
    ///   - stdin: the path of a file for the standard stream, as are the next two.
    ///   - socket: a descriptor above 2 that becomes stdin and stdout in place of their paths.
    public init(
        executable: String, arguments: [String],
        environment: [String: String]? = nil, folder: String = "/",
        stdin: String = "/dev/null", stdout: String = "/dev/null", stderr: String = "/dev/null",
        stdinAndStdout socket: Int32? = nil
    ) {
        self.executable = executable
        self.arguments = arguments
        let own = ProcessInfo.processInfo.environment
        // A program that was built with the address sanitizer needs the options of the tests.
        self.environment = environment?.merging(own.filter { $0.key == "ASAN_OPTIONS" }) { $1 } ?? own
        self.folder = folder
        (self.stdin, self.stdout, self.stderr) = (stdin, stdout, stderr)
        self.socket = socket
    }

    /// Two connected descriptors, which no other child gets; the caller closes both.
    public static func socketPair() throws -> (own: Int32, child: Int32) {
        var ends: [Int32] = [-1, -1]
        #if canImport(Glibc)
        let type = Int32(SOCK_STREAM.rawValue)
        #else
        let type = SOCK_STREAM
        #endif
        guard unsafe socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw Failure(call: "socketpair", number: errno) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }

    /// Starts the child and waits for its end.
    public func run() throws -> Ending {
        try start().wait()
    }

    /// Starts the child.
    public func start() throws -> RunningProcess {
        var actions = unsafe Self.emptyFileActions
        var attributes = Self.emptyAttributes
        try unsafe check("posix_spawn_file_actions_init", posix_spawn_file_actions_init(&actions))
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        try unsafe check("posix_spawnattr_init", posix_spawnattr_init(&attributes))
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        let streams = [(stdin, O_RDONLY), (stdout, O_WRONLY), (stderr, O_WRONLY)]
        for (descriptor, (path, mode)) in streams.enumerated() {
            let number = Int32(descriptor)
            if let socket, number < 2 {
                try unsafe check("adddup2", posix_spawn_file_actions_adddup2(&actions, socket, number))
                continue
            }
            try unsafe check("addopen", posix_spawn_file_actions_addopen(&actions, number, path, mode, 0))
        }
        try unsafe check("addchdir", Self.addChangeOfFolder(&actions, folder))
        try unsafe closeOtherDescriptors(&actions)
        try setSignals(of: &attributes)
        var child = pid_t()
        let words = CStrings([executable] + arguments)
        let variables = CStrings(environment.map { "\($0)=\($1)" })
        let result = unsafe posix_spawn(
            &child, executable, &actions, &attributes, words.pointers, variables.pointers)
        withExtendedLifetime((words, variables)) {}
        try check("posix_spawn", result)
        return RunningProcess(child)
    }

    /// A child that keeps a copy of another test's socket would keep its connection open.
    private func closeOtherDescriptors(_ actions: inout FileActions) throws {
        #if !canImport(Darwin)
        try unsafe check("addclosefrom", Self.addCloseFrom?(&actions, 3) ?? 0)
        #endif
    }

    /// Blocks no signal and doesn't ignore SIGPIPE, like a shell that starts a command.
    private func setSignals(of attributes: inout Attributes) throws {
        var (none, defaults) = (sigset_t(), sigset_t())
        _ = unsafe sigemptyset(&none)
        _ = unsafe sigemptyset(&defaults)
        _ = unsafe sigaddset(&defaults, SIGPIPE)
        try unsafe check("setsigmask", posix_spawnattr_setsigmask(&attributes, &none))
        try unsafe check("setsigdefault", posix_spawnattr_setsigdefault(&attributes, &defaults))
        var flags = Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF)
        #if canImport(Darwin)
        flags |= Int16(POSIX_SPAWN_CLOEXEC_DEFAULT)
        #endif
        try unsafe check("setflags", posix_spawnattr_setflags(&attributes, flags))
    }

    private func check(_ call: String, _ result: Int32) throws {
        guard result == 0 else { throw Failure(call: call, number: result) }
    }

    #if canImport(Darwin)
    private static let addChangeOfFolder = unsafe posix_spawn_file_actions_addchdir_np
    private static var emptyFileActions: FileActions { nil }
    private static var emptyAttributes: Attributes { nil }
    #else
    /// Swift's Glibc module doesn't declare this function, which Glibc has since 2.29.
    private static let addChangeOfFolder = unsafe unsafeBitCast(
        dlsym(nil, "posix_spawn_file_actions_addchdir_np"),
        to: (@convention(c) (UnsafeMutablePointer<FileActions>, UnsafePointer<CChar>) -> Int32).self)
    /// Glibc has it since 2.34; nil before.
    private static let addCloseFrom = unsafe dlsym(nil, "posix_spawn_file_actions_addclosefrom_np").map { symbol in
        unsafe unsafeBitCast(
            symbol, to: (@convention(c) (UnsafeMutablePointer<FileActions>, Int32) -> Int32).self)
    }
    private static var emptyFileActions: FileActions { unsafe FileActions() }
    private static var emptyAttributes: Attributes { Attributes() }
    #endif
}

/// A NULL-terminated array of C strings.
@safe private final class CStrings {
    let pointers: [UnsafeMutablePointer<CChar>?]

    init(_ strings: [String]) {
        unsafe pointers = strings.map { unsafe strdup($0) } + [nil]
    }

    deinit {
        for index in unsafe pointers.indices { unsafe free(pointers[index]) }
    }
}
