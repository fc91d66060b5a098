import PushCryptFiles
import PushCryptPrimitives

/// Reads a file or stdin in pieces, in constant memory.
final class PieceReader {
    var name: String { file.path }
    var descriptor: Int32 { file.descriptor }
    let file: OpenFile
    private var chunk = [UInt8](repeating: 0, count: 65_536)

    /// - Parameter path: `-` is stdin.
    init(_ path: String = "-") throws(Failure) {
        file =
            path == "-"
            ? OpenFile(descriptor: STDIN_FILENO, named: "stdin")
            : try Self.reporting { () throws(FileError) in try OpenFile(path, waiting: true) }
        if path == "-", isatty(STDIN_FILENO) == 1 {
            StandardStreams.writeNote("reading from the terminal; Ctrl-D at the beginning of a line ends the input")
        }
    }

    /// Returns the next piece, which is never empty; nil at the end.
    func next() throws(Failure) -> ArraySlice<UInt8>? {
        let count = try Self.reporting { () throws(FileError) in try file.readSome(into: &chunk) }
        return count == 0 ? nil : chunk[..<count]
    }

    /// Every error of reading is `noInput`, except missing permission and another encoding.
    static func reporting<Value>(_ body: () throws(FileError) -> Value) throws(Failure) -> Value {
        do throws(FileError) {
            return try body()
        } catch {
            let statuses: [FileError.Code: ExitStatus] = [.noPermission: .noPermission, .otherEncoding: .dataError]
            throw Failure(statuses[error.code] ?? .noInput, error.reason)
        }
    }
}

/// The lines of a file or stdin, one at a time.
final class InputLines {
    let name: String
    private let reader: LineReader
    private let limitInBytes: Int

    /// - Parameter path: `-` is stdin.
    init(_ path: String, limitInBytes: Int) throws(Failure) {
        let file = try PieceReader(path).file
        name = file.path
        self.limitInBytes = limitInBytes
        reader = try PieceReader.reporting { () throws(FileError) in
            try LineReader(file, limitInBytes: limitInBytes)
        }
    }

    /// Returns the next line; nil after the last line.
    ///
    /// - Throws: `Failure` if the line is longer than the limit.
    func next() throws(Failure) -> LineReader.Line? {
        let line = try PieceReader.reporting { () throws(FileError) in try reader.next() }
        if let line, line.isTooLong || line.raw.count > limitInBytes {
            throw Failure(.dataError, "\(name): line \(line.number) is longer than \(limitInBytes) bytes")
        }
        return line
    }
}
