import PushCryptPrimitives

#if os(Linux)
import CPushCryptProcess
#endif

// Extensions of iOS apps link this target and can't start processes.
#if !canImport(Darwin) || os(macOS)
#if canImport(Darwin)
private typealias FileActions = posix_spawn_file_actions_t?
#else
private typealias FileActions = posix_spawn_file_actions_t
#endif

/// A pointer on Apple's systems, and a structure without pointers on Linux.
@safe private struct Attributes {
    #if canImport(Darwin)
    var value: posix_spawnattr_t?
    #else
    var value = posix_spawnattr_t()
    #endif
}

/// Runs a helper program. Kills the program after a time limit and always waits for its end.
package struct HelperProcess {
    private let process: pid_t
    private let leadsGroup: Bool
    private let deadline: ContinuousClock.Instant
    private let now: () -> ContinuousClock.Instant

    /// - Parameters:
    ///   - script: for /bin/sh.
    ///   - stdin: at most 4,096 bytes. The program need not read them.
    ///   - limit: the largest output, in bytes.
    ///   - seconds: the time limit.
    ///   - mayAsk: whether the program stays in the terminal's foreground process group, so that it can ask a person. If
    ///     not, a time limit also kills the programs that it started.
    ///   - variables: as ``Program/variables``.
    /// - Returns: the output. The caller wipes it.
    /// - Throws: `FileError` with `helperFailed`, or the code of a system call that failed.
    package static func run(
        _ script: String, stdin: [UInt8], limit: Int, seconds: Int, mayAsk: Bool, variables: [String: String] = [:],
        now: @escaping () -> ContinuousClock.Instant
    ) throws(FileError) -> [UInt8] {
        var program = Program(path: "/bin/sh", arguments: ["-c", script])
        program.variables = variables
        let stdout: OpenFile
        let helper: HelperProcess
        do {
            // When this block ends, only one end of the two pipes is open: the one for reading the program's output.
            let (input, output) = (try pipe(), try pipe())
            try fill(input.writeEnd, stdin)
            helper = try HelperProcess(
                program, stdin: input.readEnd, stdout: output.writeEnd, seconds: seconds, mayAsk: mayAsk, now: now)
            stdout = output.readEnd
        }
        return try helper.finish(reading: stdout, limit)
    }

    /// A program that is started without a shell.
    package struct Program: Sendable {
        package let path: String
        /// Without the program's name.
        package let arguments: [String]
        /// Variables that are added to the environment of this process or replace its own.
        package var variables: [String: String] = [:]
        /// Whether the program gets the environment of this process, too.
        package var inheritsEnvironment = true

        package init(path: String, arguments: [String]) {
            self.path = path
            self.arguments = arguments
        }

        /// The program of that name in the folders of PATH; nil if there is none.
        package init?(named name: String, arguments: [String]) {
            let folders = (ProcessEnvironment.variable("PATH") ?? "").split(separator: ":")
            let paths = folders.map { $0 + "/" + name }
            guard let path = paths.first(where: { FileStatus($0, followingLinks: true)?.kind == .file }) else {
                return nil
            }
            self.init(path: path, arguments: arguments)
        }
    }

    /// Runs a program that has no input. What it prints goes to stderr of this process.
    ///
    /// - Throws: as ``run(_:stdin:limit:seconds:mayAsk:variables:now:)``.
    package static func run(
        _ program: Program, seconds: Int, mayAsk: Bool, now: @escaping () -> ContinuousClock.Instant
    ) throws(FileError) {
        let status = try ending(of: program, seconds: seconds, mayAsk: mayAsk, now: now).exitStatus()
        guard status == 0 else { throw failure("exit status \(status)") }
    }

    /// How a program ended.
    package enum Ending: Hashable, Sendable {
        case exit(Int32)
        case signal(Int32)
        /// It didn't end in time and was killed.
        case late

        /// As a shell shows it.
        fileprivate func exitStatus() throws(FileError) -> Int32 {
            switch self {
            case .exit(let status): status
            case .signal(let number): 128 + number
            case .late: throw HelperProcess.late
            }
        }
    }

    /// Runs a program that has no input. What it prints goes to stderr of this process.
    ///
    /// - Throws: `FileError` if the program can't be started.
    package static func ending(
        of program: Program, seconds: Int, mayAsk: Bool, now: @escaping () -> ContinuousClock.Instant
    ) throws(FileError) -> Ending {
        try HelperProcess(
            program, stdin: OpenFile("/dev/null"), stdout: OpenFile(descriptor: STDERR_FILENO, named: "stderr"),
            seconds: seconds, mayAsk: mayAsk, now: now
        ).ending()
    }

    private init(
        _ program: Program, stdin: OpenFile, stdout: OpenFile, seconds: Int, mayAsk: Bool,
        now: @escaping () -> ContinuousClock.Instant
    ) throws(FileError) {
        deadline = now() + .seconds(seconds)
        leadsGroup = !mayAsk
        self.now = now
        process = try Self.spawn(program, stdin: stdin, stdout: stdout, leadsGroup: leadsGroup)
    }

    private func end() { kill(leadsGroup ? -process : process, SIGKILL) }

    private func finish(reading stdout: OpenFile, _ limit: Int) throws(FileError) -> [UInt8] {
        var output = [UInt8](repeating: 0, count: limit + 1)
        defer { wipe(&output) }
        let count: Int
        do throws(FileError) {
            count = try read(stdout, into: &output)
        } catch {
            end()
            _ = try? ending()
            throw error
        }
        // Otherwise a child that still prints would wait for room in the pipe, and this process for the child.
        if count > limit { end() }
        let status = try ending().exitStatus()
        guard count <= limit else { throw Self.failure("it printed more than \(limit) bytes") }
        guard status == 0 else { throw Self.failure("exit status \(status)") }
        return Array(output[..<count])
    }

    private func read(_ stdout: OpenFile, into output: inout [UInt8]) throws(FileError) -> Int {
        var count = 0
        while count < output.count {
            try waitForOutput(of: stdout)
            let more = try stdout.readSome(into: &output, from: count)
            guard more > 0 else { return count }
            count += more
        }
        return count
    }

    private func waitForOutput(of stdout: OpenFile) throws(FileError) {
        while true {
            guard now() < deadline else { throw Self.late }
            var item = pollfd(fd: stdout.descriptor, events: Int16(POLLIN), revents: 0)
            let result = unsafe poll(&item, 1, Self.longestWaitInMilliseconds)
            if result > 0 { return }
            guard result == 0 || errno == EINTR else { throw FileError(.read, Self.name) }
        }
    }

    /// Waits for the end of the child, which may run on after it closed its stdout.
    private func ending() throws(FileError) -> Ending {
        var status: Int32 = 0
        var wait: Int32 = 1
        var isLate = false
        while true {
            let result = unsafe waitpid(process, &status, isLate ? 0 : WNOHANG)
            if result == process { break }
            guard result == 0 || errno == EINTR else { throw FileError(.read, Self.name) }
            if now() >= deadline {
                isLate = true
                end()
            } else {
                poll(nil, 0, wait)
                wait = min(wait * 2, Self.longestWaitInMilliseconds)
            }
        }
        guard !isLate else { return .late }
        return status & 0x7f == 0 ? .exit((status >> 8) & 0xff) : .signal(status & 0x7f)
    }

    private static let name = "the helper's output"
    fileprivate static let late = failure("it didn't end in time and was killed")
    /// The longest wait between two checks of the deadline.
    private static let longestWaitInMilliseconds: Int32 = 50

    private static func failure(_ reason: String) -> FileError { FileError(.helperFailed, name, reason) }
}

