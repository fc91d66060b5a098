import PushCryptFiles
import PushCryptPrimitives

/// Reads a file or stdin in pieces, in constant memory.
final class PieceReader {
    var name: String { file.path }
    var descriptor: Int32 { file.descriptor }
    private let file: OpenFile
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

    /// Every error of reading is `noInput`, except missing permission.
    private static func reporting<Value>(_ body: () throws(FileError) -> Value) throws(Failure) -> Value {
        do throws(FileError) {
            return try body()
        } catch {
            throw Failure(error.code == .noPermission ? .noPermission : .noInput, error.reason)
        }
    }
}

/// Reads the lines of a file or stdin one at a time, in constant memory. A last line without a newline counts; a line
/// doesn't include its newline.
final class LineReader {
    private let reader: PieceReader
    private let limitInBytes: Int
    private var unread: ArraySlice<UInt8> = []
    private var lineCount = 0

    /// - Parameter path: `-` is stdin.
    init(_ path: String, limitInBytes: Int) throws(Failure) {
        reader = try PieceReader(path)
        self.limitInBytes = limitInBytes
    }

    var name: String { reader.name }

    /// Returns the next line; nil after the last line.
    ///
    /// - Throws: `Failure` if the line is longer than the limit.
    func next() throws(Failure) -> [UInt8]? {
        if unread.isEmpty { unread = try reader.next() ?? [] }
        guard !unread.isEmpty else { return nil }
        lineCount += 1
        var line = [UInt8]()
        while !unread.isEmpty {
            let end = unread.firstIndex(of: .newline)
            line += unread[..<(end ?? unread.endIndex)]
            guard line.count <= limitInBytes else {
                throw Failure(.dataError, "\(name): line \(lineCount) is longer than \(limitInBytes) bytes")
            }
            if let end {
                unread = unread[(end + 1)...]
                return line
            }
            unread = try reader.next() ?? []
        }
        return line
    }
}

extension UInt8 {
    static let newline = UInt8(ascii: "\n")
}
