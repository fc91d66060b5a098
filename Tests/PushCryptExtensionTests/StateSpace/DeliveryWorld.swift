#if DEBUG
import Foundation
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptExtension

/// What happens to the process of an extension in one state space walk.
struct DeliveryScenario: Sendable, CustomTestStringConvertible {
    enum Event: String {
        /// A stage with a time limit writes a file and changes the title.
        case stage
        /// The session's deadline and the time limit of the stage may be reached.
        case timers
        /// The system calls `serviceExtensionTimeWillExpire`.
        case warning
        /// The process is suspended for two minutes: the clock moves, and no timer fires for that reason.
        case suspension
        case kill
    }

    let events: [Event]
    /// How often the system delivers the message, at the same time.
    let copyCount: Int

    init(_ events: Event..., copies: Int = 1) { (self.events, copyCount) = (events, copies) }

    var testDescription: String { (["\(copyCount) copies"] + events.map(\.rawValue)).joined(separator: ", ") }

    func has(_ event: Event) -> Bool { events.contains(event) }
}

/// One process of an extension, whose threads the walk continues one by one.
final class DeliveryWorld: Sendable {
    private struct State {
        var clock = TestPush.now
        var isKilled = false
        var isClaimed = false
        var isSeen = false
        /// The calls of the store that have its lock or wait for it.
        var lockCount = 0
        var activityCount = 0
        var fault: String?
        var timerCount = 0
        var deliveries: [DeliverySession.Delivery] = []
    }

    private struct Killed: Error {}

    enum PlantedFault {
        /// The system isn't asked to keep the process running.
        case noActivity
        /// The message is recorded after its content was handed over.
        case lateRecord
    }

    private let scenario: DeliveryScenario
    private let fault: PlantedFault?
    private let place: DeliveryPlace
    private let store: SharedStore
    private let threads = SteppedThreads()
    private let state = Locked(State())

    init(_ scenario: DeliveryScenario, _ place: DeliveryPlace, _ fault: PlantedFault? = nil) throws {
        (self.scenario, self.place, self.fault) = (scenario, place, fault)
        try place.empty()
        store = place.store.store()
    }

    /// Runs the process and then the next one, and checks the invariants.
    func run(_ run: Interleavings.Run) throws {
        for number in 1...scenario.copyCount {
            let session = session(number)
            threads.start("push \(number)", "didReceive") { session.start() }
            if scenario.has(.warning) { threads.start("warning \(number)", "timeWillExpire") { session.expire() } }
        }
        if scenario.has(.suspension) {
            threads.start("suspension", "two minutes pass", [.changes("clock")]) { [state] in
                ThreadObservation.$observer.withValue(nil) { state.withLock { $0.clock = $0.clock + 120 } }
            }
        }
        if scenario.has(.kill) {
            threads.start("kill", "ends the process", [.changes("outside")]) { [state] in
                ThreadObservation.$observer.withValue(nil) { state.withLock { $0.isKilled = true } }
            }
        }
        try threads.finish(run, while: { !state.withLock { $0.isKilled } })
        try check()
    }

    // MARK: The process

    private func session(_ number: Int) -> DeliverySession {
        var configuration = place.configuration
        configuration.clock = { [threads, state] in
            threads.step("reads the clock", [.reads("clock")]) { state.withLock { $0.clock } }
        }
        configuration.memory = Memory(world: self)
        configuration.keepRunning = ProcessActivity { [self] _ in
            guard fault != .noActivity else { return nil }
            changeActivity("asks for time", by: 1)
            return { [self] in changeActivity("gives the time back", by: -1) }
        }
        configuration.timer = Timer(world: self, number: number)
        if scenario.has(.stage) { configuration.stages = [FileStage(world: self)] }
        return DeliverySession(payload: place.payload, configuration: configuration) { [self] delivery in
            _ = try? outside("handler") { [self] in
                state.withLock { state in
                    // The store's time limit may pass before the message is recorded.
                    if delivery.failure == nil, !state.isSeen, !scenario.has(.timers) {
                        state.fault = state.fault ?? "the message is shown before it is recorded"
                    }
                    state.deliveries.append(delivery)
                }
                checkLocks()
            }
        }
    }

    private func changeActivity(_ label: String, by difference: Int) {
        _ = try? outside(label) {
            state.withLock { $0.activityCount += difference }
            checkLocks()
        }
    }

    /// After the last handler the system suspends the process, unless it is asked to keep it running.
    private func checkLocks() {
        state.withLock { [scenario] state in
            let maySuspend = state.deliveries.count == scenario.copyCount && state.activityCount == 0
            if maySuspend, state.lockCount > 0 {
                state.fault = state.fault ?? "the process may be suspended while it has a lock"
            }
        }
    }

    /// A step that others see. After the kill there are none.
    private func outside<Result>(_ label: String, _ body: () throws -> Result) throws -> Result {
        try threads.step(label, [.changes("outside")]) {
            guard !state.withLock({ $0.isKilled }) else { throw Killed() }
            return try body()
        }
    }

    /// A call of the store. It takes the lock in one step; in the next one it does its work and releases the lock.
    private func locked<Result>(_ label: String, _ body: () throws -> Result) throws -> Result {
        try outside("locks the store to \(label)") {
            state.withLock { $0.lockCount += 1 }
            checkLocks()
        }
        return try outside(label) {
            defer { state.withLock { $0.lockCount -= 1 } }
            return try body()
        }
    }

