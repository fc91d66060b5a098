import Dispatch
import PushCryptExtension
import PushCryptPrimitives
import PushCryptTestSupport

/// A stage of any kind that changes the content as the test says.
struct TestStage: ContentStage, UnsealedStage, FinalStage {
    struct Failure: Error {}

    var name = "test"
    var timeLimit: Duration?
    let change: @Sendable (inout NotificationContent) async throws -> Void

    static func suffix(_ suffix: String, timeLimit: Duration? = nil) -> TestStage {
        TestStage(name: "suffix", timeLimit: timeLimit) { $0.title.literal = ($0.title.literal ?? "") + suffix }
    }

    static func throwing(_ error: any Error) -> TestStage { TestStage(name: "throwing") { _ in throw error } }

    static let emptying = TestStage(name: "emptying") { $0 = NotificationContent() }

    func process(_ content: NotificationContent, of push: OpenedPush) async throws -> NotificationContent {
        try await process(unsealed: content)
    }

    func finish(_ content: NotificationContent, of push: OpenedPush) async throws -> NotificationContent {
        try await process(unsealed: content)
    }

    func process(unsealed content: NotificationContent) async throws -> NotificationContent {
        var content = content
        try await change(&content)
        return content
    }
}

/// Waits until the test releases it, and then adds " late" to the title.
final class HeldStage: ContentStage {
    enum Manner: CaseIterable {
        /// Waits and ends when it is cancelled.
        case cancellable
        /// Waits and ignores cancellation.
        case ignoresCancellation
        case blocking
    }

    let begun = Signal()
    let ended = Signal()
    let name = "held"
    let timeLimit: Duration?
    private let manner: Manner
    private let gate = DispatchSemaphore(value: 0)
    private let held = Signal()

    init(_ manner: Manner = .cancellable, timeLimit: Duration? = nil) {
        self.manner = manner
        self.timeLimit = timeLimit
    }

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
        return try await TestStage.suffix(" late").process(content, of: push)
    }

    private func block() { gate.wait() }
}

final class RecordingReporter: DeliveryReporter {
    let reported = Signal()
    private let heard = Locked<[DeliveryReport]>([])

    var reports: [DeliveryReport] { heard.withLock { $0 } }

    func report(_ report: DeliveryReport) {
        heard.withLock { $0.append(report) }
        reported.give()
    }
}

final class RecordingScreen: DeliveredNotifications {
    private let names = Locked<[String]>([])

    var removed: [String] { names.withLock { $0 } }

    func remove(_ requestIDs: [String]) { names.withLock { $0 += requestIDs } }
}
