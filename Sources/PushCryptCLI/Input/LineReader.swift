import PushCryptFiles
import PushCryptPrimitives

/// Reads a file or stdin in pieces, in constant memory.
final class PieceReader {
    /// `stdin`, or the file's path.
    var name: String { file.path }
    private let file: OpenFile
    private var chunk = [UInt8](repeating: 0, count: 65_536)

    /// - Parameter path: `-` is stdin.
    init(_ path: String = "-") throws(Failure) {
        file =
            path == "-"
            ? OpenFile(descriptor: STDIN_FILENO, named: "stdin")
            : try Self.reporting { () throws(FileError) in try OpenFile(path, waiting: true) }
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
    enum Line {
        case complete([UInt8])
        /// The beginning of a line that is longer than the limit. ``rest()`` reads the remainder.
        case tooLong([UInt8])
    }

    private let reader: PieceReader
    private let limitInBytes: Int
    private var unread: ArraySlice<UInt8> = []
    /// Whether the current line's newline hasn't been read yet.
    private var isInsideLine = false

    /// - Parameters:
    ///   - path: `-` is stdin.
    ///   - limitInBytes: the longest line.
    init(_ path: String = "-", limitInBytes: Int) throws(Failure) {
        reader = try PieceReader(path)
        self.limitInBytes = limitInBytes
    }

    /// `stdin`, or the file's path.
    var name: String { reader.name }

    /// Returns the next line; nil after the last line.
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

    /// Returns the next piece of the current line; nil at its end.
    func rest() throws(Failure) -> ArraySlice<UInt8>? {
        guard isInsideLine else { return nil }
        guard try fill() else {
            isInsideLine = false
            return nil
        }
        let bytes = unread
        guard let newline = bytes.firstIndex(of: .newline) else {
            unread = []
            return bytes
        }
        unread = bytes[(newline + 1)...]
        isInsideLine = false
        return bytes[..<newline]
    }

    /// Returns whether unread bytes are left; reads if necessary.
    private func fill() throws(Failure) -> Bool {
        if unread.isEmpty { unread = try reader.next() ?? [] }
        return !unread.isEmpty
    }
}

extension UInt8 {
    static let newline = UInt8(ascii: "\n")
}
