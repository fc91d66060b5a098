import Dispatch
public import PushCryptCore
import PushCryptPrimitives

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// One push on its way to the screen. The handler is called exactly once: with the restored content, or with the
/// placeholder on any failure or when time runs out.
public final class DeliverySession: Sendable {
    /// What the handler gets.
    public struct Delivery: Sendable {
        /// Always has text.
        public let content: NotificationContent
        /// Why `content` is the placeholder; nil when it was restored.
        public let failure: FailureClass?
    }

    public typealias Handler = @Sendable (Delivery) -> Void

    /// How sessions behave; the same for all of an app.
    public struct Configuration: Sendable {
        /// How long after the start the placeholder is shown at the latest; the system gives 30 seconds.
        public var deadline: Duration
        public var fallback: Fallback

        public init(deadline: Duration = .seconds(25), fallback: Fallback = Fallback()) {
            self.deadline = deadline
            self.fallback = fallback
        }
    }

    private let payload: [UInt8]
    private let opener: Opener
    private let configuration: Configuration
    private let clock: @Sendable () -> UnixTime
    private let timer: any DeadlineTimer
    private let handler: Locked<Handler?>
    private let cancelTimer: Locked<(@Sendable () -> Void)?>

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
        self.handler = Locked(handler)
        cancelTimer = Locked(nil)
    }

    /// Begins; call it once. The session keeps itself alive until the handler was called.
    public func start() {
        let cancel = timer.schedule(after: configuration.deadline) { [self] in expire() }
        cancelTimer.withLock { $0 = cancel }
        // Time was up before the start, or while the timer was being set: nobody else will stop it.
        guard handler.withLock({ $0 != nil }) else { return stopTimer() }
        DispatchQueue(label: "pushcrypt.restore", qos: .userInitiated).async { [self] in restore() }
    }

    /// Time is up: shows the placeholder unless the content was handed over already. Call it from
    /// `serviceExtensionTimeWillExpire`; the session calls it at its own deadline.
    public func expire() {
        fail(.timedOut)
    }

    private func restore() {
        switch opener.open(payload, at: clock()) {
        case .success(let push): deliver(Delivery(content: push.content, failure: nil))
        case .failure(let failure): fail(failure)
        }
    }

    private func fail(_ failure: FailureClass) {
        deliver(Delivery(content: configuration.fallback.content(for: payload, failure), failure: failure))
    }

    private func deliver(_ delivery: Delivery) {
        let taken = handler.withLock { handler in
            defer { handler = nil }
            return handler
        }
        guard let taken else { return }
        taken(delivery)
        stopTimer()
    }

    private func stopTimer() {
        let cancel = cancelTimer.withLock { cancel in
            defer { cancel = nil }
            return cancel
        }
        cancel?()
    }
}
