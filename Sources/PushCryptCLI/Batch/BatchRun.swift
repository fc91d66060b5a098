import PushCryptFiles
import PushCryptPrimitives
import PushCryptSender

/// Processes the lines of a file or stdin with several workers and writes the results to stdout and the errors file. A line counts
/// as processed when all of it has been written.
struct BatchRun<Worker: LineWorker> {
    private typealias Results = LineResults<Worker.Outcome>

    private let workers: Int
    private let input: String
    private let place: RefusalPlace
    /// The text before the line number in the message that says how to continue, such as an option's name. nil if every line
    /// is answered on stdout, and there is nothing to continue.
    private let resumption: String?
    private var refused: RefusedLines
    private var progress: BatchProgress?
    private var counts: [Worker.Outcome: Int] = [:]
    /// The number of the first line that is in neither stdout nor the errors file.
    private var next: Int

    init(
        workers: Int, of input: String = "-", from firstLine: Int = 1, errors: String?,
        refusals place: RefusalPlace = .record,
        resumption: String?
    ) throws {
        self.workers = workers
        self.input = input
        self.place = place
        self.resumption = resumption
        refused = try RefusedLines(errors)
        next = firstLine
    }

    init(_ options: BatchOptions, _ input: PayloadInput) throws {
        try self.init(
            workers: options.width, of: input.path, from: options.resumeFrom ?? 1, errors: options.errors,
            refusals: options.stream ? .answer : .record, resumption: options.stream ? nil : "--resume-from")
    }

    /// - Parameter makeWorker: called once for each worker, before anything is read.
    /// - Throws: `Failure` with the cause, the line to continue with, and the counts; also when lines were refused and
    ///   have no answer on stdout.
    mutating func processAllLines(_ makeWorker: () throws -> sending Worker) throws {
        var failures: [Failure] = []
        do {
            let signal = try processLines(makeWorker)
            if let signal { failures.append(continuation(after: Failure(signal: signal))) }
        } catch {
            failures.append(continuation(after: Failure(error)))
        }
        progress?.clear()
        do { try refused.publish() } catch { failures.append(Failure(error)) }
        if let first = failures.first {
            throw Failure(first.status, (failures.map(\.message) + [summary]).joined(separator: "; "))
        }
        guard refused.count == 0 || resumption == nil else { throw Failure(.dataError, summary) }
        StandardStreams.writeNote(summary)
    }

    private func continuation(after failure: Failure) -> Failure {
        guard let resumption else { return failure }
        return Failure(failure.status, "\(failure.message); continue with \(resumption) \(next)")
    }

    private var lineCount: Int { counts.values.reduce(refused.count, +) }

    /// `1000 lines: 400 resealed, 400 unchanged, 200 in errors.jsonl`
    private var summary: String {
        let parts = Worker.Outcome.allCases.map { "\(counts[$0, default: 0]) \($0.rawValue)" } + [refused.summary]
        return "\(NumberText.counted(lineCount, "line")): \(parts.joined(separator: ", "))"
    }

    /// - Returns: the signal that ended the input; nil at the end of stdin.
    private mutating func processLines(_ makeWorker: () throws -> sending Worker) throws -> Int32? {
        // Waiting on a thread of the cooperative pool would take it from the workers: a deadlock on one core.
        MainActor.preconditionIsolated()
        let lanes = try (0..<workers).map { _ in try Self.lane(makeWorker(), place) }
        guard let interruption = Interruption() else {
            throw Failure(.software, "can't create the pipe that reports signals")
        }
        let reader = try PieceReader(input)
        let blocks = try LineBlocks(of: reader, from: next, interruption, oneByOne: resumption == nil)
        if blocks.isPastEnd, let resumption {
            StandardStreams.writeNote("\(reader.name) ends before line \(next) (\(resumption)): nothing is left to do")
        }
        progress = BatchProgress(of: reader.descriptor, skipping: Int(blocks.skippedByteCount))
        let pipeline = OrderedPipeline(blocks, capacity: 2 * workers + 2, lanes: lanes)
        while let results = try pipeline.waitForNext() { try write(results) }
        return blocks.signal
    }

    private static func lane(
        _ worker: sending Worker, _ place: RefusalPlace
    ) -> PipelineLane<LineReader.Block, Results> {
        var worker = worker
        return PipelineLane { block in LineResults(block, place, &worker) }
    }

    private mutating func write(_ results: Results) throws {
        if let (piece, isLast) = results.longLine {
            try refused.addLong(piece: piece, number: next, .lineTooLong, isLast: isLast)
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

    private mutating func write(_ lines: ArraySlice<UInt8>, _ outcomes: ArraySlice<Worker.Outcome?>) throws {
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

    private mutating func count(_ outcomes: ArraySlice<Worker.Outcome?>) {
        for outcome in outcomes {
            if let outcome { counts[outcome, default: 0] += 1 } else { refused.countAnswered() }
        }
        next += outcomes.count
    }
}

struct BatchProgress {
    private let start = ContinuousClock.now
    private let line: ProgressLine
    /// The length of the input without the skipped lines; nil if unknown.
    private let byteCount: Int?
    private let skipped: Int

    /// - Parameters:
    ///   - descriptor: that of the input.
    ///   - skipped: the number of its bytes that aren't processed.
    /// - Returns: nil unless stderr is a terminal and stdout is not, so that progress and data don't mix.
    init?(of descriptor: Int32, skipping skipped: Int) {
        guard isatty(STDOUT_FILENO) == 0, let line = ProgressLine() else { return nil }
        self.line = line
        self.skipped = skipped
        let status = try? OpenFile(descriptor: descriptor, named: "input").status()
        byteCount = status?.kind == .file ? status.map { Int($0.byteCount) - skipped } : nil
    }

    /// - Parameter position: the number of bytes of the input that were processed or skipped.
    func show(lineCount: Int, position: Int) {
        let (byteCount, position, time) = (byteCount, position - skipped, ContinuousClock.now - start)
        line.show(Self.text(lineCount, position: position, of: byteCount, after: time))
    }

    func clear() { line.clear() }

    /// `████▌      45.3%  1,234,567 lines  310,000/s  12s left`, at most 60 characters up to a billion lines.
    static func text(_ lineCount: Int, position: Int, of byteCount: Int?, after time: Duration) -> String {
        let seconds = max(Double(time.components.seconds) + Double(time.components.attoseconds) * 1e-18, 0.001)
        let rate = Int(Double(lineCount) / seconds)
        let lines = "\(NumberText.grouped(lineCount)) lines  \(NumberText.grouped(rate))/s"
        guard let byteCount, byteCount > 0 else { return lines }
        let done = min(position, byteCount)
        let bar = NumberText.bar(done, of: byteCount, width: 10).padded(to: 10)
        let percent = "\(done * 100 / byteCount)%".leftPadded(to: 4)
        let left = done > 0 ? Int64(seconds * Double(byteCount - done) / Double(done)) : 0
        return "\(bar) \(percent)  \(lines)  \(TimeDistance.rough(left)) left"
    }
}
