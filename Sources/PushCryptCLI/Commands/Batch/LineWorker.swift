/// What a thread of its own does with one line after the other.
protocol LineWorker: SendableMetatype {
    /// Appends the line that comes out, without a newline.
    ///
    /// - Throws: `LineRefusal` when none does; then what was appended doesn't count. Anything else ends the batch there.
    mutating func take(_ line: [UInt8], number: Int, into output: inout [UInt8]) throws
}

/// What came of a block.
struct LineResults: Sendable {
    /// Lines with their newlines.
    var output: [UInt8] = []
    var lineCount = 0
    var refusals: [Refusal] = []
    /// What the batch ends with, behind all of these.
    var failure: (any Error)?
    /// Of a line that is longer than the limit.
    var longLine: (piece: [UInt8], isLast: Bool)?
    let number: Int
    let position: Int

    struct Refusal: Sendable {
        let number: Int
        let refusal: LineRefusal
        /// For the errors file.
        let record: [UInt8]
        /// Where in the output the line would be, in bytes and lines.
        let offset: Int
        let lineCount: Int
    }

    init(_ block: LineBlock, limitInBytes: Int, _ worker: inout some LineWorker) {
        (number, position) = (block.number, block.position)
        switch block.content {
        case .longLine(let piece, let isLast): longLine = (piece, isLast)
        case .lines(let lines): takeAll(lines, limitInBytes: limitInBytes, &worker)
        }
    }

    private mutating func takeAll(_ lines: [UInt8], limitInBytes: Int, _ worker: inout some LineWorker) {
        // Sealing adds some hundred bytes to a line that has about as many.
        output.reserveCapacity(2 * lines.count)
        var (start, number) = (0, number)
        while start < lines.count, failure == nil {
            let end = lines[start...].firstIndex(of: .newline) ?? lines.count
            take(Array(lines[start..<end]), number, limitInBytes: limitInBytes, &worker)
            (start, number) = (end + 1, number + 1)
        }
    }

    private mutating func take(
        _ line: [UInt8], _ number: Int, limitInBytes: Int, _ worker: inout some LineWorker
    ) {
        let offset = output.count
        do {
            guard line.count <= limitInBytes else { throw LineRefusal.lineTooLong(limitInBytes: limitInBytes) }
            try worker.take(line, number: number, into: &output)
            output.append(.newline)
            lineCount += 1
        } catch let refusal as LineRefusal {
            output.removeSubrange(offset...)
            let record = RefusedLines.record(of: line, number: number, refusal)
            refusals.append(
                Refusal(number: number, refusal: refusal, record: record, offset: offset, lineCount: lineCount))
        } catch {
            output.removeSubrange(offset...)
            failure = error
        }
    }
}
