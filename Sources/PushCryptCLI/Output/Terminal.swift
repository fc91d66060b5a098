import PushCryptFiles
import PushCryptKeysets
import PushCryptPrimitives

/// Asks the user questions on the controlling terminal, also when stdin and stdout are redirected.
final class Terminal {
    private let device: TerminalDevice

    /// - Returns: nil if stderr is not a terminal or the process has no controlling terminal.
    init?() {
        guard isatty(STDERR_FILENO) == 1, let device = TerminalDevice() else { return nil }
        self.device = device
    }

    func passphrase(_ prompt: String) throws -> KeysetSecret {
        var line = TypedLine()
        defer { line.wipe() }
        guard let isComplete = try device.withoutEcho({ try read(&line, prompt) }) else {
            throw Failure(.inputOutput, "can't turn off the terminal's echo")
        }
        guard isComplete else {
            // The silent terminal sent no signal. SIGINT also ends the shell loop that runs the command.
            ProcessEnvironment.interrupt()
            throw Failure(.usage, "interrupted; nothing was changed")
        }
        return try line.secret()
    }

    func newPassphrase() throws -> KeysetSecret {
        let first = try passphrase("New passphrase: ").asNew()
        guard try passphrase("The same again: ").hasSamePassphrase(as: first) else {
            throw Failure(.usage, "the two passphrases differ; nothing was written")
        }
        return first
    }

    func agrees(_ question: String) -> Bool {
        answer("\(question) Type yes to go on: ") == "yes"
    }

    /// The line that is typed, without its newline; at most 256 bytes.
    func answer(_ question: String) -> String {
        device.write(question)
        var line = [UInt8]()
        while line.count < 256, let byte = device.nextByte(), byte != .newline { line.append(byte) }
        return String(decoding: line, as: UTF8.self)
    }

    /// Reads a line character by character.
    ///
    /// - Returns: false for Ctrl-C.
    private func read(_ line: inout TypedLine, _ prompt: String) throws -> Bool {
        device.write(prompt)
        while let byte = device.nextByte() {
            switch byte {
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"): return true
            case Control.interrupt: return false
            case Control.end: throw Failure(.usage, "no passphrase was typed; nothing was changed")
            case Control.backspace, Control.delete: line.removeLastCharacter()
            case Control.kill: line.removeAll()
            case 0..<0x20 where byte != UInt8(ascii: "\t"): device.write(Control.bell)
            default:
                guard line.append(byte) else {
                    throw Failure(.usage, "the passphrase is too long; nothing was changed")
                }
            }
        }
        throw Failure(.usage, "no passphrase was typed; nothing was changed")
    }

    /// The usual editing keys. The settings of stty are ignored.
    private enum Control {
        static let interrupt: UInt8 = 3
        static let end: UInt8 = 4
        static let backspace: UInt8 = 8
        static let kill: UInt8 = 21
        static let delete: UInt8 = 127
        static let bell = "\u{7}"
    }
}

/// A typed secret line, in one buffer that is wiped.
struct TypedLine {
    private var bytes = [UInt8](repeating: 0, count: KeysetSecret.maximumPassphraseByteCount)
    private var count = 0

    mutating func wipe() {
        PushCryptPrimitives.wipe(&bytes)
        count = 0
    }

    mutating func append(_ byte: UInt8) -> Bool {
        guard count < bytes.count else { return false }
        bytes[count] = byte
        count += 1
        return true
    }

    /// Removes all UTF-8 bytes of the last character: the first byte, and up to three of the form 10xxxxxx.
    mutating func removeLastCharacter() {
        while count > 0 {
            count -= 1
            if bytes[count] & 0b1100_0000 != 0b1000_0000 { return }
        }
    }

    mutating func removeAll() { count = 0 }

    func secret() throws -> KeysetSecret {
        try .passphrase(line: bytes.bytes.extracting(first: count), from: "the terminal")
    }
}
