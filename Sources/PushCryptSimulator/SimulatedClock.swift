public import PushCryptExtension
import PushCryptPrimitives

/// A clock that a test moves. Nothing sleeps: time passes only in ``advance(by:)``, and while a push is delivered, when the
/// extension waits on this clock.
///
/// ```
/// schedule(after:)   deadlines: they fire when the clock passes them
/// sleep(for:)        work that takes time, such as a slow network: a delivery moves the clock to its end
/// ```
public final class SimulatedClock: DeadlineTimer {
    private struct Event {
        let time: Duration
        let number: Int
        /// The deliveries that ran when it was added.
        let runs: Set<Int>
        let body: @Sendable () -> Void
    }

    private struct State {
        var elapsed: Duration = .zero
        var number = 0
        var events: [Event] = []
        /// Tells the running deliveries that work waits for the clock.
        var running: [Int: AsyncStream<Void>.Continuation] = [:]
    }

    private let start: UnixTime
    private let origin = ContinuousClock.now
    private let state = Locked(State())

    /// Creates a clock that stands at a time.
    public init(startingAt time: UnixTime = UnixTime(1_790_000_000)) { start = time }

    /// The time in whole seconds.
    public var time: UnixTime { start + elapsed.components.seconds }

    /// The time since the start.
    public var elapsed: Duration { state.withLock { $0.elapsed } }

    /// An instant for the clocks of the standard library.
    public var instant: ContinuousClock.Instant { origin + elapsed }

    /// Calls `body` when the clock passes the time, on the thread that moves the clock.
    public func schedule(after duration: Duration, _ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        let number = add(after: duration, body)
        return { [self] in cancel(number) }
    }

    /// Waits until the clock has moved by the duration. A delivery that is running moves it.
    ///
    /// - Throws: `CancellationError` if the task is cancelled first.
    public func sleep(for duration: Duration) async throws {
        let wait = Wait()
        let number = add(after: duration) { wait.end(.success(())) }
        for running in state.withLock({ Array($0.running.values) }) { running.yield() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { wait.begin($0) }
        } onCancel: {
            cancel(number)
            wait.end(.failure(CancellationError()))
        }
    }

    /// Moves the clock, and runs what is due on the way, in order.
    public func advance(by duration: Duration) {
        let target = state.withLock { $0.elapsed + max(duration, .zero) }
        while let event = next(upTo: target) { event.body() }
        state.withLock { $0.elapsed = max($0.elapsed, target) }
    }

    /// Moves the clock to the next event, if there is one. Events that were added before the delivery, such as a scheduled
    /// notification or what an ended process waits for, are passed on the way.
    private func advanceToNextEvent(of run: Int, unless isOver: () -> Bool) {
        while let event = next(upTo: nil) {
            event.body()
            if event.runs.contains(run) || isOver() { return }
        }
    }

    /// Runs `work`, and moves the clock to the next event whenever work begins to wait for the clock. A device does this for its
    /// extension; use it for code of the app that waits for the network.
    ///
    /// - Parameter patience: how long the simulator waits, in real time, for code that waits for something else; then the clock
    ///   moves to the next event, such as a deadline. nil waits for ever.
    public func run<Value: Sendable>(
        patience: Duration? = nil, _ work: @escaping @Sendable () async -> Value
    ) async -> Value {
        await run(patience: patience, unless: { false }, work)
    }

    /// - Parameters:
    ///   - isOver: whether nothing of the work is awaited any more, asked after each event that it didn't add.
    ///   - onImpatience: called when the patience has ended, before the clock moves.
    func run<Value: Sendable>(
        patience: Duration?, unless isOver: @escaping @Sendable () -> Bool,
        onImpatience: @escaping @Sendable () -> Void = {}, _ work: @escaping @Sendable () async -> Value
    ) async -> Value {
        let (waits, continuation) = AsyncStream<Void>.makeStream()
        let number = state.withLock { state in
            state.number += 1
            state.running[state.number] = continuation
            return state.number
        }
        let mover = Task { [self] in for await _ in waits { advanceToNextEvent(of: number, unless: isOver) } }
        let impatience = patience.map { patience in
            Task { [self] in
                while (try? await wait(patience)) != nil {
                    onImpatience()
                    advanceToNextEvent(of: number, unless: isOver)
                }
            }
        }
        let value = await work()
        impatience?.cancel()
        _ = state.withLock { $0.running.removeValue(forKey: number) }
        continuation.finish()
        await mover.value
        return value
    }

    /// How many times, during one wait, the simulator checks whether code has used the clock. Between two checks the other tasks run
    /// once each, so on a busy machine code gets as many turns as there are checks.
    private static let looksPerWait = 400

    /// Waits until code hasn't used the clock for this real time. The time is counted in short sleeps, so that the time in which
    /// the process was stopped doesn't count.
    private func wait(_ patience: Duration) async throws {
        var (count, last) = (0, state.withLock { $0.number })
        while count < Self.looksPerWait {
            try await Task.sleep(for: patience / Self.looksPerWait)
            let number = state.withLock { $0.number }
            count = number == last ? count + 1 : 0
            last = number
        }
    }

    private func add(after duration: Duration, _ body: @escaping @Sendable () -> Void) -> Int {
        state.withLock { state in
            state.number += 1
            state.events.append(
                Event(
                    time: state.elapsed + max(duration, .zero), number: state.number, runs: Set(state.running.keys),
                    body: body))
            return state.number
        }
    }

    private func cancel(_ number: Int) {
        state.withLock { $0.events.removeAll { $0.number == number } }
    }

    private func next(upTo target: Duration?) -> Event? {
        state.withLock { state in
            guard let first = state.events.min(by: { ($0.time, $0.number) < ($1.time, $1.number) }),
                target.map({ first.time <= $0 }) ?? true
            else { return nil }
            state.events.removeAll { $0.number == first.number }
            state.elapsed = max(state.elapsed, first.time)
            return first
        }
    }
}

/// A wait that ends once, also before it has begun.
private final class Wait: Sendable {
    private enum State {
        case new
        case waiting(CheckedContinuation<Void, any Error>)
        case ended(Result<Void, any Error>)
    }

    private let state = Locked(State.new)

    func begin(_ continuation: CheckedContinuation<Void, any Error>) {
        let result = state.withLock { state -> Result<Void, any Error>? in
            if case .ended(let result) = state { return result }
            state = .waiting(continuation)
            return nil
        }
        if let result { continuation.resume(with: result) }
    }

    func end(_ result: Result<Void, any Error>) {
        let continuation = state.withLock { state -> CheckedContinuation<Void, any Error>? in
            defer { if case .ended = state {} else { state = .ended(result) } }
            if case .waiting(let continuation) = state { return continuation }
            return nil
        }
        continuation?.resume(with: result)
    }
}
