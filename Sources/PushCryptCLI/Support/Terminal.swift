import PushCryptFiles
import PushCryptKeysets
import PushCryptPrimitives

/// The person in front of the process: the controlling terminal, whatever stdin and stdout are, where stderr is one too.
final class Terminal {
    private let file: OpenFile
    private var descriptor: Int32 { file.descriptor }

    init?() {
        guard isatty(STDERR_FILENO) == 1 else { return nil }
        let descriptor = unsafe open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else { return nil }
        file = OpenFile(descriptor: descriptor, named: "the terminal", isOwned: true)
    }

    /// Asks for a passphrase, which is not shown.
    func passphrase(_ prompt: String) throws -> KeysetSecret {
        var line = TypedLine()
        defer { line.wipe() }
        guard try withoutEcho({ try read(&line, prompt) }) else {
            Self.interrupt()
            throw Failure(.usage, "interrupted; nothing was changed")
        }
        return try line.secret()
    }

    /// Asks for a new passphrase, twice.
    func newPassphrase() throws -> KeysetSecret {
        let first = try passphrase("New passphrase: ")
        guard try passphrase("The same again: ").hasSamePassphrase(as: first) else {
            throw Failure(.usage, "the two passphrases differ; nothing was written")
        }
        return first
    }

    /// What the terminal would have done, were it not silent: a shell's loop ends with it. Returns where SIGINT is
    /// ignored. Threads of the concurrency runtime block signals.
    private static func interrupt() {
        var signals = sigset_t()
        _ = unsafe sigemptyset(&signals)
        _ = unsafe sigaddset(&signals, SIGINT)
        _ = unsafe pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        raise(SIGINT)
    }

    /// Asks a question that only a typed `yes` agrees to.
    func agrees(_ question: String) throws -> Bool {
        write("\(question) Type yes to go on: ")
        var line = [UInt8]()
        while line.count < 64, let byte = nextByte(), byte != .newline { line.append(byte) }
        return line == Array("yes".utf8)
    }

    func write(_ text: String) {
        try? file.write(Array(text.utf8))
    }

    /// Character by character: signals are off too, so that no interrupt leaves the terminal without echo.
    private func withoutEcho<Result>(_ body: () throws -> Result) throws -> Result {
        var old = termios()
        guard unsafe tcgetattr(descriptor, &old) == 0 else {
            throw Failure(.inputOutput, "can't turn off the terminal's echo")
        }
        var silent = old
        silent.c_lflag &= ~tcflag_t(ECHO | ICANON | ISIG)
        guard unsafe tcsetattr(descriptor, TCSAFLUSH, &silent) == 0 else {
            throw Failure(.inputOutput, "can't turn off the terminal's echo")
        }
        defer {
            unsafe tcsetattr(descriptor, TCSAFLUSH, &old)
            write("\n")
        }
        return try body()
    }

    /// - Returns: false for Ctrl-C.
    private func read(_ line: inout TypedLine, _ prompt: String) throws -> Bool {
        write(prompt)
        while let byte = nextByte() {
            switch byte {
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"): return true
            case Control.interrupt: return false
            case Control.end: throw Failure(.usage, "no passphrase was typed; nothing was changed")
            case Control.backspace, Control.delete: line.removeLastCharacter()
            case Control.kill: line.removeAll()
            case 0..<0x20 where byte != UInt8(ascii: "\t"): write(Control.bell)
            default:
                guard line.append(byte) else {
                    throw Failure(.usage, "the passphrase is too long; nothing was changed")
                }
            }
        }
        throw Failure(.usage, "no passphrase was typed; nothing was changed")
    }

    private func nextByte() -> UInt8? {
        var byte: [UInt8] = [0]
        defer { wipe(&byte) }
        guard let count = try? file.readSome(into: &byte), count == 1 else { return nil }
        return byte[0]
    }

    /// The usual keys, whatever stty says.
    private enum Control {
        static let interrupt: UInt8 = 3
        static let end: UInt8 = 4
        static let backspace: UInt8 = 8
        static let kill: UInt8 = 21
        static let delete: UInt8 = 127
        static let bell = "\u{7}"
    }
}
