#if DEBUG
import Foundation
public import PushCryptPrimitives

/// Runs threads of this process one at a time. Each pauses before it takes a lock of the product, and where the test says so.
/// At each pause ``Interleavings`` chooses which thread continues.
public final class SteppedThreads: ThreadObserver, @unchecked Sendable {
    // Unchecked because of the variables below: they are used only while `condition` is locked.
    private let condition = NSCondition()
    private var threads: [SteppedThread] = []
    private var byIdentity: [ObjectIdentifier: SteppedThread] = [:]
    private var owners: [ObjectIdentifier: SteppedThread] = [:]
    private var lockNames: [ObjectIdentifier: String] = [:]

    /// How long a thread may run without a pause. A run takes milliseconds.
    private static let patience: TimeInterval = 120

    public struct Stuck: Error, CustomStringConvertible {
        public let description: String
    }

    public init() {}

    /// Starts a thread, which pauses before its first step.
    ///
    /// - Parameter uses: what the first step uses.
    public func start(_ name: String, _ label: String, _ uses: [Step.Use] = [], _ body: @escaping @Sendable () -> Void)
    {
        let thread = adopt(SteppedThread(name))
        DedicatedThread.run { [self] in run(thread, label, uses, body) }
    }

    /// Runs the threads to their end.
    ///
    /// - Parameter choicesMatter: asked before each step; after false the threads run on in one order.
    /// - Throws: what the run throws; ``Stuck`` if each thread waits for a lock of another one.
    public func finish(_ run: Interleavings.Run, while choicesMatter: () -> Bool = { true }) throws {
        while true {
            let (enabled, waiting) = try settled()
            if !choicesMatter() { run.stopChoosing() }
            guard !enabled.isEmpty else {
                guard waiting.isEmpty else { throw Stuck(description: "a deadlock: \(waiting)") }
                return
            }
            let step: Step
            do {
                step = try run.choose(enabled)
            } catch {
                releaseAll()
                throw error
            }
            resume(step.actor)
        }
    }

    /// Pauses the current thread until its step is chosen. Does nothing on a thread that isn't observed.
    public func pause(_ label: String, _ uses: [Step.Use]) { pause(label, uses, lock: nil) }

    /// Pauses, and then runs `body` as one step.
    public func step<Result>(_ label: String, _ uses: [Step.Use], _ body: () throws -> Result) rethrows -> Result {
        pause(label, uses)
        return try ThreadObservation.$observer.withValue(nil) { try body() }
    }

    // MARK: Observing

    package func willLock(_ lock: ObjectIdentifier) {
        condition.lock()
        let name = lockNames[lock] ?? "lock \(lockNames.count + 1)"
        lockNames[lock] = name
        condition.unlock()
        pause(name, [.changes(name)], lock: lock)
    }

    package func didUnlock(_ lock: ObjectIdentifier) {
        condition.lock()
        owners[lock] = nil
        condition.unlock()
    }

    package func thread(_ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        guard let parent = current else { return body }
        let thread = adopt(SteppedThread(parent.childName()))
        return { [self] in run(thread, "begins", [], body) }
    }

    // MARK: Threads

    private var current: SteppedThread? {
        condition.lock()
        defer { condition.unlock() }
        return byIdentity[ObjectIdentifier(Thread.current)]
    }

    private func adopt(_ thread: SteppedThread) -> SteppedThread {
        condition.lock()
        defer { condition.unlock() }
        threads.append(thread)
        return thread
    }

    private func run(_ thread: SteppedThread, _ label: String, _ uses: [Step.Use], _ body: @Sendable () -> Void) {
        let identity = Thread.current
        condition.lock()
        byIdentity[ObjectIdentifier(identity)] = thread
        condition.unlock()
        pause(label, uses)
        ThreadObservation.$observer.withValue(self) { body() }
        condition.lock()
        byIdentity[ObjectIdentifier(identity)] = nil
        threads.removeAll { $0 === thread }
        condition.broadcast()
        condition.unlock()
    }

    private func pause(_ label: String, _ uses: [Step.Use], lock: ObjectIdentifier?) {
        guard let thread = current else { return }
        condition.lock()
        thread.pause = SteppedThread.Pause(step: Step(thread.name, label, uses), lock: lock)
        condition.broadcast()
        condition.unlock()
        thread.gate.wait()
    }

    /// Waits until every thread has paused.
    private func settled() throws -> (enabled: [Step], waiting: [Step]) {
        condition.lock()
        defer { condition.unlock() }
        let limit = Date(timeIntervalSinceNow: Self.patience)
        while let running = threads.first(where: { $0.pause == nil }) {
            guard condition.wait(until: limit) else {
                throw Stuck(description: "\(running.name) waits for something that isn't a lock of the product")
            }
        }
        let paused = threads.compactMap(\.pause)
        let enabled = paused.filter { pause in pause.lock.map { owners[$0] == nil } ?? true }
        return (enabled.map(\.step), paused.map(\.step))
    }

    private func resume(_ name: String) {
        condition.lock()
        defer { condition.unlock() }
        guard let thread = threads.first(where: { $0.name == name }), let pause = thread.pause else { return }
        if let lock = pause.lock { owners[lock] = thread }
        thread.pause = nil
        thread.gate.signal()
    }

    /// Lets the threads run on without choices.
    private func releaseAll() {
        while let (enabled, _) = try? settled(), let step = enabled.first { resume(step.actor) }
    }
}

/// A thread, which waits at its gate while it pauses.
private final class SteppedThread: @unchecked Sendable {
    // Unchecked because of the variables: `pause` is used while the condition of `SteppedThreads` is locked, `childCount`
    // by this thread only.
    struct Pause {
        let step: Step
        /// The lock that the thread takes next.
        let lock: ObjectIdentifier?
    }

    let name: String
    let gate = DispatchSemaphore(value: 0)
    var pause: Pause?
    private var childCount = 0

    init(_ name: String) { self.name = name }

    func childName() -> String {
        childCount += 1
        return "\(name).\(childCount)"
    }
}
#endif
