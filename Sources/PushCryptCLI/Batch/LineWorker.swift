/// Processes the lines of a batch, one after the other. Only one task at a time uses a worker.
protocol LineWorker: SendableMetatype {
    /// The result of a line that was not refused. The final summary counts the lines of each outcome.
    associatedtype Outcome: LineOutcome

    /// Appends the resulting line, without a newline.
    ///
    /// - Throws: `LineRefusal` when the line is refused; its output is discarded. Any other error ends the batch.
    mutating func process(_ line: [UInt8], number: Int, into output: inout [UInt8]) throws -> Outcome
}

/// The outcome of a line. The raw value is a participle, such as `sealed`.
protocol LineOutcome: CaseIterable, Hashable, RawRepresentable<String>, Sendable {}

struct LineResults<Outcome: LineOutcome>: Sendable {
    /// Output lines with their newlines.
    var output: [UInt8] = []
    /// One for each line of the output.
    var outcomes: [Outcome] = []
    var refusals: [RefusedLine] = []
    /// The error that ends the batch after these lines.
    var failure: (any Error)?
    var longLine: (piece: [UInt8], isLast: Bool)?
    let number: Int
    let position: Int

    init<Worker: LineWorker>(_ block: LineBlock, _ worker: inout Worker) where Worker.Outcome == Outcome {
        number = block.number
        position = block.position
        switch block.content {
        case .longLine(let piece, let isLast): longLine = (piece, isLast)
        case .lines(let lines): processAll(lines, &worker)
        }
    }

    private mutating func processAll<Worker: LineWorker>(_ lines: [UInt8], _ worker: inout Worker)
    where Worker.Outcome == Outcome {
        // Sealing about doubles the length of a line.
        output.reserveCapacity(2 * lines.count)
        var start = 0
        var number = number
        while start < lines.count, failure == nil {
            let end = lines[start...].firstIndex(of: .newline) ?? lines.count
            process(Array(lines[start..<end]), number, &worker)
            start = end + 1
            number += 1
        }
    }

    private mutating func process<Worker: LineWorker>(_ line: [UInt8], _ number: Int, _ worker: inout Worker)
    where Worker.Outcome == Outcome {
        let offset = output.count
        do {
            guard line.count <= QueueLine.limitInBytes else { throw LineRefusal.lineTooLong }
            let outcome = try worker.process(line, number: number, into: &output)
            output.append(.newline)
            outcomes.append(outcome)
        } catch let refusal as LineRefusal {
            output.removeSubrange(offset...)
            let record = RefusedLines.record(of: line, number: number, refusal)
            refusals.append(
                RefusedLine(number: number, refusal: refusal, record: record, offset: offset, lineCount: outcomes.count)
            )
        } catch {
            output.removeSubrange(offset...)
            failure = error
        }
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
