import PushCryptPrimitives

/// The process's controlling terminal, opened for reading and writing.
package final class TerminalDevice {
    private let file: OpenFile

    /// - Returns: nil if the process has no controlling terminal.
    package init?() {
        let descriptor = unsafe open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else { return nil }
        file = OpenFile(descriptor: descriptor, named: "the terminal", isOwned: true)
    }

    package func write(_ text: String) { try? file.write(Array(text.utf8)) }

    /// - Returns: nil at the end of the input and after an error.
    package func nextByte() -> UInt8? {
        var byte: [UInt8] = [0]
        defer { wipe(&byte) }
        guard let count = try? file.readSome(into: &byte), count == 1 else { return nil }
        return byte[0]
    }

    /// Runs `body` with echo, line editing and signal keys off, and then writes the newline that was typed but not echoed.
    /// Signal keys are off because an interrupt would leave the terminal without echo.
    ///
    /// - Returns: nil if the terminal's settings can't be changed.
    package func withoutEcho<Value>(_ body: () throws -> Value) rethrows -> Value? {
        var old = termios()
        guard unsafe tcgetattr(file.descriptor, &old) == 0 else { return nil }
        var silent = old
        silent.c_lflag &= ~tcflag_t(ECHO | ICANON | ISIG)
        guard unsafe tcsetattr(file.descriptor, TCSAFLUSH, &silent) == 0 else { return nil }
        defer {
            _ = unsafe tcsetattr(file.descriptor, TCSAFLUSH, &old)
            write("\n")
        }
        return try body()
    }

    /// The columns of the terminal at `descriptor`; 0 if it is no terminal or its size is unknown.
    package static func columns(of descriptor: Int32) -> Int {
        var size = winsize()
        guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 else { return 0 }
        return Int(size.ws_col)
    }
}
