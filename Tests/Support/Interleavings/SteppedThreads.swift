#if DEBUG
import Foundation
public import PushCryptPrimitives

/// Runs threads of this process one at a time. Each pauses before it takes a lock of the product, and where the test says so.
/// At each pause ``Interleavings`` chooses which thread continues.
///
/// The thread that pauses asks for the next step itself. So a thread that continues changes no thread, and the other steps
/// change it once.
public final class SteppedThreads: ThreadObserver, @unchecked Sendable {
    // Unchecked because of the variables below: they are used only while `lock` is locked.
    private let lock = NSLock()
    private var threads: [SteppedThread] = []
    private var owners: [ObjectIdentifier: SteppedThread] = [:]
    private var lockNames: [ObjectIdentifier: String] = [:]
    private var walk: (run: Interleavings.Run, choicesMatter: () -> Bool)?
    private var error: (any Error)?
    private var stepCount = 0
    private let ended = DispatchSemaphore(value: 0)

    /// How many seconds a thread may run without a pause. A run takes milliseconds.
    private static let patience = 120

    public struct Stuck: Error, CustomStringConvertible {
        public let description: String
    }

    public init() {}

    /// Starts a thread, which pauses before its first step.
    ///
    /// - Parameter uses: what the first step uses; nil for anything.
    public func start(
        _ name: String, _ label: String, _ uses: [Step.Use]? = [], _ body: @escaping @Sendable () -> Void
    ) {
        DedicatedThread.run(adopt(SteppedThread(name, first: Step(name, label, uses)), body))
    }

    /// Runs the threads to their end.
    ///
    /// - Parameter choicesMatter: asked before each step; after false the threads run on in one order.
    /// - Throws: what the run throws; ``Stuck`` if each thread waits for a lock of another one.
    public func finish(_ run: Interleavings.Run, while choicesMatter: () -> Bool = { true }) throws {
        try withoutActuallyEscaping(choicesMatter) { choicesMatter in
            lock.lock()
            walk = (run, choicesMatter)
            continueOne()
            lock.unlock()
            try waitForEnd()
            lock.lock()
            defer { lock.unlock() }
            walk = nil
            if let error { throw error }
        }
    }

    /// Pauses the current thread until its step is chosen. Does nothing on a thread that isn't observed.
    public func pause(_ label: String, _ uses: [Step.Use]?) {
        guard let thread = SteppedThread.current else { return }
        lock.lock()
        pause(thread, SteppedThread.Pause(step: Step(thread.name, label, uses), lock: nil))
    }

    /// Pauses, and then runs `body` as one step.
    public func step<Result>(_ label: String, _ uses: [Step.Use]?, _ body: () throws -> Result) rethrows -> Result {
        pause(label, uses)
        return try ThreadObservation.$observer.withValue(nil) { try body() }
    }

    // MARK: Observing

    package func willLock(_ identity: ObjectIdentifier) {
        guard let thread = SteppedThread.current else { return }
        lock.lock()
        let name = lockNames[identity] ?? "lock \(lockNames.count + 1)"
        lockNames[identity] = name
        pause(thread, SteppedThread.Pause(step: Step(thread.name, name, [.changes(name)]), lock: identity))
    }

    package func didUnlock(_ identity: ObjectIdentifier) {
        lock.lock()
        owners[identity] = nil
        lock.unlock()
    }

    package func thread(_ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        guard let parent = SteppedThread.current else { return body }
        let name = parent.childName()
        return adopt(SteppedThread(name, first: Step(name, "begins", [])), body)
    }

    // MARK: Threads

    /// - Returns: what the thread runs. It pauses before its first step from now on, even if the system starts it later.
    private func adopt(_ thread: SteppedThread, _ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        lock.lock()
        threads.append(thread)
        lock.unlock()
        return { [self] in
            thread.run {
                thread.gate.wait()
                ThreadObservation.$observer.withValue(self) { body() }
            }
            lock.lock()
            threads.removeAll { $0 === thread }
            continueOne()
            lock.unlock()
        }
    }

    /// The caller has locked `lock`, which this releases.
    private func pause(_ thread: SteppedThread, _ pause: SteppedThread.Pause) {
        thread.pause = pause
        continueOne()
        lock.unlock()
        thread.gate.wait()
    }

    /// Lets one thread continue, or ends the run. The caller has locked `lock`, and every thread has paused or ended.
    private func continueOne() {
        let enabled = threads.filter { thread in
            guard let pause = thread.pause else { preconditionFailure("\(thread.name) runs at the same time") }
            return pause.lock.map { owners[$0] == nil } ?? true
        }
        guard !enabled.isEmpty else {
            if !threads.isEmpty {
                error = error ?? Stuck(description: "a deadlock: \(threads.compactMap(\.pause?.step))")
            }
            ended.signal()
            return
        }
        let thread = chosen(enabled)
        if let lock = thread.pause?.lock { owners[lock] = thread }
        thread.pause = nil
        stepCount += 1
        thread.gate.signal()
    }

    /// After an error the threads run on without choices.
    private func chosen(_ enabled: [SteppedThread]) -> SteppedThread {
        guard let walk, error == nil else { return enabled[0] }
        do {
            // The invariants of the test may use locks of the product.
            return try ThreadObservation.$observer.withValue(nil) {
                if !walk.choicesMatter() { walk.run.stopChoosing() }
                let step = try walk.run.choose(enabled.compactMap(\.pause?.step))
                return enabled.first { $0.name == step.actor }!
            }
        } catch {
            self.error = error
            return enabled[0]
        }
    }

    private func waitForEnd() throws {
        var last = -1
        while ended.wait(timeout: .now() + .seconds(Self.patience)) == .timedOut {
            lock.lock()
            defer { lock.unlock() }
            if stepCount == last {
                let running = threads.filter { $0.pause == nil }.map(\.name)
                throw Stuck(description: "\(running) waits for something that isn't a lock of the product")
            }
            last = stepCount
        }
    }
}

/// A thread, which waits at its gate while it pauses.
private final class SteppedThread: @unchecked Sendable {
    // Unchecked because of the variables: `pause` is used while the lock of `SteppedThreads` is locked, `childCount` by this
    // thread only.
    struct Pause {
        let step: Step
        /// The lock that the thread takes next.
        let lock: ObjectIdentifier?
    }

    let name: String
    let gate = DispatchSemaphore(value: 0)
    var pause: Pause?
    private var childCount = 0

    init(_ name: String, first step: Step) {
        self.name = name
        pause = Pause(step: step, lock: nil)
    }

    private static let key = "SteppedThread"

    /// The thread that calls; nil if it isn't stepped. A value of the thread and not of its task, because a task has another
    /// thread than the one that created it.
    static var current: SteppedThread? { Thread.current.threadDictionary[key] as? SteppedThread }

    func run(_ body: () -> Void) {
        Thread.current.threadDictionary[Self.key] = self
        defer { Thread.current.threadDictionary[Self.key] = nil }
        body()
    }

    func childName() -> String {
        childCount += 1
        return "\(name).\(childCount)"
    }
}
#endif
