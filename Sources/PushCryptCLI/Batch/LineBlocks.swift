import Dispatch
import PushCryptFiles
import PushCryptPrimitives

/// Lines of stdin that one read returned, or a piece of a line that is longer than the limit.
struct LineBlock: Sendable {
    enum Content: Sendable {
        /// Whole lines. Only the last line of the input may lack its newline.
        case lines([UInt8])
        /// A piece of a long line, without the newline.
        case longLine(piece: [UInt8], isLast: Bool)
    }

    let content: Content
    let number: Int
    /// The number of bytes of stdin up to the end of this block, without the skipped lines.
    let position: Int
}

/// The blocks of stdin, a sequence that can be iterated once. A block is what one read returns, or one line, so that a line
/// is processed as soon as it arrives.
final class LineBlocks: AsyncSequence, AsyncIteratorProtocol, @unchecked Sendable {
    // Unchecked: after `init`, only the queue uses the reading state; after the end, only the caller does.
    private let queue = DispatchQueue(label: "pushcrypt.stdin")
    private let reader: PieceReader
    private let interruption: Interruption
    private let isOneByOne: Bool
    private var unread: ArraySlice<UInt8> = []
    private var begun: [UInt8] = []
    private var isInsideLongLine = false
    private var number = 1
    private var position = 0
    /// Whether the input has fewer lines than were to be skipped.
    private(set) var isPastEnd = false
    /// The signal that ended the input; nil at the end of stdin.
    private(set) var signal: Int32?

    /// - Parameters:
    ///   - reader: of a file or stdin, at its beginning.
    ///   - first: the number of the first line that is returned. A line that is longer than `QueueLine.limitInBytes` is
    ///     returned in pieces unless one read returned all of it.
    ///   - isOneByOne: whether a block has one line, so that no line waits until the lines after it are processed.
    init(
        of reader: PieceReader, from first: Int, _ interruption: Interruption, oneByOne isOneByOne: Bool = false
    ) throws(Failure) {
        self.reader = reader
        self.interruption = interruption
        self.isOneByOne = isOneByOne
        while number < first, let piece = try nextPiece() { skip(to: first, piece) }
        isPastEnd = number < first
        position = unread.count
    }

    func makeAsyncIterator() -> LineBlocks { self }

    /// Reads on a separate queue, because reading blocks the thread.
    ///
    /// - Returns: nil after the last line, and after a signal, when the beginning of an incomplete line is dropped.
    func next() async throws -> LineBlock? {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result { try self.read() }) }
        }
    }

    private func read() throws(Failure) -> LineBlock? {
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
        signal = signal ?? interruption.wait(toRead: reader.descriptor)
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
        guard let newline = isOneByOne ? piece.firstIndex(of: .newline) : piece.lastIndex(of: .newline) else {
            begun += piece
            guard begun.count > QueueLine.limitInBytes else { return nil }
            isInsideLongLine = true
            return block(.longLine(piece: take(&begun), isLast: false))
        }
        let lines = take(&begun) + piece[...newline]
        if isOneByOne { unread = piece[(newline + 1)...] } else { begun = Array(piece[(newline + 1)...]) }
        return block(.lines(lines), lineCount: isOneByOne ? 1 : lines.count { $0 == .newline })
    }

    private func longLine(_ piece: ArraySlice<UInt8>) -> LineBlock {
        guard let newline = piece.firstIndex(of: .newline) else {
            return block(.longLine(piece: Array(piece), isLast: false))
        }
        unread = piece[(newline + 1)...]
        isInsideLongLine = false
        return block(.longLine(piece: Array(piece[..<newline]), isLast: true), lineCount: 1)
    }

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
