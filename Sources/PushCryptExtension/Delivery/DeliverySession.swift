public import PushCryptCore
import PushCryptPrimitives

/// One push on its way to the screen. The handler is called exactly once: with the restored content or, on any failure or
/// when time runs out before it was restored, with the placeholder.
///
/// ```
/// restore -> offloaded payload -> attachments -> receipt -> the app's stages -> handler
///               each keeps the best content so far, which is handed over at the deadline
/// ```
/// Sessions share nothing but their configuration: any number may run at once, and one that is stuck holds up no other.
public final class DeliverySession: Sendable {
    /// The content that the handler gets, and what became of the push.
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
        /// The stages whose work isn't in `content`.
        public let stageFailures: [StageFailure]
    }

    /// Hands the content to the system.
    public typealias Handler = @Sendable (Delivery) -> Void

    /// The session's state until its handler is called.
    private struct State {
        let handler: Handler
        /// The receipt step was reached.
        var isReceiptGiven = false
        var restored: RestoredPush?
        var running: (stage: InnerStage, run: StageRun<RestoredPush>)?
        var cancelTimer: (@Sendable () -> Void)?
    }

    private let payload: [UInt8]
    private let configuration: ExtensionConfiguration
    private let unstarted = EndingOnce(())
    private let state: EndingOnce<State>

    /// - Parameters:
    ///   - payload: the outer payload, UTF-8 JSON.
    ///   - configuration: how the push is opened and shown.
    ///   - handler: hands the content to the system; called once, on any thread.
    public init(payload: [UInt8], configuration: ExtensionConfiguration, handler: @escaping Handler) {
        self.payload = payload
        self.configuration = configuration
        state = EndingOnce(State(handler: handler))
    }

    /// Begins. The session keeps itself alive until the handler was called. A second call does nothing, and neither does one
    /// that comes after the end.
    public func start() {
        guard unstarted.end() != nil, state.current != nil else { return }
        let cancel = configuration.timer.schedule(after: configuration.deadline) { [self] in expire() }
        // Time may be up while the timer is being set: nothing else would stop it then.
        guard state.update({ $0.cancelTimer = cancel }) else { return cancel() }
        // No pool: stages that block its threads would hold up every later push.
        DedicatedThread.run { [self] in restore() }
    }

    /// Time is up: hands over the best content so far unless that was done already. Call it from
    /// `serviceExtensionTimeWillExpire`; the session calls it at its own deadline.
    public func expire() {
        handOver(orElse: .timedOut)
    }

    private func restore() {
        switch configuration.restore(payload, at: configuration.clock(), unless: { state.current == nil }) {
        case .success(let restored):
            guard state.update({ $0.restored = restored }) else { return release(restored) }
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

    /// One step after the other; the thread that ends a step goes on with the next.
    private func advance(_ restored: RestoredPush, through steps: ArraySlice<DeliveryStep>) {
        guard let step = steps.first else { return handOver(orElse: .internalError) }
        let rest = steps.dropFirst()
        guard case .stage(let stage) = step else {
            guard state.update({ $0.isReceiptGiven = true }) else { return }
            configuration.receipts?.report(report(of: restored))
            return advance(restored, through: rest)
        }
        let run = StageRun<RestoredPush> { [self] late in
            use(restored, insteadOf: late)
        } ended: { [self] result in
            let next = restored.after(stage, result)
            let isKept = state.update { state in
                state.restored = next
                state.running = nil
            }
            guard isKept else { return use(restored, insteadOf: next) }
            use(next, insteadOf: restored)
            advance(next, through: rest)
        }
        guard state.update({ $0.running = (stage, run) }) else { return }
        run.start(timeLimit: stage.timeLimit, timer: configuration.timer) { try await stage.run(restored) }
    }

    /// The files of a version of the push that isn't used go with it.
    private func use(_ used: RestoredPush, insteadOf other: RestoredPush) {
        other.content.removeFiles(notIn: used.content)
    }

    private func handOver(orElse failure: FailureClass) {
        guard let last = state.end() else { return }
        let restored = last.running.map { last.restored?.after($0.stage, .failure(.timedOut)) } ?? last.restored
        let delivery = configuration.withText(restored?.delivery ?? placeholder(failure))
        last.cancelTimer?()
        // Before the handler: what the stage completes while that runs isn't in the content, and must not stay on disk.
        last.running?.run.stop()
        restored?.content.removeFiles(notIn: delivery.content)
        last.handler(delivery)
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
        let report = DeliveryReport(delivery, of: payload, restored?.push, at: configuration.clock())
        for listener in listeners { listener.report(report) }
    }

    private func report(of restored: RestoredPush) -> DeliveryReport {
        DeliveryReport(configuration.withText(restored.delivery), of: payload, restored.push, at: configuration.clock())
    }
}
