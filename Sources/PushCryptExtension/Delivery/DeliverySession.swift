public import PushCryptCore
import PushCryptPrimitives

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// One push on its way to the screen. The handler is called exactly once: with the restored content or, on any failure or
/// when time runs out before it was restored, with the placeholder.
///
/// ```
/// restore -> offloaded payload -> attachments -> receipt -> the app's stages -> handler
///               each keeps the best content so far; at the deadline that is what is handed over
/// ```
/// Sessions share nothing but what they were given: any number may run at once, and one that is stuck holds up no other.
public final class DeliverySession: Sendable {
    /// What the handler gets.
    public struct Delivery: Sendable {
        /// Always has text: a character that a user sees, or without the app's strings a key of them.
        public let content: NotificationContent
        /// Whether `content` is what was sealed. Sealed content without text, as that of a key with an empty localisation,
        /// is replaced by the app's own text and `malformed`.
        public let isRestored: Bool
        /// Why `content` is not the whole of what was sealed; nil when it is, and for a push that was let through
        /// unsealed. With `attachmentFailed` and `replayed` the text may have been restored all the same.
        public let failure: FailureClass?
        /// Whether the push wasn't sealed and the app lets such pushes through: nothing of it is authenticated.
        public var isUnsealed: Bool { !isRestored && failure == nil }
        /// Whose work isn't in `content`.
        public let stageFailures: [StageFailure]
    }

    public typealias Handler = @Sendable (Delivery) -> Void

    private struct State {
        var handler: Handler?
        var isStarted = false
        /// The receipt step was reached.
        var isReceiptGiven = false
        var restored: RestoredPush?
        var running: (stage: InnerStage, run: StageRun<RestoredPush>)?
        var cancelTimer: (@Sendable () -> Void)?
    }

    private let payload: [UInt8]
    private let opener: Opener
    private let configuration: Configuration
    private let clock: @Sendable () -> UnixTime
    private let timer: any DeadlineTimer
    private let state: Locked<State>

    /// - Parameters:
    ///   - payload: the outer payload, UTF-8 JSON.
    ///   - clock: tells the time that freshness is judged by.
    ///   - timer: runs the deadline.
    ///   - handler: hands the content to the system; called once, on any thread.
    public init(
        payload: [UInt8], opener: Opener, configuration: Configuration,
        clock: @escaping @Sendable () -> UnixTime = { UnixTime(Int64(Date().timeIntervalSince1970)) },
        timer: any DeadlineTimer = ThreadTimer(), handler: @escaping Handler
    ) {
        self.payload = payload
        self.opener = opener
        self.configuration = configuration
        self.clock = clock
        self.timer = timer
        state = Locked(State(handler: handler))
    }

    /// Begins. The session keeps itself alive until the handler was called. A second call does nothing, and neither does one
    /// that comes after the end.
    public func start() {
        let isFirst = state.withLock { state in
            defer { state.isStarted = true }
            return state.handler != nil && !state.isStarted
        }
        guard isFirst else { return }
        let cancel = timer.schedule(after: configuration.deadline) { [self] in expire() }
        // Time may be up while the timer is being set: nothing else would stop it then.
        guard keep({ $0.cancelTimer = cancel }) else { return cancel() }
        // No pool: stages that block its threads would hold up every later push.
        OwnThread.startOrQueue { [self] in restore() }
    }

    /// Time is up: hands over the best content so far unless that was done already. Call it from
    /// `serviceExtensionTimeWillExpire`; the session calls it at its own deadline.
    public func expire() {
        handOver(orElse: .timedOut)
    }

    private func restore() {
        let restorer = Restorer(payload: payload, opener: opener, configuration: configuration, time: clock())
        let result = restorer.restore(unless: { !keep { _ in } })
        switch result.flatMapError({ configuration.admitted(payload, $0) }) {
        case .success(let restored):
            guard keep({ $0.restored = restored }) else { return release(restored) }
            advance(restored, through: configuration.steps(for: restored)[...])
        case .failure(let failure): handOver(orElse: failure)
        }
    }

    private func markSeen(_ restored: RestoredPush) {
        if let claim = restored.claim { try? configuration.replayGuard?.markSeen(claim) }
    }

    /// The message wasn't shown: it may come again.
    private func release(_ restored: RestoredPush) {
        if let claim = restored.claim { try? configuration.replayGuard?.release(claim) }
    }

    /// One step after the other; whoever ends a step goes on with the next.
    private func advance(_ restored: RestoredPush, through steps: ArraySlice<DeliveryStep>) {
        guard let step = steps.first else { return handOver(orElse: .internalError) }
        let rest = steps.dropFirst()
        guard case .stage(let stage) = step else {
            guard keep({ $0.isReceiptGiven = true }) else { return }
            configuration.receipts?.report(report(of: restored))
            return advance(restored, through: rest)
        }
        let run = StageRun<RestoredPush> { [self] late in
            use(restored, insteadOf: late)
        } ended: { [self] result in
            let next = restored.after(stage, result)
            guard keep({ ($0.restored, $0.running) = (next, nil) }) else { return use(restored, insteadOf: next) }
            use(next, insteadOf: restored)
            advance(next, through: rest)
        }
        guard keep({ $0.running = (stage, run) }) else { return }
        run.start(timeLimit: stage.timeLimit, timer: timer) { try await stage.run(restored) }
    }

    /// The files of a version of the push that isn't used go with it.
    private func use(_ used: RestoredPush, insteadOf other: RestoredPush) {
        other.content.removeFiles(notIn: used.content)
    }

    /// - Returns: false when the content was handed over already: then nothing is kept.
    private func keep(_ change: @Sendable (inout State) -> Void) -> Bool {
        state.withLock { state in
            if state.handler != nil { change(&state) }
            return state.handler != nil
        }
    }

    private func handOver(orElse failure: FailureClass) {
        let last = state.withLock { state in
            defer { state = State() }
            return state
        }
        guard let handler = last.handler else { return }
        let restored = last.running.map { last.restored?.after($0.stage, .failure(.timedOut)) } ?? last.restored
        let delivery = configuration.withText(restored?.delivery ?? placeholder(failure))
        last.cancelTimer?()
        // Before the handler: what the stage completes while that runs isn't in the content, and must not stay on disk.
        last.running?.run.stop()
        restored?.content.removeFiles(notIn: delivery.content)
        handler(delivery)
        record(restored, delivery, isReceiptGiven: last.isReceiptGiven)
    }

    private func placeholder(_ failure: FailureClass) -> Delivery {
        let notice = failure == .keyLocked ? configuration.unlockNotice : nil
        let text = notice.flatMap { $0.isDue() ? $0.text : nil }
        let content = configuration.localized(configuration.fallback.content(for: payload, failure, showing: text))
        return Delivery(content: content, isRestored: false, failure: failure, stageFailures: [])
    }

    private func record(_ restored: RestoredPush?, _ delivery: Delivery, isReceiptGiven: Bool) {
        if let restored { if delivery.isRestored { markSeen(restored) } else { release(restored) } }
        let receipts = isReceiptGiven || delivery.isUnsealed ? nil : configuration.receipts
        let listeners = [receipts, configuration.diagnostics].compactMap(\.self)
        guard !listeners.isEmpty else { return }
        let report = DeliveryReport(delivery, of: payload, restored?.push, at: clock())
        for listener in listeners { listener.report(report) }
    }

    private func report(of restored: RestoredPush) -> DeliveryReport {
        DeliveryReport(configuration.withText(restored.delivery), of: payload, restored.push, at: clock())
    }
}
