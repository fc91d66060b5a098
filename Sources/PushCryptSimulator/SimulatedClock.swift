public import PushCryptExtension
import PushCryptPrimitives

/// A clock that a test moves. Nothing sleeps: time passes only in ``advance(by:)``, and in ``run(patience:_:)`` while all work
/// waits for this clock. A device receives a push in such a run.
///
/// ```
/// schedule(after:)   deadlines: they fire when the clock passes them, and move it for nobody
/// sleep(for:)        work that takes time, such as a slow network: a run moves the clock to its end
/// ```
public final class SimulatedClock: DeadlineTimer {
    struct Event {
        let time: Duration
        let number: Int
        /// Whether work waits for it.
        let isAwaited: Bool
        /// The runs that have added it.
        let runs: [Run]
        let body: @Sendable () -> Void

        func fire() { SimulatedClock.$runs.withValue(runs, operation: body) }
    }

    struct State {
        var elapsed: Duration = .zero
        /// How often the clock was used.
        var useCount = 0
        var events: [Event] = []
        var running: [ObjectIdentifier: Activity] = [:]
        var isMoving = false
        /// The event that fires during a move.
        var firing: Task<Void, Never>?

        /// Takes the first event up to a time, and moves the clock to it.
        mutating func next(upTo target: Duration) -> Event? {
            guard let first = events.min(by: { ($0.time, $0.number) < ($1.time, $1.number) }), first.time <= target
            else { return nil }
            events.removeAll { $0.number == first.number }
            elapsed = max(elapsed, first.time)
            return first
        }
    }

    private let start: UnixTime
    private let origin = ContinuousClock.now
    let state = Locked(State())

    /// Creates a clock that stands at a time.
    public init(startingAt time: UnixTime = UnixTime(1_790_000_000)) { start = time }

    /// The time in whole seconds.
    public var time: UnixTime { time(at: elapsed) }

    /// The time since the start.
    public var elapsed: Duration { state.withLock { $0.elapsed } }

    /// An instant for the clocks of the standard library.
    public var instant: ContinuousClock.Instant { origin + elapsed }

    func time(at elapsed: Duration) -> UnixTime { start + elapsed.components.seconds }

    func elapsed(at time: UnixTime) -> Duration { .seconds(time.seconds - start.seconds) }

    /// Calls `body` when the clock passes the time, on the thread that moves the clock.
    public func schedule(after duration: Duration, _ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        let number = add(after: duration, isAwaited: false, body)
        return { [self] in cancel(number) }
    }

    /// Waits until the clock has moved by the duration. A run moves it if all its work waits.
    ///
    /// - Throws: `CancellationError` if the task is cancelled first.
    public func sleep(for duration: Duration) async throws {
        let wait = Wait()
        let number = add(after: duration, isAwaited: true) { wait.end(.success(())) }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { wait.begin($0) }
        } onCancel: {
            cancel(number)
            wait.end(.failure(CancellationError()))
        }
    }

    /// Moves the clock, and runs what is due on the way, in order.
    public func advance(by duration: Duration) {
        let target = elapsed + max(duration, .zero)
        while let event = use({ $0.next(upTo: target) }) { event.fire() }
        use { $0.elapsed = max($0.elapsed, target) }
    }

    private func add(after duration: Duration, isAwaited: Bool, _ body: @escaping @Sendable () -> Void) -> Int {
        let runs = Self.runs
        return use { state in
            let number = state.useCount
            state.endImpatience(of: runs)
            state.events.append(
                Event(
                    time: state.elapsed + max(duration, .zero), number: number, isAwaited: isAwaited, runs: runs,
                    body: body))
            return number
        }
    }

    private func cancel(_ number: Int) { use { $0.events.removeAll { $0.number == number } } }

    /// Changes the state, and moves the clock if everything waits for it now.
    @discardableResult
    func use<Value: Sendable>(_ change: @Sendable (inout State) -> Value) -> Value {
        let (value, moves) = state.withLock { state in
            state.useCount += 1
            let value = change(&state)
            guard !state.isMoving, state.target != nil else { return (value, false) }
            state.isMoving = true
            return (value, true)
        }
        if moves { Task.detached { [self] in await move() } }
        return value
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