extension HelperProcess {
    /// A pipe to or from a helper. Unlike a socket, it can be opened again as /dev/stdin, as many programs do.
    static func pipe() throws(FileError) -> (readEnd: OpenFile, writeEnd: OpenFile) {
        var ends: [Int32] = [-1, -1]
        guard unsafe openPipe(&ends) == 0 else { throw FileError(.create, "a pipe") }
        return (try aboveStandardStreams(ends[0]), try aboveStandardStreams(ends[1]))
    }

    /// Moves a descriptor above the numbers of the standard streams. In a process without standard streams, a pipe gets
    /// these numbers, which the child needs for its own stdin and stdout.
    private static func aboveStandardStreams(_ descriptor: Int32) throws(FileError) -> OpenFile {
        let file = OpenFile(descriptor: descriptor, named: name, isOwned: true)
        guard (0...2).contains(descriptor) else { return file }
        let other = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
        guard other >= 0 else { throw FileError(.create, "a pipe") }
        return OpenFile(descriptor: other, named: name, isOwned: true)
    }

    /// Writes all bytes to the pipe before the helper starts.
    ///
    /// Every pipe has room for 4,096 bytes. The read end is still open here, so a child that doesn't read its input can't
    /// cause a SIGPIPE.
    private static func fill(_ pipe: OpenFile, _ bytes: [UInt8]) throws(FileError) {
        _ = fcntl(pipe.descriptor, F_SETFL, O_NONBLOCK)
        try pipe.write(bytes)
    }

