import PushCryptSender

/// Takes stdin through several workers to stdout and to the errors file. A line counts when all of it has been written.
struct BatchRun<Worker: LineWorker> {
    private typealias Results = LineResults<Worker.Outcome>

    private let workers: Int
    /// The words that say how to go on, in front of a line's number.
    private let resumption: String
    private var refused: RefusedSink
    private var progress: BatchProgress?
    private var counts: [Worker.Outcome: Int] = [:]
    /// Of the line that neither stdout nor the errors file has yet.
    private var next: Int

    /// - Parameters:
    ///   - workers: how many work at the same time.
    ///   - errors: the errors file; nil: some of the refusals are shown on stderr.
    /// - Throws: `FileError` when the errors file exists already.
    init(workers: Int, from firstLine: Int = 1, errors: String?, resumption: String) throws {
        self.workers = workers
        self.resumption = resumption
        refused = try RefusedSink(errors)
        next = firstLine
    }

    /// `--batch`
    init(_ options: BatchOptions) throws {
        try self.init(
            workers: options.width, from: options.resumeFrom ?? 1, errors: options.errors,
            resumption: "--resume-from")
    }

    /// - Parameter makeWorker: called once for each worker, before anything is read.
    /// - Throws: `Failure` that says what went wrong, where to go on, and the counts; also when lines were refused.
    mutating func takeAllLines(_ makeWorker: () throws -> sending Worker) throws {
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
            throw Failure(first.status, (failures.map(\.message) + [summary]).joined(separator: "; "))
        }
        guard refused.count == 0 else { throw Failure(.dataError, summary) }
        StandardStreams.complain(summary)
    }

    private func goOn(after failure: Failure) -> Failure {
        Failure(failure.status, "\(failure.message); go on with \(resumption) \(next)")
    }

    private var lineCount: Int { counts.values.reduce(refused.count, +) }

    /// `1000 lines: 400 resealed, 400 unchanged, 200 in errors.jsonl`
    private var summary: String {
        let parts = Worker.Outcome.allCases.map { "\(counts[$0, default: 0]) \($0.rawValue)" } + [refused.words]
        return "\(lineCount) \(lineCount == 1 ? "line" : "lines"): \(parts.joined(separator: ", "))"
    }

    /// - Returns: the signal that ended it before its time.
    private mutating func takeLines(_ makeWorker: () throws -> sending Worker) throws -> Int32? {
        // Waiting on a thread of the concurrency runtime's pool would take it from the workers, on one core for ever.
        MainActor.preconditionIsolated()
        let limit = LineReader.queueLimitInBytes
        let lanes = try (0..<workers).map { _ in try Self.lane(makeWorker(), limitInBytes: limit) }
        let blocks = try LineBlocks(from: next, limitInBytes: limit, Interruption())
        progress = BatchProgress()
        let pipeline = OrderedPipeline(blocks, capacity: 2 * workers + 2, lanes: lanes)
        defer { pipeline.stopAndWait() }
        while let results = try pipeline.waitForNext() { try write(results) }
        return blocks.signal
    }

    private static func lane(_ worker: sending Worker, limitInBytes: Int) -> PipelineLane<LineBlock, Results> {
        var worker = worker
        return PipelineLane { block in LineResults(block, limitInBytes: limitInBytes, &worker) }
    }

    private mutating func write(_ results: Results) throws {
        if let (piece, isLast) = results.longLine {
            let refusal = LineRefusal.lineTooLong(limitInBytes: LineReader.queueLimitInBytes)
            try refused.addLong(piece: piece, number: next, refusal, isLast: isLast)
            if isLast { next += 1 }
        }
        var start = 0
        var lineCount = 0
        for refusal in results.refusals {
            try write(results.output[start..<refusal.offset], results.outcomes[lineCount..<refusal.lineCount])
            try refused.add(refusal)
            next += 1
            start = refusal.offset
            lineCount = refusal.lineCount
        }
        try write(results.output[start...], results.outcomes[lineCount...])
        if let failure = results.failure { throw failure }
        let total = self.lineCount
        progress?.show(lineCount: total, position: results.position)
    }

    private mutating func write(_ lines: ArraySlice<UInt8>, _ outcomes: ArraySlice<Worker.Outcome>) throws {
        guard !outcomes.isEmpty else { return }
        var byteCount = 0
        do {
            try StandardStreams.write(lines, counting: &byteCount)
        } catch {
            count(outcomes.prefix(lines.prefix(byteCount).count { $0 == .newline }))
            throw error
        }
        count(outcomes)
    }

    private mutating func count(_ outcomes: ArraySlice<Worker.Outcome>) {
        for outcome in outcomes { counts[outcome, default: 0] += 1 }
        next += outcomes.count
    }
}

/// Where lines go that don't come out: a file, or else some words on stderr.
struct RefusedSink {
    private var file: RefusedLines?
    private(set) var count = 0

    /// The most refused lines that stderr shows if there is no errors file.
    private static let mostTold = 10

    init(_ path: String?) throws {
        file = try path.map { try RefusedLines($0) }
    }

    /// - Parameter path: of the errors file.
    var words: String { file.map { "\(count) in \($0.path)" } ?? "\(count) refused" }

    mutating func add(_ refusal: RefusedLine) throws {
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
