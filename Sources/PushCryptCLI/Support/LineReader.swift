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

    private let reader: PieceReader
    private let limitInBytes: Int
    private var unread: ArraySlice<UInt8> = []
    /// Whether the newline of the line that was begun last is still to come.
    private var isInsideLine = false

    /// - Parameters:
    ///   - path: `-` is stdin.
    ///   - limitInBytes: of a line.
    init(_ path: String = "-", limitInBytes: Int) throws(Failure) {
        reader = try PieceReader(path)
        self.limitInBytes = limitInBytes
    }

    /// `stdin`, or the file's path.
    var name: String { reader.name }

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
        let bytes = unread
        guard let newline = bytes.firstIndex(of: .newline) else {
            unread = []
            return bytes
        }
        unread = bytes[(newline + 1)...]
        isInsideLine = false
        return bytes[..<newline]
    }

    /// - Returns: whether there is anything unread; not at the end of the input.
    private func fill() throws(Failure) -> Bool {
        if unread.isEmpty { unread = try reader.next() ?? [] }
        return !unread.isEmpty
    }
}
