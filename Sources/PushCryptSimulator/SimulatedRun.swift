import PushCryptPrimitives

/// How the clock moves in the time of work.
///
/// ```
/// a run works      on its executor, on the threads of its sessions: each is counted
/// a run waits      nothing of it works, and something of it sleeps
/// all runs wait -> the next event fires -> what it has woken works and waits again -> ...
/// ```
/// Events up to the first wait of a run fire in their order, also those of others. Code on an executor of its own, such as that
/// of the main actor, isn't counted. It gets a few turns before each event.
extension SimulatedClock {
    /// The name of a run.
    final class Run: Sendable {}

    /// What a run does.
    struct Activity {
        /// The runs in which it is, and itself.
        let runs: [Run]
        /// How many threads work for it.
        var workCount = 0
        /// Whether its patience has ended, and it hasn't used the clock since.
        var isImpatient = false
    }

    /// The runs in whose time the present code runs, the outermost first.
    @TaskLocal static var runs: [Run] = []

    /// Runs `work`, and moves the clock whenever all of it waits for the clock. A device does this when it receives a push, and
    /// when it asks the app; use it for other code of the app that waits for the network.
    ///
    /// The clock moves to one event after the other, and code that was woken goes on before the next one. With several runs it
    /// moves when all of them wait. Work is the code of `work` and its child tasks. Of a task that it creates with `Task`, the
    /// clock sees only whether it sleeps, not whether it computes.
    ///
    /// - Parameter patience: how long the simulator waits, in real time, for code that waits for something else; then the clock
    ///   moves to the next event of this work, such as a deadline. nil waits for ever.
    public func run<Value: Sendable, Failure: Error>(
        patience: Duration? = .seconds(10), _ work: @Sendable () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        try await run(patience: patience, onImpatience: {}, work)
    }

    /// - Parameter onImpatience: called when the patience has ended, before the clock moves.
    func run<Value: Sendable, Failure: Error>(
        patience: Duration?, onImpatience: @escaping @Sendable () -> Void,
        _ work: @Sendable () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let run = Run()
        let runs = Self.runs + [run]
        use { $0.running[ObjectIdentifier(run)] = Activity(runs: runs) }
        let impatience = patience.map { patience in
            Task.detached { [self] in
                while (try? await wait(patience)) != nil {
                    onImpatience()
                    use { $0.beginImpatience(of: run) }
                }
            }
        }
        defer { impatience?.cancel() }
        let result = await Self.$runs.withValue(runs) {
            await counted { [self] in
                let result: Result<Value, Failure>
                do throws(Failure) { result = .success(try await work()) } catch { result = .failure(error) }
                // Before its executor is idle: the clock moves no more.
                use { _ = $0.running.removeValue(forKey: ObjectIdentifier(run)) }
                return result
            }
        }
        await state.withLock { $0.firing }?.value
        return try result.get()
    }

    /// Starts threads that work for the present runs.
    var threads: DedicatedThread.Start {
        let runs = Self.runs
        return { [self] body in
            work(for: runs, 1)
            DedicatedThread.run { [self] in
                Self.$runs.withValue(runs, operation: body)
                work(for: runs, -1)
            }
        }
    }

    private func work(for runs: [Run], _ change: Int) {
        use { state in
            state.endImpatience(of: runs)
            for run in runs { state.running[ObjectIdentifier(run)]?.workCount += change }
        }
    }

    /// Runs `body` on an executor whose thread is counted. Systems before iOS 18 and macOS 15 have none.
    private func counted<Value: Sendable>(_ body: @Sendable () async -> Value) async -> Value {
        guard #available(iOS 18, macOS 15, watchOS 11, tvOS 18, visionOS 2, *) else { return await body() }
        return await withTaskExecutorPreference(ThreadExecutor(threads)) { await body() }
    }

    /// Fires one event after the other while all runs wait.
    func move() async {
        repeat {
            await settle()
        } while await fireNext()
    }

    private func fireNext() async -> Bool {
        let firing = state.withLock { state -> Task<Void, Never>? in
            guard let event = state.takeAwaited() else {
                state.isMoving = false
                return nil
            }
            let task = Task.detached { event.fire() }
            state.firing = task
            return task
        }
        await firing?.value
        state.withLock { $0.firing = nil }
        return firing != nil
    }

    /// How many turns code that isn't counted gets before an event.
    private static let settlingTurns = 4

    /// Waits until the clock wasn't used for a few turns.
    private func settle() async {
        var (turns, last) = (0, state.withLock { $0.useCount })
        while turns < Self.settlingTurns {
            await Task.yield()
            let count = state.withLock { $0.useCount }
            turns = count == last ? turns + 1 : 0
            last = count
        }
    }

    /// How many times, during one wait, the simulator checks whether code has used the clock. Between two checks the other tasks run
    /// once each, so on a busy machine code gets as many turns as there are checks.
    private static let looksPerWait = 400

    /// Waits until code hasn't used the clock for this real time. The time is counted in short sleeps, so that the time in which
    /// the process was stopped doesn't count.
    private func wait(_ patience: Duration) async throws {
        var (count, last) = (0, state.withLock { $0.useCount })
        while count < Self.looksPerWait {
            try await Task.sleep(for: patience / Self.looksPerWait)
            let useCount = state.withLock { $0.useCount }
            count = useCount == last ? count + 1 : 0
            last = useCount
        }
    }
}

extension SimulatedClock.State {
    /// The first time for which all runs wait; nil if one doesn't wait.
    var target: Duration? {
        var targets: [Duration] = []
        for (run, activity) in running {
            let own = events.filter { $0.runs.contains { ObjectIdentifier($0) == run } }
            let waits = activity.workCount == 0 && own.contains(where: \.isAwaited)
            guard waits || activity.isImpatient else { return nil }
            targets += own.filter { $0.isAwaited || activity.isImpatient }.map(\.time)
        }
        return targets.min()
    }

    /// Takes the next event if all runs wait.
    mutating func takeAwaited() -> SimulatedClock.Event? {
        guard let target, let event = next(upTo: target) else { return nil }
        endImpatience(of: event.runs)
        return event
    }

    /// Also that of the runs in it.
    mutating func beginImpatience(of run: SimulatedClock.Run) {
        for (id, activity) in running where activity.runs.contains(where: { $0 === run }) {
            running[id]?.isImpatient = true
        }
    }

    mutating func endImpatience(of runs: [SimulatedClock.Run]) {
        for run in runs { running[ObjectIdentifier(run)]?.isImpatient = false }
    }
}
