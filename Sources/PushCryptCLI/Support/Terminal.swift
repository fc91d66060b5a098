import PushCryptKeyFiles
import PushCryptPrimitives

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The person in front of the process: the controlling terminal, whatever stdin and stdout are, where stderr is one too.
final class Terminal {
    private let descriptor: Int32

    init?() {
        guard isatty(STDERR_FILENO) == 1 else { return nil }
        descriptor = unsafe open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else { return nil }
    }

    deinit {
        close(descriptor)
    }

    /// Asks for a passphrase, which is not shown.
    func passphrase(_ prompt: String) throws -> KeysetSecret {
        var line = try withoutEcho { try readLine(prompt) }
        defer { wipe(&line) }
        return try .passphrase(line: line, from: "the terminal")
    }

    /// Asks for a new passphrase, twice.
    func newPassphrase() throws -> KeysetSecret {
        let first = try passphrase("New passphrase: ")
        guard try passphrase("The same again: ").hasSamePassphrase(as: first) else {
            throw Failure(.usage, "the two passphrases differ; nothing was written")
        }
        return first
    }

    /// Asks a question that only a typed `yes` agrees to.
    func agrees(_ question: String) throws -> Bool {
        write("\(question) Type yes to go on: ")
        var (line, byte) = ([UInt8](), [UInt8](repeating: 0, count: 1))
        while line.count < 64, unsafe read(descriptor, &byte, 1) == 1, byte[0] != UInt8(ascii: "\n") {
            line.append(byte[0])
        }
        return line == Array("yes".utf8)
    }

    func write(_ text: String) {
        let bytes = Array(text.utf8)
        _ = unsafe bytes.withUnsafeBytes { unsafe Self.writeBytes(descriptor, $0.baseAddress!, $0.count) }
    }

    private static func writeBytes(_ descriptor: Int32, _ start: UnsafeRawPointer, _ count: Int) -> Int {
        #if canImport(Darwin)
        unsafe Darwin.write(descriptor, start, count)
        #elseif canImport(Glibc)
        unsafe Glibc.write(descriptor, start, count)
        #else
        unsafe Musl.write(descriptor, start, count)
        #endif
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

    private func readLine(_ prompt: String) throws -> [UInt8] {
        write(prompt)
        var (line, byte) = ([UInt8](), [UInt8](repeating: 0, count: 1))
        line.reserveCapacity(1_024)
        while line.count < 1_024, unsafe read(descriptor, &byte, 1) == 1 {
            switch byte[0] {
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"): return line
            case 3, 4:
                wipe(&line)
                throw Failure(.usage, "interrupted; nothing was changed")
            case 8, 127: _ = line.popLast()
            case 21: line.removeAll(keepingCapacity: true)
            default: line.append(byte[0])
            }
        }
        wipe(&line)
        throw Failure(.usage, "no passphrase was typed")
    }
}
