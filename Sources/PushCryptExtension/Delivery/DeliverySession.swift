public import PushCryptCore
import PushCryptPrimitives

/// Restores one push. It calls its handler exactly once: with the restored content or, on any failure or if the time runs
/// out first, with a placeholder.
///
/// ```
/// restore -> offloaded payload -> attachments -> receipt -> the app's stages -> finish -> handler
///               at the deadline, the best content so far is handed over
/// ```
/// Sessions share only their configuration. Any number may run at once, and a stuck session doesn't delay the others.
public final class DeliverySession: Sendable {
    /// The content for the handler, and the outcome of the push.
    public struct Delivery: Sendable {
        /// The content to show. It always has visible text and no keys.
        public let content: NotificationContent
        /// Whether `content` is the sealed content. Sealed content without text, such as a key that the app lacks, is
        /// replaced by the app's own text, with the failure `malformed`.
        public let isRestored: Bool
        /// Why `content` is not the complete sealed content; nil if it is, and for an accepted unsealed push. With
        /// `attachmentFailed` and `replayed` the text may have been restored.
        public let failure: FailureClass?
        /// Whether the push wasn't sealed and the app accepts such pushes. Its content isn't authenticated.
        public var isUnsealed: Bool { !isRestored && failure == nil }
        /// The stages whose results aren't in `content`.
        public let stageFailures: [StageFailure]
    }

    /// Hands the content to the system.
    public typealias Handler = @Sendable (Delivery) -> Void

    /// The session's state until its handler is called.
    private struct State {
        let handler: Handler
        /// Whether the receipt step was reached.
        var isReceiptGiven = false
        /// How much is shown.
        var preview: NotificationPreview
        var restored: RestoredPush?
        var running: (stage: SessionStage, task: StageTask<RestoredPush>)?
        var cancelTimer: (@Sendable () -> Void)?
    }

    private let payload: [UInt8]
    private let requestID: String?
    private let configuration: ExtensionConfiguration
    private let unstarted = EndingOnce(())
    private let state: EndingOnce<State>

    /// Creates a session; ``start()`` starts it.
    ///
    /// - Parameters:
    ///   - payload: the outer payload, UTF-8 JSON.
    ///   - requestID: the system's name of the notification, for ``OpenedPush/requestID``.
    ///   - handler: hands the content to the system; called once, on any thread.
    public init(
        payload: [UInt8], requestID: String? = nil, configuration: ExtensionConfiguration, handler: @escaping Handler
    ) {
        self.payload = payload
        self.requestID = requestID
        self.configuration = configuration
        // Nothing is shown of a push before the recipient's choice was read.
        state = EndingOnce(State(handler: handler, preview: configuration.preview == nil ? .everything : .nothing))
    }

    /// Starts the session, which retains itself until the handler was called. A second call, or a call after the end, does
    /// nothing.
    public func start() {
        guard unstarted.end() != nil, state.current != nil else { return }
        let cancel = configuration.timer.schedule(after: configuration.deadline) { [self] in expire() }
        // The session may have expired while the timer was set: then nothing else would cancel the timer.
        guard state.update({ $0.cancelTimer = cancel }) else { return cancel() }
        // A thread of its own: on a pool, stages that block the pool's threads would delay every later push.
        DedicatedThread.run { [self] in restore() }
    }

    /// Hands over the best content so far, unless content was handed over already. Call it from
    /// `serviceExtensionTimeWillExpire`; the session calls it at its own deadline.
    public func expire() { handOver(orElse: .timedOut) }

    private func restore() {
        let preview = configuration.preview?.current ?? .everything
        state.update { $0.preview = preview }
        switch configuration.restore(payload, at: configuration.clock(), unless: { state.current == nil }) {
        case .success(var restored):
            restored.push?.requestID = requestID
            guard state.update({ [restored] in $0.restored = restored }) else { return release(restored) }
            advance(restored, through: configuration.steps(for: restored, showing: preview)[...])
        case .failure(let failure): handOver(orElse: failure)
        }
    }

    /// Allows a message that wasn't shown to be shown when it is received again.
    private func release(_ restored: RestoredPush) {
        if let claim = restored.claim { try? configuration.replayGuard?.release(claim) }
    }

    /// Runs the steps in order. The thread that ends a step continues with the next one.
    private func advance(_ restored: RestoredPush, through steps: ArraySlice<DeliveryStep>) {
        guard let step = steps.first else { return handOver(orElse: .internalError) }
        let rest = steps.dropFirst()
        guard case .stage(let stage) = step else {
            guard state.update({ $0.isReceiptGiven = true }) else { return }
            configuration.receipts?.report(report(configuration.withText(restored.delivery), restored.push))
            return advance(restored, through: rest)
        }
        let task = StageTask<RestoredPush> { late in
            late.content.removeFiles(notIn: restored.content)
        } ended: { [self] result in
            let next = restored.after(stage, result)
            let isKept = state.update { state in
                state.restored = next
                state.running = nil
            }
            // The files of the version that isn't used are removed.
            guard isKept else { return next.content.removeFiles(notIn: restored.content) }
            restored.content.removeFiles(notIn: next.content)
            advance(next, through: rest)
        }
        guard state.update({ $0.running = (stage, task) }) else { return }
        task.start(timeLimit: stage.timeLimit, timer: configuration.timer) { try await stage.run(restored) }
    }

    private func handOver(orElse failure: FailureClass) {
        guard let last = state.end() else { return }
        let restored = last.running.map { last.restored?.after($0.stage, .failure(.timedOut)) } ?? last.restored
        let delivery = configuration.showing(
            last.preview, configuration.withText(restored?.delivery ?? placeholder(failure, last.preview)))
        last.cancelTimer?()
        // The stage is stopped before the handler runs: files that it completes later aren't in the content and must be
        // removed.
        last.running?.task.stop()
        restored?.content.removeFiles(notIn: delivery.content)
        last.handler(delivery)
        record(restored, delivery, isReceiptGiven: last.isReceiptGiven)
    }

    private func placeholder(_ failure: FailureClass, _ preview: NotificationPreview) -> Delivery {
        let fallback = preview == .everything ? configuration.fallback : configuration.fallback.withoutOuterAlert
        let notice = failure == .keyLocked ? configuration.unlockNotice : nil
        let text = notice.flatMap { $0.isDue() ? $0.text : nil }
        let content = configuration.localized(fallback.content(for: payload, failure, showing: text))
        return Delivery(content: content, isRestored: false, failure: failure, stageFailures: [])
    }

    private func record(_ restored: RestoredPush?, _ delivery: Delivery, isReceiptGiven: Bool) {
        if delivery.isRestored, let claim = restored?.claim {
            try? configuration.replayGuard?.markSeen(claim)
        } else if let restored {
            release(restored)
        }
        let receipts = isReceiptGiven || delivery.isUnsealed ? nil : configuration.receipts
        let listeners = [receipts, configuration.diagnostics].compactMap(\.self)
        guard !listeners.isEmpty else { return }
        let report = report(delivery, restored?.push)
        for listener in listeners { listener.report(report) }
    }

    private func report(_ delivery: Delivery, _ push: OpenedPush?) -> DeliveryReport {
        DeliveryReport(
            failure: delivery.failure, isRestored: delivery.isRestored, time: configuration.clock(),
            kid: push?.kid ?? Opener.kid(of: payload), messageID: push?.messageID, pushID: push?.pushID,
            isSelfTest: push?.isSelfTest ?? false, stageFailures: delivery.stageFailures)
    }
}
