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
