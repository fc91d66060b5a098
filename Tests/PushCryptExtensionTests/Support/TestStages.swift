import Dispatch
import PushCryptExtension
import PushCryptPrimitives
import PushCryptTestSupport

/// Adds a suffix to the title.
struct SuffixStage: ContentStage {
    let suffix: String
    var timeLimit: Duration?
    var name: String { "suffix \(suffix)" }

    func process(_ content: NotificationContent, of push: OpenedPush) async throws -> NotificationContent {
        var content = content
        content.title.literal = (content.title.literal ?? "") + suffix
        return content
    }
}

struct ThrowingStage: ContentStage {
    struct Failure: Error {}

    let error: any Error

    func process(_ content: NotificationContent, of push: OpenedPush) async throws -> NotificationContent {
        throw error
    }
}

struct EmptyingStage: ContentStage {
    func process(_ content: NotificationContent, of push: OpenedPush) async throws -> NotificationContent {
        NotificationContent()
    }
}

/// Waits until the test releases it, and then adds " late" to the title.
final class HeldStage: ContentStage {
    enum Manner: CaseIterable {
        /// Waits and ends when it is cancelled.
        case cancellable
        /// Waits and ignores cancellation.
        case ignoresCancellation
        /// Blocks its thread.
        case blocking
    }

    let begun = Signal()
    let ended = Signal()
    let timeLimit: Duration?
    private let manner: Manner
    private let gate = DispatchSemaphore(value: 0)
    private let held = Signal()

    init(_ manner: Manner, timeLimit: Duration? = nil) {
        self.manner = manner
        self.timeLimit = timeLimit
    }

    var name: String { "held" }

    func release() {
        gate.signal()
        held.give()
    }

    func process(_ content: NotificationContent, of push: OpenedPush) async throws -> NotificationContent {
        begun.give()
        defer { ended.give() }
        switch manner {
        case .cancellable: await held.wait()
        case .ignoresCancellation: await Task { await held.wait() }.value
        case .blocking: block()
        }
        try Task.checkCancellation()
        return try await SuffixStage(suffix: " late").process(content, of: push)
    }

    private func block() { gate.wait() }
}

/// Records the reports that it receives.
final class RecordingReporter: DeliveryReporter {
    /// Given when a report was received.
    let reported = Signal()
    private let heard = Locked<[DeliveryReport]>([])
    private let log: Locked<[String]>?
    private let name: String

    init(_ name: String = "", log: Locked<[String]>? = nil) {
        self.name = name
        self.log = log
    }

    var reports: [DeliveryReport] { heard.withLock { $0 } }

    func report(_ report: DeliveryReport) {
        heard.withLock { $0.append(report) }
        log?.withLock { [name] in $0.append(name) }
        reported.give()
    }
}

/// Starts 500 child tasks that each work for a moment, and adds their number to the title.
final class CrowdedStage: ContentStage {
    private struct Crowd {
        var count = 0
        var most = 0
    }

    private let crowd = Locked(Crowd())

    /// The maximum number of tasks that worked at the same time.
    var mostAtOnce: Int { crowd.withLock { $0.most } }

    func process(_ content: NotificationContent, of push: OpenedPush) async throws -> NotificationContent {
        let numbers = await withTaskGroup(of: UInt64.self) { group in
            for seed in 0..<500 { group.addTask { [self] in work(UInt64(seed)) } }
            return await group.reduce(into: [UInt64]()) { $0.append($1) }
        }
        var content = content
        content.title.literal = (content.title.literal ?? "") + " \(numbers.count)"
        return content
    }

    private func work(_ seed: UInt64) -> UInt64 {
        crowd.withLock { crowd in
            crowd.count += 1
            crowd.most = max(crowd.most, crowd.count)
        }
        var generator = SplitMix64(seed: seed)
        let sum = (0..<2_000).reduce(0 as UInt64) { sum, _ in sum &+ generator.next() }
        crowd.withLock { $0.count -= 1 }
        return sum
    }
}
