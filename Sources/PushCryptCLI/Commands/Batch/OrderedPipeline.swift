import PushCryptPrimitives

/// Pieces of work in order through several threads.
///
/// ```
/// read (one thread) ──> work (`width` threads) ──> write (the caller's), in the order of reading
/// ```
/// Never more than two pieces for each thread are between `read` and the end of `write`: whoever is slow, memory stays
/// what it is. Pieces are to be so large that a lock for each costs nothing.
struct OrderedPipeline<Input: Sendable, Output: Sendable>: Sendable {
    typealias Work = (Input) -> Output

    let width: Int
    /// The next piece; nil at the end. May block.
    let read: @Sendable () throws -> Input?
    /// Called once in each thread: what its result uses is that thread's own.
    let makeWork: @Sendable () throws -> Work

    /// Takes everything that `read` gives to `write`.
    ///
    /// - Throws: what `read` throws, when all that was read before is written; what `makeWork` and `write` throw, at once:
    ///   then a thread may still be inside `read`, and what it reads is lost.
    func run(_ write: (Output) throws -> Void) throws {
        let monitor = Monitor(PipelineState<Input, Output>(limit: 2 * width + 2))
        defer { monitor.change { $0.isStopped = true } }
        try start { readAll(monitor) }
        for _ in 0..<width { try start { workOnAll(monitor) } }
        while let output = try monitor.wait({ state in try state.nextToWrite() }).value {
            try write(output)
            monitor.change { $0.writtenCount += 1 }
        }
    }

    private func start(_ body: @escaping @Sendable () -> Void) throws {
        guard OwnThread.start(body) else { throw Failure(.software, "the system has no thread to give") }
    }

    private func readAll(_ monitor: Monitor<PipelineState<Input, Output>>) {
        do {
            while monitor.wait({ $0.hasRoom() }), let input = try read() {
                monitor.change { $0.add(input) }
            }
            monitor.change { $0.isAtEnd = true }
        } catch {
            monitor.change { state in (state.isAtEnd, state.endFailure) = (true, error) }
        }
    }

    private func workOnAll(_ monitor: Monitor<PipelineState<Input, Output>>) {
        do {
            let work = try makeWork()
            while let (number, input) = monitor.wait({ $0.nextToWorkOn() }).value {
                let output = work(input)
                monitor.change { $0.done[number] = output }
            }
        } catch {
            monitor.change { $0.failure = error }
        }
    }
}

/// Where the pieces are. What waits is answered nil; what waits no more, `.end` or a piece.
private struct PipelineState<Input: Sendable, Output: Sendable>: Sendable {
    enum Next<Value: Sendable>: Sendable {
        case piece(Value)
        case end

        var value: Value? {
            if case .piece(let value) = self { value } else { nil }
        }
    }

    /// Pieces between reading and the end of writing.
    let limit: Int
    private var waiting: [(number: Int, input: Input)] = []
    var done: [Int: Output] = [:]
    private var readCount = 0
    var writtenCount = 0
    var isAtEnd = false
    /// Thrown behind the last piece.
    var endFailure: (any Error)?
    /// Thrown at once.
    var failure: (any Error)?
    var isStopped = false

    init(limit: Int) {
        self.limit = limit
    }

    func hasRoom() -> Bool? {
        if isStopped { return false }
        return readCount - writtenCount < limit ? true : nil
    }

    mutating func add(_ input: Input) {
        waiting.append((readCount, input))
        readCount += 1
    }

    mutating func nextToWorkOn() -> Next<(number: Int, input: Input)>? {
        if isStopped { return .end }
        guard waiting.isEmpty else { return .piece(waiting.removeFirst()) }
        return isAtEnd ? .end : nil
    }

    mutating func nextToWrite() throws -> Next<Output>? {
        if let failure { throw failure }
        if let output = done.removeValue(forKey: writtenCount) { return .piece(output) }
        guard isAtEnd, writtenCount == readCount else { return nil }
        if let endFailure { throw endFailure }
        return .end
    }
}
