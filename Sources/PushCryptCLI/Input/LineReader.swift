import PushCryptPrimitives

/// The lines of a file or of stdin, one at a time and in constant memory. A last line without newline counts; the newline itself is
/// no part of a line.
final class LineReader {
    enum Line {
        case complete([UInt8])
        /// More bytes than the limit: the first of them. ``rest()`` reads the others.
        case tooLong([UInt8])
    }

    /// Of a queue's line: many times what a payload takes, with room for the queue's own members.
    static let queueLimitInBytes = 1 << 20

    /// `stdin`, or the file's path.
    let name: String
    private let descriptor: Int32
    private let limitInBytes: Int
    private var chunk = [UInt8](repeating: 0, count: 65_536)
    private var unread = 0..<0
    /// Whether the newline of the line that was begun last is still to come.
    private var isInsideLine = false

    /// - Parameters:
    ///   - path: `-` is stdin.
    ///   - limitInBytes: of a line.
    init(_ path: String = "-", limitInBytes: Int) throws(Failure) {
        name = path == "-" ? "stdin" : path
        self.limitInBytes = limitInBytes
        descriptor = path == "-" ? STDIN_FILENO : unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(errno == EACCES ? .noPermission : .noInput) }
    }

    deinit {
        if descriptor > STDERR_FILENO { close(descriptor) }
    }

    /// - Returns: nil behind the last line.
    func next() throws(Failure) -> Line? {
        while try rest() != nil {}
        guard try fill() else { return nil }
        isInsideLine = true
        var line = [UInt8]()
        while let piece = try rest() {
            line += piece
            if line.count > limitInBytes { return .tooLong(line) }
        }
        return .complete(line)
    }

    /// The next piece of the line that was begun; nil at its end.
    func rest() throws(Failure) -> ArraySlice<UInt8>? {
        guard isInsideLine else { return nil }
        guard try fill() else {
            isInsideLine = false
            return nil
        }
        let bytes = chunk[unread]
        guard let newline = bytes.firstIndex(of: UInt8(ascii: "\n")) else {
            unread = unread.upperBound..<unread.upperBound
            return bytes
        }
        unread = newline + 1..<unread.upperBound
        isInsideLine = false
        return bytes[..<newline]
    }

    /// - Returns: whether there is anything unread; not at the end of stdin.
    private func fill() throws(Failure) -> Bool {
        while unread.isEmpty {
            let count = unsafe chunk.withUnsafeMutableBytes { buffer in
                unsafe read(descriptor, buffer.baseAddress, buffer.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure(.noInput) }
            guard count > 0 else { return false }
            unread = 0..<count
        }
        return true
    }

    private func failure(_ status: ExitStatus) -> Failure {
        Failure(status, "can't read \(name): \(unsafe String(cString: strerror(errno)))")
    }
}
