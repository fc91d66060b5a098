#if os(Linux)
import Foundation
import Glibc
import PushCryptTestSupport
import Testing

/// Runs a script of /bin/sh on its own terminal, on which the test types and reads.
///
/// The shell leads the session and runs until this object is released, so that the terminal can be examined after the
/// command has ended.
final class TerminalSession {
    private let master: Int32
    private let shell: pid_t
    private var shown = Data()
    /// The number of bytes of `shown` before the next wait begins.
    private var seen = 0

    /// Everything that the terminal has shown.
    var screen: String { String(decoding: shown, as: UTF8.self) }

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    static let isAvailable = unsafe access("/dev/ptmx", R_OK | W_OK) == 0

    /// - Parameter script: runs in `place` with the binary in `$PUSHCRYPT`. The terminal shows its exit status.
    init(_ script: String, in place: Workplace) throws {
        master = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var (locked, number) = (Int32(0), Int32(0))
        guard master >= 0, unsafe ioctl(master, Self.setLock, &locked) == 0,
            unsafe ioctl(master, Self.getNumber, &number) == 0
        else { throw Failure(description: "no pseudo-terminal: \(unsafe String(cString: strerror(errno)))") }
        shell = try Self.spawn(
            "cd '\(place.folder.path)' && { \(script); echo \"ended: $?.\"; read wait; }", on: "/dev/pts/\(number)",
            CLI.binary().path)
    }

    deinit {
        kill(shell, SIGKILL)
        close(master)
        var status: Int32 = 0
        _ = unsafe waitpid(shell, &status, 0)
    }

    /// Waits until the terminal shows `text` after the text of earlier waits.
    func wait(for text: String) throws {
        while true {
            let unseen = Data(shown.dropFirst(seen))
            if let range = unseen.firstRange(of: Data(text.utf8)) {
                seen += range.upperBound
                return
            }
            guard unseen.firstRange(of: Data("ended: ".utf8)) == nil else {
                throw Failure(description: "the script ended without \(text), after: \(screen)")
            }
            try read()
        }
    }

    /// Waits for the end of the script and returns its exit status.
    func exitStatus() throws -> Int? {
        try wait(for: "ended: ")
        let start = seen
        try wait(for: ".")
        return Int(String(decoding: shown[start..<seen - 1], as: UTF8.self))
    }

    func type(_ text: String) throws {
        let bytes = Array(text.utf8)
        let count = unsafe bytes.withUnsafeBytes { unsafe write(master, $0.baseAddress!, $0.count) }
        guard count == bytes.count else { throw Failure(description: "the terminal takes no more") }
    }

    /// The local flags of the terminal, such as echo and signal keys.
    func localFlags() throws -> tcflag_t {
        var settings = termios()
        guard unsafe tcgetattr(master, &settings) == 0 else { throw Failure(description: "no settings") }
        return settings.c_lflag
    }

    private func read() throws {
        var item = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&item, 1, 60_000) == 1 else {
            throw Failure(description: "nothing more after: \(screen)")
        }
        var chunk = [UInt8](repeating: 0, count: 4_096)
        let count = unsafe chunk.withUnsafeMutableBytes { unsafe Glibc.read(master, $0.baseAddress!, $0.count) }
        guard count > 0 else { throw Failure(description: "the terminal is gone after: \(screen)") }
        shown += chunk[..<count]
    }

    /// The leader of a session gets the first terminal that it opens.
    private static func spawn(_ script: String, on terminal: String, _ pushcrypt: String) throws -> pid_t {
        var (actions, attributes) = unsafe (posix_spawn_file_actions_t(), posix_spawnattr_t())
        unsafe posix_spawn_file_actions_init(&actions)
        unsafe posix_spawnattr_init(&attributes)
        defer {
            unsafe posix_spawn_file_actions_destroy(&actions)
            unsafe posix_spawnattr_destroy(&attributes)
        }
        for stream: Int32 in 0...2 { unsafe posix_spawn_file_actions_addopen(&actions, stream, terminal, O_RDWR, 0) }
        // Resets all signals, as a login does: tests that run in the background ignore SIGINT.
        var (none, all) = (sigset_t(), sigset_t())
        _ = unsafe sigemptyset(&none)
        _ = unsafe sigfillset(&all)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setsigdefault(&attributes, &all)
        let flags = Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF) | newSession
        unsafe posix_spawnattr_setflags(&attributes, flags)
        let words = unsafe strings(["sh", "-c", script])
        let variables = unsafe strings([
            "PATH=/usr/bin:/bin", "PUSHCRYPT=\(pushcrypt)", "PUSHCRYPT_WRITER=\(CLI.writer)",
            // A tool that was built with the address sanitizer needs the options of the tests.
            "ASAN_OPTIONS=\(ProcessInfo.processInfo.environment["ASAN_OPTIONS"] ?? "")",
        ])
        defer {
            for index in unsafe words.indices { unsafe free(words[index]) }
            for index in unsafe variables.indices { unsafe free(variables[index]) }
        }
        var child = pid_t()
        let result = unsafe posix_spawn(&child, "/bin/sh", &actions, &attributes, words, variables)
        guard result == 0 else {
            throw Failure(description: "posix_spawn: \(unsafe String(cString: strerror(result)))")
        }
        return child
    }

    private static func strings(_ strings: [String]) -> [UnsafeMutablePointer<CChar>?] {
        unsafe strings.map { unsafe strdup($0) } + [nil]
    }

    /// From <asm-generic/ioctls.h> and <spawn.h>, which the module doesn't have.
    private static let setLock: UInt = 0x4004_5431
    private static let getNumber: UInt = 0x8004_5430
    private static let newSession: Int16 = 0x80
}

extension Workplace {
    /// What a terminal of this width shows of a script.
    func screen(_ script: String, columns: Int = 100, statuses: [Int?] = [0]) throws -> String {
        let session = try TerminalSession("stty cols \(columns); \(script)", in: self)
        let status = try session.exitStatus()
        #expect(statuses.contains(status), "\(session.screen)")
        let text = session.screen.replacing("\r\n", with: "\n")
        return String(text[..<(text.range(of: "ended: ", options: .backwards)?.lowerBound ?? text.endIndex)])
    }
}
#endif
