import Dispatch
import PushCryptFiles

/// The blocks of lines of a file or stdin, a sequence that can be iterated once. A block is what one read returns, or one line, so
/// that a line is processed as soon as it arrives.
final class LineBlocks: AsyncSequence, AsyncIteratorProtocol, @unchecked Sendable {
    // Unchecked: after `init`, only the queue uses the reading state; after the end, only the caller does.
    private final class Ending { var signal: Int32? }

    private let queue = DispatchQueue(label: "pushcrypt.stdin")
    private let reader: LineReader
    private let ending: Ending
    /// The number of bytes of the lines that were skipped.
    let skippedByteCount: Int64
    /// Whether the input has fewer lines than were to be skipped.
    var isPastEnd: Bool { reader.isPastEnd }
    /// The signal that ended the input; nil at the end of the input.
    var signal: Int32? { ending.signal }

    /// - Parameters:
    ///   - input: at its beginning.
    ///   - first: the number of the first line that is returned. A line that is longer than `QueueLine.limitInBytes` is
    ///     returned in pieces unless one read returned all of it.
    ///   - isOneByOne: whether a block has one line, so that no line waits until the lines after it are processed.
    init(
        of input: PieceReader, from first: Int, _ interruption: Interruption, oneByOne isOneByOne: Bool = false
    ) throws(Failure) {
        let (ending, file) = (Ending(), input.file)
        let reader = try PieceReader.reporting { () throws(FileError) in
            try LineReader(file, limitInBytes: QueueLine.limitInBytes, from: first, oneByOne: isOneByOne) {
                ending.signal = ending.signal ?? interruption.wait(toRead: file.descriptor)
                return ending.signal == nil
            }
        }
        (self.ending, self.reader, skippedByteCount) = (ending, reader, reader.start)
    }

    func makeAsyncIterator() -> LineBlocks { self }

    /// Reads on a separate queue, because reading blocks the thread.
    ///
    /// - Returns: nil after the last line, and after a signal, when the beginning of an incomplete line is dropped.
    func next() async throws -> LineReader.Block? {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result { try self.read() }) }
        }
    }

    private func read() throws(Failure) -> LineReader.Block? {
        try PieceReader.reporting { () throws(FileError) in try reader.nextBlock() }
    }
}
