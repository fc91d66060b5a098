import Dispatch
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
        /// Always has text.
        public let content: NotificationContent
        /// Whether `content` is what was sealed.
        public let isRestored: Bool
        /// Why `content` is not the whole of what was sealed; nil when it is. With `attachmentFailed` and `replayed` the
        /// text may have been restored all the same.
        public let failure: FailureClass?
        /// Whose work isn't in `content`.
        public let stageFailures: [StageFailure]
    }

    public typealias Handler = @Sendable (Delivery) -> Void

    private struct State {
        var handler: Handler?
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
        payload: [UInt8], opener: Opener, configuration: Configuration = Configuration(),
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

    /// Begins; call it once. The session keeps itself alive until the handler was called.
    public func start() {
        let cancel = timer.schedule(after: configuration.deadline) { [self] in expire() }
        // Time may be up before the start, or while the timer is being set: nobody else would stop it then.
        guard keep({ $0.cancelTimer = cancel }) else { return cancel() }
        DispatchQueue(label: "pushcrypt.restore", qos: .userInitiated).async { [self] in restore() }
    }

    /// Time is up: hands over the best content so far unless that was done already. Call it from
    /// `serviceExtensionTimeWillExpire`; the session calls it at its own deadline.
    public func expire() {
        handOver(orElse: .timedOut)
    }

    private func restore() {
        let restorer = Restorer(payload: payload, opener: opener, configuration: configuration, time: clock())
        switch restorer.restore(unless: { !keep { _ in } }) {
        case .success(let restored):
            guard keep({ $0.restored = restored }) else { return release(restored) }
            advance(restored, through: restored.isReplay ? [] : configuration.steps(for: restored.push)[...])
        case .failure(let failure): handOver(orElse: failure)
        }
    }

    /// The session ended while the message was being claimed: it wasn't shown, and may come again.
    private func release(_ restored: RestoredPush) {
        if let claim = restored.claim { try? configuration.replayGuard?.release(claim) }
    }

    /// One step after the other; whoever ends a step goes on with the next.
    private func advance(_ restored: RestoredPush, through steps: ArraySlice<DeliveryStep>) {
        guard let step = steps.first else { return handOver(orElse: .internalError) }
        let rest = steps.dropFirst()
        guard case .stage(let stage) = step else {
            configuration.receipts?.report(report(of: restored))
            return advance(restored, through: rest)
        }
        let run = StageRun<RestoredPush> { [self] result in
            let next = restored.after(stage, result)
            guard keep({ ($0.restored, $0.running) = (next, nil) }) else { return }
            advance(next, through: rest)
        }
        guard keep({ $0.running = (stage, run) }) else { return }
        run.start(timeLimit: stage.timeLimit, timer: timer) { try await stage.run(restored) }
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
        let delivery = restored?.delivery ?? placeholder(failure)
        handler(delivery)
        last.cancelTimer?()
        last.running?.run.cancel()
        record(restored, delivery)
    }

    private func placeholder(_ failure: FailureClass) -> Delivery {
        var content = configuration.fallback.content(for: payload, failure)
        if failure == .notSealed, configuration.unsealed == .shown,
            let original = NotificationContent(asItCame: payload)
        {
            content = original
        } else if failure == .keyLocked, let notice = configuration.unlockNotice, notice.isDue() {
            content = configuration.fallback.content(for: payload, failure, showing: notice.text)
        }
        if let strings = configuration.strings { content = content.localized(by: strings) }
        return Delivery(content: content, isRestored: false, failure: failure, stageFailures: [])
    }

    private func record(_ restored: RestoredPush?, _ delivery: Delivery) {
        if let claim = restored?.claim { try? configuration.replayGuard?.markSeen(claim) }
        // Of a restored push the receipt was given before.
        let listeners = [restored == nil ? configuration.receipts : nil, configuration.diagnostics].compactMap(\.self)
        guard !listeners.isEmpty else { return }
        let report = DeliveryReport(delivery, of: payload, restored?.push, at: clock())
        for listener in listeners { listener.report(report) }
    }

    private func report(of restored: RestoredPush) -> DeliveryReport {
        DeliveryReport(restored.delivery, of: payload, restored.push, at: clock())
    }
}