    /// Starts the program with these two streams and this process's stderr.
    private static func spawn(
        _ program: Program, stdin: OpenFile, stdout: OpenFile, leadsGroup: Bool
    ) throws(FileError) -> pid_t {
        var actions = unsafe noFileActions
        var attributes = Attributes()
        guard unsafe posix_spawn_file_actions_init(&actions) == 0, unsafe posix_spawnattr_init(&attributes.value) == 0
        else {
            throw FileError(.create, "a process", systemError: ENOMEM)
        }
        defer {
            unsafe posix_spawn_file_actions_destroy(&actions)
            unsafe posix_spawnattr_destroy(&attributes.value)
        }
        unsafe posix_spawn_file_actions_adddup2(&actions, stdin.descriptor, 0)
        unsafe posix_spawn_file_actions_adddup2(&actions, stdout.descriptor, 1)
        unsafe closeOthers(&actions)
        setSignals(&attributes, leadsGroup: leadsGroup)
        var child = pid_t()
        let arguments = unsafe copied([FileSystem.name(of: program.path)] + program.arguments)
        let variables = unsafe copied(program.variables.map { "\($0)=\($1)" })
        let copies = unsafe arguments + variables
        defer { for index in unsafe copies.indices { unsafe free(copies[index]) } }
        let inherited =
            unsafe program.inheritsEnvironment ? environment(without: program.variables.keys) : []
        let result = withExtendedLifetime((stdin, stdout)) {
            unsafe posix_spawn(
                &child, program.path, &actions, &attributes.value, arguments + [nil], inherited + variables + [nil])
        }
        guard result == 0 else { throw FileError(.read, program.path, systemError: result) }
        return child
    }

    /// Closes in the child the descriptors that this process opened without O_CLOEXEC, such as that of a passphrase, also
    /// those that other threads open until the child starts.
    private static func closeOthers(_ actions: inout FileActions) {
        #if canImport(Darwin)
        // POSIX_SPAWN_CLOEXEC_DEFAULT closes all others.
        unsafe posix_spawn_file_actions_addinherit_np(&actions, 2)
        #else
        _ = unsafe pushcrypt_process_close_from(&actions, 3)
        #endif
    }

    /// Starts the child with no blocked signals and with the default action for SIGPIPE, as a shell does: threads of a
    /// server block signals, and the tool ignores SIGPIPE.
    private static func setSignals(_ attributes: inout Attributes, leadsGroup: Bool) {
        var none = sigset_t()
        var defaults = sigset_t()
        _ = unsafe sigemptyset(&none)
        _ = unsafe sigemptyset(&defaults)
        _ = unsafe sigaddset(&defaults, SIGPIPE)
        unsafe posix_spawnattr_setsigmask(&attributes.value, &none)
        unsafe posix_spawnattr_setsigdefault(&attributes.value, &defaults)
        var flags = Int32(POSIX_SPAWN_SETSIGMASK) | Int32(POSIX_SPAWN_SETSIGDEF)
        if leadsGroup {
            flags |= Int32(POSIX_SPAWN_SETPGROUP)
            unsafe posix_spawnattr_setpgroup(&attributes.value, 0)
        }
        #if canImport(Darwin)
        flags |= Int32(POSIX_SPAWN_CLOEXEC_DEFAULT)
        #endif
        unsafe posix_spawnattr_setflags(&attributes.value, Int16(flags))
    }

    private static func copied(_ texts: [String]) -> [UnsafeMutablePointer<CChar>?] {
        unsafe texts.map { text in unsafe strdup(text) }
    }

    /// This process's environment without the passphrase, which no helper needs.
    private static func environment(without names: some Sequence<String>) -> [UnsafeMutablePointer<CChar>?] {
        let hidden = (["PUSHCRYPT_PASSPHRASE"] + names).map { $0 + "=" }
        #if canImport(Darwin)
        guard let variables = unsafe _NSGetEnviron().pointee else { return unsafe [] }
        #else
        let variables = unsafe environ
        #endif
        var kept: [UnsafeMutablePointer<CChar>?] = unsafe []
        var index = 0
        while let variable = unsafe variables[index] {
            let isHidden = hidden.contains { name in unsafe strncmp(variable, name, name.utf8.count) == 0 }
            if !isHidden { unsafe kept.append(variable) }
            index += 1
        }
        return unsafe kept
    }

    #if canImport(Darwin)
    private static var noFileActions: FileActions { nil }
    #else
    private static var noFileActions: FileActions { unsafe FileActions() }
    #endif
}

/// Opens a pipe that no child inherits.
private func openPipe(_ ends: UnsafeMutablePointer<Int32>) -> Int32 {
    #if os(Linux)
    return unsafe pipe2(ends, O_CLOEXEC)
    #else
    // Two steps, because the system has no pipe2. A child that other code starts in between keeps the pipe open; the
    // helper then waits for the end of its input until the time limit.
    guard unsafe pipe(ends) == 0 else { return -1 }
    for index in 0..<2 { _ = unsafe fcntl(ends[index], F_SETFD, FD_CLOEXEC) }
    return 0
    #endif
}
#endif
