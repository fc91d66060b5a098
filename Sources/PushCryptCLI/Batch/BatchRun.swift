/// Takes stdin through workers, each in a thread of its own, to stdout and to the errors file. A line counts when all of
/// it has been written.
struct BatchRun {
    private let options: BatchOptions
    /// What became of a line that came out.
    private let participle: String
    private var refused: RefusedSink
    private var progress: BatchProgress?
    private var outCount = 0
    /// Of the line that neither stdout nor the errors file has yet.
    private var next: Int

    /// - Throws: `FileError` when the errors file is there already.
    init(_ options: BatchOptions, participle: String) throws {
        self.options = options
        self.participle = participle
        refused = try RefusedSink(options.errors)
        next = options.resumeFrom ?? 1
    }

    /// - Parameter makeWorker: called in each thread.
    /// - Throws: `Failure` that says what went wrong, where to go on, and the counts; also when lines were refused.
    mutating func takeAllLines(_ makeWorker: @escaping @Sendable () throws -> some LineWorker) throws {
        var failures: [Failure] = []
        do {
            let signal = try takeLines(makeWorker)
            if let signal { failures.append(goOn(after: Failure(signal: signal))) }
        } catch {
            failures.append(goOn(after: Failure(error)))
        }
        progress?.clear()
        do {
            try refused.publish()
        } catch {
            failures.append(Failure(error))
        }
        if let first = failures.first {
            throw Failure(first.status, (failures.map(\.message) + [words]).joined(separator: "; "))
        }
        guard refused.count == 0 else { throw Failure(.dataError, words) }
        StandardStreams.complain(words)
    }

    private func goOn(after failure: Failure) -> Failure {
        Failure(failure.status, "\(failure.message); go on with --resume-from \(next)")
    }

    private var words: String {
        let count = outCount + refused.count
        return "\(count) \(count == 1 ? "line" : "lines"): \(outCount) \(participle), \(refused.words)"
    }

    /// - Returns: the signal that ended it before its time.
    private mutating func takeLines(_ makeWorker: @escaping @Sendable () throws -> some LineWorker) throws -> Int32? {
        let limit = LineReader.queueLimitInBytes
        let blocks = try LineBlocks(from: next, limitInBytes: limit, Interruption())
        progress = BatchProgress()
        let pipeline = OrderedPipeline<LineBlock, LineResults>(width: options.width) {
            try blocks.next()
        } makeWork: {
            var worker = try makeWorker()
            return { block in LineResults(block, limitInBytes: limit, &worker) }
        }
        try pipeline.run { results in try write(results) }
        return blocks.signal
    }

    private mutating func write(_ results: LineResults) throws {
        if let (piece, isLast) = results.longLine {
            let refusal = LineRefusal.lineTooLong(limitInBytes: LineReader.queueLimitInBytes)
            try refused.addLong(piece: piece, number: next, refusal, isLast: isLast)
            if isLast { next += 1 }
        }
        var (start, lineCount) = (0, 0)
        for refusal in results.refusals {
            try write(results.output[start..<refusal.offset], lineCount: refusal.lineCount - lineCount)
            try refused.add(refusal)
            next += 1
            (start, lineCount) = (refusal.offset, refusal.lineCount)
        }
        try write(results.output[start...], lineCount: results.lineCount - lineCount)
        if let failure = results.failure { throw failure }
        progress?.show(lineCount: outCount + refused.count, position: results.position)
    }

    private mutating func write(_ lines: ArraySlice<UInt8>, lineCount: Int) throws {
        guard lineCount > 0 else { return }
        var byteCount = 0
        do {
            try StandardStreams.write(lines, counting: &byteCount)
            (outCount, next) = (outCount + lineCount, next + lineCount)
        } catch {
            let written = lines.prefix(byteCount).count { $0 == .newline }
            (outCount, next) = (outCount + written, next + written)
            throw error
        }
    }
}

/// Where lines go that don't come out: a file, or else some words on stderr.
struct RefusedSink {
    private var file: RefusedLines?
    private(set) var count = 0

    /// How many lines are told of on stderr where there is no file.
    private static let mostTold = 10

    init(_ path: String?) throws {
        file = try path.map { try RefusedLines($0) }
    }

    /// - Parameter path: of the errors file.
    var words: String { file.map { "\(count) in \($0.path)" } ?? "\(count) refused" }

    mutating func add(_ refusal: LineResults.Refusal) throws {
        try file?.add(record: refusal.record)
        finish(refusal.number, refusal.refusal)
    }

    mutating func addLong(piece: [UInt8], number: Int, _ refusal: LineRefusal, isLast: Bool) throws {
        try file?.addLong(piece: piece, number: number, refusal, isLast: isLast)
        if isLast { finish(number, refusal) }
    }

    mutating func publish() throws {
        try file?.publish()
    }

    private mutating func finish(_ number: Int, _ refusal: LineRefusal) {
        count += 1
        guard file == nil, count <= Self.mostTold else { return }
        let more = count == Self.mostTold ? "; further ones are only counted: --errors keeps them" : ""
        StandardStreams.complain("line \(number): \(refusal.reason): \(refusal.message)\(more)")
    }
}
