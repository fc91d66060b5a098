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
        enum Kind {
            case deadline(@Sendable () -> Void)
            /// Work waits for it.
            case wait(CheckedContinuation<Void, any Error>)
        }

        let time: Duration
        let number: Int
        /// The runs that have added it.
        let runs: [Run]
        let kind: Kind

        var isAwaited: Bool { if case .wait = kind { true } else { false } }

        func fire() {
            switch kind {
            case .deadline(let body): SimulatedClock.$runs.withValue(runs, operation: body)
            case .wait(let continuation): continuation.resume()
            }
        }
    }

    struct State {
        var elapsed: Duration = .zero
        /// How often the clock was used.
        var useCount = 0
        var events: [Event] = []
        /// The waits that were cancelled before they had begun.
        var cancelled: Set<Int> = []
        var running: [ObjectIdentifier: Activity] = [:]
        var isMoving = false
        /// The event that fires during a move.
        var firing: Task<Void, Never>?

        /// - Parameter number: names the event; nil for a new number.
        @discardableResult
        mutating func add(after duration: Duration, _ runs: [Run], _ kind: Event.Kind, _ number: Int? = nil) -> Int {
            let number = number ?? useCount
            endImpatience(of: runs)
            events.append(Event(time: elapsed + max(duration, .zero), number: number, runs: runs, kind: kind))
            return number
        }

        mutating func remove(_ number: Int) -> Event? {
            events.firstIndex { $0.number == number }.map { events.remove(at: $0) }
        }

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
    private let realTime: (@Sendable () -> UnixTime)?
    private let origin = ContinuousClock.now
    let state = Locked(State())

    /// Creates a clock that stands at a time.
    public convenience init(startingAt time: UnixTime = UnixTime(1_790_000_000)) {
        self.init(startingAt: time, following: nil)
    }

    /// - Parameter realTime: the clock of the backend; nil if it uses this one.
    package init(startingAt time: UnixTime, following realTime: (@Sendable () -> UnixTime)?) {
        (start, self.realTime) = (time, realTime)
    }

    /// Creates a clock for pushes that are sealed with the real time. It starts at the real time. When a device receives a push,
    /// and the clock is more than a minute behind the real time, it moves to it: in a test that takes minutes, the push would be
    /// from the future.
    public static func startingNow() -> SimulatedClock { SimulatedClock(startingAt: .now, following: { .now }) }

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
        let runs = Self.runs
        let number = use { $0.add(after: duration, runs, .deadline(body)) }
        return { [self] in use { _ = $0.remove(number) } }
    }

    /// Waits until the clock has moved by the duration. A run moves it if all its work waits.
    ///
    /// - Throws: `CancellationError` if the task is cancelled first.
    public func sleep(for duration: Duration) async throws {
        let runs = Self.runs
        let number = use { $0.useCount }
        defer { use { _ = $0.cancelled.remove(number) } }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                // The wait counts only from here on, because a cancellation ends it at once then.
                let isCancelled = use { state in
                    if state.cancelled.contains(number) { return true }
                    state.add(after: duration, runs, .wait(continuation), number)
                    return false
                }
                if isCancelled { continuation.resume(throwing: CancellationError()) }
            }
        } onCancel: {
            let wait = use { state in
                state.cancelled.insert(number)
                return state.remove(number)
            }
            if case .wait(let continuation) = wait?.kind { continuation.resume(throwing: CancellationError()) }
        }
    }

    /// Moves the clock, and runs what is due on the way, in order.
    public func advance(by duration: Duration) {
        let target = elapsed + max(duration, .zero)
        while let event = use({ $0.next(upTo: target) }) { event.fire() }
        use { $0.elapsed = max($0.elapsed, target) }
    }

    /// Moves the clock to the real time that it follows.
    func catchUp() {
        guard let lag = realTime.map({ $0().seconds - time.seconds }), lag > 60 else { return }
        advance(by: .seconds(lag))
    }

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
