/// What a batch does with one line after the other. Used by one task at a time.
protocol LineWorker: SendableMetatype {
    /// What became of a line that came out, for the counts at the end.
    associatedtype Outcome: LineOutcome

    /// Appends the line that comes out, without a newline.
    ///
    /// - Throws: `LineRefusal` when none does; then what was appended doesn't count. Anything else ends the batch there.
    mutating func take(_ line: [UInt8], number: Int, into output: inout [UInt8]) throws -> Outcome
}

/// The raw value is a participle: "sealed".
protocol LineOutcome: CaseIterable, Hashable, RawRepresentable<String>, Sendable {}

/// What came of a block.
struct LineResults<Outcome: LineOutcome>: Sendable {
    /// Lines with their newlines.
    var output: [UInt8] = []
    /// Of each line of the output.
    var outcomes: [Outcome] = []
    var refusals: [RefusedLine] = []
    /// What the batch ends with, behind all of these.
    var failure: (any Error)?
    /// Of a line that is longer than the limit.
    var longLine: (piece: [UInt8], isLast: Bool)?
    let number: Int
    let position: Int

    init<Worker: LineWorker>(_ block: LineBlock, limitInBytes: Int, _ worker: inout Worker)
    where Worker.Outcome == Outcome {
        number = block.number
        position = block.position
        switch block.content {
        case .longLine(let piece, let isLast): longLine = (piece, isLast)
        case .lines(let lines): takeAll(lines, limitInBytes: limitInBytes, &worker)
        }
    }

    private mutating func takeAll<Worker: LineWorker>(_ lines: [UInt8], limitInBytes: Int, _ worker: inout Worker)
    where Worker.Outcome == Outcome {
        // Sealing adds some hundred bytes to a line that has about as many.
        output.reserveCapacity(2 * lines.count)
        var start = 0
        var number = number
        while start < lines.count, failure == nil {
            let end = lines[start...].firstIndex(of: .newline) ?? lines.count
            take(Array(lines[start..<end]), number, limitInBytes: limitInBytes, &worker)
            start = end + 1
            number += 1
        }
    }

    private mutating func take<Worker: LineWorker>(
        _ line: [UInt8], _ number: Int, limitInBytes: Int, _ worker: inout Worker
    ) where Worker.Outcome == Outcome {
        let offset = output.count
        do {
            guard line.count <= limitInBytes else { throw LineRefusal.lineTooLong(limitInBytes: limitInBytes) }
            let outcome = try worker.take(line, number: number, into: &output)
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

/// A line that didn't come out.
struct RefusedLine: Sendable {
    let number: Int
    let refusal: LineRefusal
    /// For the errors file.
    let record: [UInt8]
    /// Where in the output the line would be, in bytes and lines.
    let offset: Int
    let lineCount: Int
}
