import PushCryptFiles

/// Processes the lines of a batch, one after the other. Only one task at a time uses a worker.
protocol LineWorker: SendableMetatype {
    /// The result of a line that was not refused. The final summary counts the lines of each outcome.
    associatedtype Outcome: LineOutcome
    associatedtype Line: BatchLine = QueueLine

    /// Appends the resulting line, without a newline.
    ///
    /// - Throws: `LineRefusal` when the line is refused; its output is discarded. Any other error ends the batch.
    mutating func process(_ line: Line, number: Int, into output: inout [UInt8]) throws -> Outcome
}

/// A line of the input, parsed.
package protocol BatchLine {
    init(_ line: [UInt8]) throws(LineRefusal)
    /// Whether it has the member that marks the answers to refused lines.
    var hasError: Bool { get }
}

/// Where refused lines are reported.
enum RefusalPlace: Sendable {
    /// The errors file or stderr.
    case record
    /// stdout, in the line's place.
    case answer
}

/// The outcome of a line. The raw value is a participle, such as `sealed`.
protocol LineOutcome: CaseIterable, Hashable, RawRepresentable<String>, Sendable {}

struct LineResults<Outcome: LineOutcome>: Sendable {
    /// Output lines with their newlines.
    var output: [UInt8] = []
    /// One for each line of the output; nil for the answer to a refused line.
    var outcomes: [Outcome?] = []
    var refusals: [RefusedLine] = []
    /// The error that ends the batch after these lines.
    var failure: (any Error)?
    var longLine: (piece: [UInt8], isLast: Bool)?
    let number: Int
    let position: Int

    init<Worker: LineWorker>(_ block: LineReader.Block, _ place: RefusalPlace, _ worker: inout Worker)
    where Worker.Outcome == Outcome {
        number = block.number
        position = Int(block.end)
        switch (block.content, place) {
        case (.longLine(let piece, let isLast), .record): longLine = (piece, isLast)
        case (.longLine(_, let isLast), .answer):
            if isLast { answer(.lineTooLong, to: [], number) }
        case (.lines(let bytes), _):
            // Sealing about doubles the length of a line.
            output.reserveCapacity(2 * bytes.count)
            for line in block.lines where failure == nil { process(line, place, &worker) }
        }
    }

    private mutating func process<Worker: LineWorker>(
        _ line: LineReader.Line, _ place: RefusalPlace, _ worker: inout Worker
    ) where Worker.Outcome == Outcome {
        // White space at the end is JSON's too, and what a command doesn't change stays byte for byte.
        let (bytes, number, offset) = (line.raw, line.number, output.count)
        do {
            guard bytes.count <= QueueLine.limitInBytes else { throw LineRefusal.lineTooLong }
            let line = try Worker.Line(bytes)
            if case .answer = place, line.hasError { throw LineRefusal.reservedError }
            let outcome = try worker.process(line, number: number, into: &output)
            output.append(.newline)
            outcomes.append(outcome)
        } catch let refusal as LineRefusal {
            output.removeSubrange(offset...)
            if case .answer = place { return answer(refusal, to: bytes, number) }
            let record = RefusedLines.record(of: bytes, number: number, refusal)
            refusals.append(
                RefusedLine(number: number, refusal: refusal, record: record, offset: offset, lineCount: outcomes.count)
            )
        } catch {
            output.removeSubrange(offset...)
            // If the recipient directory can't be read now, a batch ends and can be continued later. A stream answers the line.
            if case .answer = place, let refusal = LineRefusal(unavailable: error) {
                return answer(refusal, to: bytes, number)
            }
            failure = error
        }
    }

    private mutating func answer(_ refusal: LineRefusal, to line: [UInt8], _ number: Int) {
        output += refusal.answer(to: line, number: number)
        outcomes.append(nil)
    }
}

/// A refused line and its place in the output.
struct RefusedLine: Sendable {
    let number: Int
    let refusal: LineRefusal
    let record: [UInt8]
    /// The position in the output, in bytes and lines.
    let offset: Int
    let lineCount: Int
}