    private struct Memory: DeliveryMemory {
        let world: DeliveryWorld

        func reserve(_ message: MessageStamp, at time: UnixTime) -> Bool { world.store.reserve(message, at: time) }

        func claim(_ message: MessageStamp, isReserved: Bool, at time: UnixTime) throws -> ClaimAnswer {
            try world.locked("claim") {
                let answer = try world.store.claim(message, isReserved: isReserved, at: time)
                if answer.refusal == nil { world.state.withLock { $0.isClaimed = true } }
                return answer
            }
        }

        func record(_ record: DeliveryRecord) throws -> RecordAnswer {
            guard world.fault != .lateRecord else {
                DedicatedThread.run { _ = try? write(record) }
                return RecordAnswer()
            }
            return try write(record)
        }

        private func write(_ record: DeliveryRecord) throws -> RecordAnswer {
            try world.locked(record.isShown ? "record" : "release") {
                let answer = try world.store.record(record)
                guard record.claim != nil else { return answer }
                world.state.withLock { state in
                    // A late claim is released after the message was shown. It stays seen.
                    if record.isShown { state.isSeen = true } else { state.isClaimed = state.isSeen }
                }
                return answer
            }
        }
    }

    /// Each wait is a thread that fires when the walk chooses it.
    private struct Timer: DeadlineTimer {
        let world: DeliveryWorld
        let number: Int

        func schedule(after duration: Duration, _ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
            guard world.scenario.has(.timers) else { return {} }
            let (threads, isCancelled) = (world.threads, Locked(false))
            // The store's time limit is set twice, so the name has a number.
            let name = threads.step("sets \(duration)", [.changes("timers")]) {
                let count = world.state.withLock { state in
                    state.timerCount += 1
                    return state.timerCount
                }
                let name = "\(duration) of \(number), timer \(count)"
                let use = [Step.Use.changes(name)]
                threads.start(name, "fires", use) { [world] in
                    if !world.threads.step("checks", use, { isCancelled.withLock { $0 } }) { body() }
                }
                return name
            }
            return { threads.step("cancels \(name)", [.changes(name)]) { isCancelled.withLock { $0 = true } } }
        }
    }

    /// Writes a file and attaches it, and adds a suffix to the title.
    private struct FileStage: ContentStage {
        let world: DeliveryWorld
        let timeLimit: Duration? = .seconds(3)

        func process(_ content: NotificationContent, of push: OpenedPush) async throws -> NotificationContent {
            writeFile()
            world.threads.pause("ends the stage", [])
            return DeliveryPlace.staged(content, world.place.file)
        }

        private func writeFile() {
            // The session removes files between its steps.
            world.threads.step("writes the file", nil) {
                _ = FileManager.default.createFile(atPath: world.place.file, contents: Data("secret".utf8))
            }
        }
    }

    // MARK: Invariants

    private func check() throws {
        let end = state.withLock { $0 }
        if let fault = end.fault { throw BrokenInvariant(description: fault) }
        let count = end.deliveries.count
        let expected = end.isKilled ? 0...scenario.copyCount : scenario.copyCount...scenario.copyCount
        try require(expected.contains(count), "the handlers were called \(count) times")
        for delivery in end.deliveries {
            let isWhole = delivery.failure.map { delivery.content == place.placeholder($0) }
            try require(
                isWhole ?? place.restored.contains(delivery.content),
                "the content is neither whole nor a placeholder: \(delivery.content)")
        }
        let shown = end.deliveries.filter { $0.failure == nil }
        // A claim lapses while the process is suspended: then another copy may be shown.
        try require(
            shown.count <= (scenario.has(.suspension) ? scenario.copyCount : 1),
            "the message was shown \(shown.count) times")
        if !end.isKilled {
            let kept = shown.contains { !$0.content.attachments.isEmpty }
            try require(
                FileManager.default.fileExists(atPath: place.file) == kept, "the file's existence isn't \(kept)")
        }
        try checkNextProcess(end, isShown: !shown.isEmpty)
    }

    /// The next process receives the message, at once and after the claim has lapsed.
    private func checkNextProcess(_ end: State, isShown: Bool) throws {
        let next = place.store.store()
        func isGranted(at time: UnixTime) throws -> Bool {
            let push = place.push
            let answer = try next.claim(push.name, issuedAt: push.issuedAt, expiresAt: push.expiresAt, at: time)
            guard case .success(let claim) = answer else { return false }
            try next.release(claim)
            return true
        }
        let (now, later) = (end.clock, end.clock + ReplayMemory.claimLifetimeInSeconds)
        if end.isKilled {
            try require(
                !isShown || end.isSeen || scenario.has(.timers), "after the kill a message that was shown isn't seen")
            // A late claim can be released before the message is recorded: then it is seen without a claim.
            let isBlocked = end.isClaimed || end.isSeen
            try require(
                try isGranted(at: now) == !isBlocked,
                "right after the kill the message is \(isBlocked ? "shown again" : "blocked")")
            try require(
                try isGranted(at: later) == !end.isSeen,
                "after the kill and a minute the message is \(end.isSeen ? "shown again" : "lost")")
            return
        }
        for time in [now, later] {
            try require(try isGranted(at: time) == !isShown, "the message is \(isShown ? "shown again" : "lost")")
        }
    }
}
#endif
