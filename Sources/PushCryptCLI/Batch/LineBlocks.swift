import PushCryptPrimitives

/// Lines of stdin that were read at once, or a piece of a line that is too long to be held.
struct LineBlock: Sendable {
    enum Content: Sendable {
        /// Whole lines; behind the last of the input there may be no newline.
        case lines([UInt8])
        /// Without its newline.
        case longLine(piece: [UInt8], isLast: Bool)
    }

    let content: Content
    /// Of the first line, from 1.
    let number: Int
    /// Bytes of stdin from the first line that wasn't skipped to the end of this block.
    let position: Int
}

/// stdin in blocks of whole lines: what is there is taken and nobody waits for more, so that a line is worked on when it
/// comes. Used by one thread.
final class LineBlocks: @unchecked Sendable {
    // Unchecked: it is handed to the thread that reads.
    private let reader: PieceReader
    private let interruption: Interruption
    private let limitInBytes: Int
    /// What was read behind a line's end.
    private var unread: ArraySlice<UInt8> = []
    /// The beginning of a line.
    private var begun: [UInt8] = []
    private var isInsideLongLine = false
    private var number = 1
    private var position = 0
    /// SIGINT or SIGTERM, because of which it ended.
    private(set) var signal: Int32?

    /// - Parameters:
    ///   - first: lines before this one are skipped.
    ///   - limitInBytes: of a line; a longer one comes in pieces, if it isn't whole in a block.
    init(from first: Int, limitInBytes: Int, _ interruption: Interruption) throws(Failure) {
        reader = try PieceReader()
        self.interruption = interruption
        self.limitInBytes = limitInBytes
        while number < first, let piece = try nextPiece() { skip(to: first, piece) }
        position = unread.count
    }

    /// - Returns: nil behind the last line and after a signal: then what was read of a line that isn't whole is left out.
    func next() throws(Failure) -> LineBlock? {
        while let piece = try nextPiece() {
            let block = isInsideLongLine ? longLine(piece) : lines(piece)
            if let block { return block }
        }
        return signal == nil ? rest() : nil
    }

    private func nextPiece() throws(Failure) -> ArraySlice<UInt8>? {
        guard unread.isEmpty else {
            defer { unread = [] }
            return unread
        }
        signal = signal ?? interruption.wait(toRead: STDIN_FILENO)
        guard signal == nil, let piece = try reader.next() else { return nil }
        position += piece.count
        return piece
    }

    private func skip(to first: Int, _ piece: ArraySlice<UInt8>) {
        var rest = piece
        while number < first {
            guard let newline = rest.firstIndex(of: .newline) else { return }
            rest = rest[(newline + 1)...]
            number += 1
        }
        unread = rest
    }

    private func lines(_ piece: ArraySlice<UInt8>) -> LineBlock? {
        guard let newline = piece.lastIndex(of: .newline) else {
            begun += piece
            guard begun.count > limitInBytes else { return nil }
            isInsideLongLine = true
            return block(.longLine(piece: take(&begun), isLast: false))
        }
        let lines = take(&begun) + piece[...newline]
        begun = Array(piece[(newline + 1)...])
        return block(.lines(lines), lineCount: lines.count { $0 == .newline })
    }

    private func longLine(_ piece: ArraySlice<UInt8>) -> LineBlock {
        guard let newline = piece.firstIndex(of: .newline) else {
            return block(.longLine(piece: Array(piece), isLast: false))
        }
        unread = piece[(newline + 1)...]
        isInsideLongLine = false
        return block(.longLine(piece: Array(piece[..<newline]), isLast: true), lineCount: 1)
    }

    /// At the end of stdin.
    private func rest() -> LineBlock? {
        if isInsideLongLine {
            isInsideLongLine = false
            return block(.longLine(piece: [], isLast: true), lineCount: 1)
        }
        return begun.isEmpty ? nil : block(.lines(take(&begun)), lineCount: 1)
    }

    private func block(_ content: LineBlock.Content, lineCount: Int = 0) -> LineBlock {
        defer { number += lineCount }
        return LineBlock(content: content, number: number, position: position - unread.count)
    }

    private func take(_ bytes: inout [UInt8]) -> [UInt8] {
        defer { bytes = [] }
        return bytes
    }
}

extension UInt8 {
    static let newline = UInt8(ascii: "\n")
}
