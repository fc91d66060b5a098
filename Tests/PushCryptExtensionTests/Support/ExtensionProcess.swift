import Foundation
import PushCryptTestSupport
import Testing

enum ExtensionProcess {
    static let binary = Result { try BuiltProduct.url("PushCryptTestExtension").path }

    static func start(_ arguments: String...) throws -> RunningExtension {
        try RunningExtension(binary.get(), arguments)
    }

    /// Starts a script with /bin/sh and doesn't wait for it. `$EXTENSION` is the path of the executable.
    static func start(script: String) throws -> RunningExtension { try RunningExtension("/bin/sh", ["-c", script]) }

    static func shell(_ script: String) throws -> (ending: ChildProcess.Ending, lines: [String]) {
        let running = try start(script: script)
        let lines = running.remainingLines()
        return (try running.process.wait(), lines)
    }
}

/// A process whose output is read through a pipe, so that lines written before a kill aren't lost.
final class RunningExtension {
    let process: RunningProcess
    private let folder: TemporaryFolder
    private let descriptor: Int32
    private var buffer = LineBuffer()

    fileprivate init(_ executable: String, _ arguments: [String]) throws {
        folder = try TemporaryFolder()
        let pipe = folder.file("stdout").path
        guard unsafe mkfifo(pipe, 0o600) == 0 else { throw ChildProcess.Failure(call: "mkfifo", number: errno) }
        // Opened without blocking, because the other end is opened later.
        descriptor = unsafe open(pipe, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        let environment = ["PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "EXTENSION": try ExtensionProcess.binary.get()]
        process = try ChildProcess(
            executable: executable, arguments: arguments, environment: environment, folder: folder.path,
            stdin: "/dev/null", stdout: pipe, stderr: "/dev/null"
        ).start()
        _ = fcntl(descriptor, F_SETFL, 0)
    }

    deinit { close(descriptor) }

    /// Reads the next line; nil at the end.
    func line() -> String? {
        while true {
            if let line = buffer.takeLine() { return line }
            guard buffer.fill(from: descriptor) else { return nil }
        }
    }

    func remainingLines() -> [String] {
        var lines: [String] = []
        while let line = line() { lines.append(line) }
        return lines
    }
}

func pause(nanoseconds: Int) {
    var wanted = timespec(tv_sec: 0, tv_nsec: nanoseconds)
    _ = unsafe nanosleep(&wanted, nil)
}

/// What was read of a pipe and not yet taken.
struct LineBuffer {
    private var bytes: [UInt8] = []

    mutating func takeLine() -> String? {
        guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        defer { bytes.removeSubrange(...end) }
        return Array(bytes[..<end]).text
    }

    /// - Returns: false at the end, and after an error.
    mutating func fill(from descriptor: Int32) -> Bool {
        var chunk = [UInt8](repeating: 0, count: 4_096)
        let count = unsafe read(descriptor, &chunk, chunk.count)
        guard count > 0 else { return false }
        bytes += chunk[..<count]
        return true
    }
}

/// Runs the tests' executable as a user who isn't root. Root may read and write every file.
enum Unprivileged {
    static let missing: Comment = "root can't run the executable as another user here (setpriv)"
    /// The id of the unprivileged user and group on Debian, `nobody` and `nogroup`.
    static let userID: uid_t = 65_534

    /// The beginning of the shell's command line; empty if this process isn't root's.
    static let prefix = geteuid() == 0 ? "setpriv --reuid=\(userID) --regid=\(userID) --clear-groups" : ""

    static let isAvailable =
        (try? ExtensionProcess.shell("\(prefix) \"$EXTENSION\" store-try /none/none a"))?.lines.isEmpty == false
}

/// A process of the tests' extension that runs sessions, see `SessionCommand`.
final class SessionProcess {
    let name: String
    private let process: RunningProcess
    private let streams: TemporaryFolder
    private let input: Int32
    private let output: Int32
    private var buffer = LineBuffer()

    /// Starts it, and waits until it reads its input.
    ///
    /// - Parameter prefix: words before the command.
    init(_ name: String, folder: String, store: String, prefix: [String] = []) throws {
        self.name = name
        streams = try TemporaryFolder()
        (input, output) = (try Self.makePipe(streams, "stdin"), try Self.makePipe(streams, "stdout"))
        let command = try prefix + [ExtensionProcess.binary.get(), "sessions", folder, store, name]
        process = try ChildProcess(
            executable: command[0], arguments: Array(command.dropFirst()),
            environment: ["SWIFT_BACKTRACE": "enable=no"], folder: streams.path, stdin: streams.file("stdin").path,
            stdout: streams.file("stdout").path
        ).start()
        guard try line() == "ready" else { throw ChildProcess.Failure(call: "posix_spawn", number: 0) }
    }

    deinit {
        close(input)
        close(output)
    }

    /// Opens both ends, so that neither process waits for the other one to open its end.
    private static func makePipe(_ folder: TemporaryFolder, _ name: String) throws -> Int32 {
        let path = folder.file(name).path
        guard unsafe mkfifo(path, 0o600) == 0 else { throw ChildProcess.Failure(call: "mkfifo", number: errno) }
        let descriptor = unsafe open(path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { throw ChildProcess.Failure(call: "open", number: errno) }
        return descriptor
    }

    /// Continues the process with a batch of sessions.
    func begin(_ batch: String) throws {
        let bytes = Array("\(batch)\n".utf8)
        guard unsafe write(input, bytes, bytes.count) == bytes.count else {
            throw ChildProcess.Failure(call: "write", number: errno)
        }
        process.resume()
    }

    func stop() { process.stop() }
    func resume() { process.resume() }

    /// Waits until the process has stopped.
    ///
    /// - Returns: the lines that it has printed before; nil if it has ended.
    func linesAtStop() throws -> [String]? {
        guard try process.waitForStop() == nil else { return nil }
        while try readMore(timeout: 0) {}
        var lines: [String] = []
        while let line = buffer.takeLine() { lines.append(line) }
        return lines
    }

    /// Waits for its next line, at most two minutes.
    func line() throws -> String {
        for _ in 0..<600 {
            if let line = buffer.takeLine() { return line }
            // A process that the test stopped after it had printed its line, and before it stopped itself, still does so.
            if try !readMore(timeout: 200) { resume() }
        }
        throw ChildProcess.Failure(call: "poll", number: 0)
    }

    func kill() throws {
        process.kill()
        _ = try process.wait()
    }

    /// The locks of files that the process has, as Linux lists them; empty on other systems.
    func locks() throws -> [String] {
        guard let list = FileManager.default.contents(atPath: "/proc/locks") else { return [] }
        return String(decoding: list, as: UTF8.self).split(separator: "\n").map(String.init).filter { line in
            // 1: FLOCK ADVISORY WRITE 1234 00:1b:5678 0 EOF. A process that waits for a lock has "->" after the number.
            let words = line.split(separator: " ")
            return words.count > 4 && words[1] != "->" && words[4] == "\(process.child)"
        }
    }

    /// - Returns: false if there is nothing to read within the time, in milliseconds.
    private func readMore(timeout: Int32) throws -> Bool {
        var event = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&event, 1, timeout) == 1 else { return false }
        guard buffer.fill(from: output) else { throw ChildProcess.Failure(call: "read", number: errno) }
        return true
    }
}

/// A file system that is removed with the script.
enum FullDisk {
    static let missing: Comment = "mounting a file system needs root or user namespaces (unshare -rm)"
    static let isAvailable = (try? ExtensionProcess.shell(script("true")))?.ending == .exit(0)

    /// A script in which `fill N` fills the disk except for N pages, and `make_room` empties it.
    ///
    /// - Parameter size: in KiB; 64 pages of 4,096 bytes by default.
    static func script(_ body: String, size: Int = 256) -> String {
        """
        cat >script <<'END'
        mkdir disk && mount -t tmpfs -o size=\(size)k,mode=700 tmpfs disk || exit 1
        fill() {
            cat /dev/zero >disk/fill 2>/dev/null
            truncate -s $(($(stat -c %s disk/fill) - $1 * 4096)) disk/fill
        }
        make_room() { rm disk/fill; }
        \(body)
        END
        \(geteuid() == 0 ? "unshare -m" : "unshare -rm") sh ./script
        """
    }
}

/// A file system in memory for the processes that enter it, which the tests fill.
final class SmallDisk {
    /// The path of its root for processes that have entered it.
    let path: String
    /// The path of its root for other processes. SQLite can't use it, because it resolves links.
    let outerPath: String
    /// The words before a command that enters it.
    let entrance: [String]
    private let keeper: pid_t
    private let process: RunningExtension

    /// - Parameter size: in KiB.
    init(size: Int) throws {
        let script = FullDisk.script("echo $$; pwd; exec sleep 86400", size: size)
        process = try ExtensionProcess.start(script: script)
        guard let keeper = process.line().flatMap({ pid_t($0) }), let folder = process.line() else {
            throw ChildProcess.Failure(call: "mount", number: 0)
        }
        self.keeper = keeper
        path = folder + "/disk"
        outerPath = "/proc/\(keeper)/root\(path)"
        entrance =
            ["/usr/bin/nsenter", "-t", "\(keeper)", "-m"] + (geteuid() == 0 ? [] : ["-U", "--preserve-credentials"])
    }

    deinit { kill(keeper, SIGKILL) }

    /// - Parameter pages: how many pages of 4,096 bytes stay free.
    func fill(exceptPages pages: Int) throws {
        let file = unsafe open(outerPath + "/fill", O_WRONLY | O_CREAT, 0o600)
        defer { close(file) }
        let zeros = [UInt8](repeating: 0, count: 4_096)
        var count = 0
        while unsafe write(file, zeros, zeros.count) == zeros.count { count += 1 }
        guard count > pages, ftruncate(file, (count - pages) * zeros.count) == 0 else {
            throw ChildProcess.Failure(call: "ftruncate", number: errno)
        }
    }

    func makeRoom() throws { try FileManager.default.removeItem(atPath: outerPath + "/fill") }
}
