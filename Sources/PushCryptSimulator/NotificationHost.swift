import PushCryptCore
public import PushCryptExtension
import PushCryptPrimitives

/// Simulates the system's side of a notification service extension, as documented by Apple:
///
/// - an extension runs only for a push with an alert and `"mutable-content": 1`;
/// - the extension has 30 seconds and is warned shortly before they end; after them the original is shown;
/// - content without alert text is dropped, and the original is shown;
/// - the handler must be called once for each push; if the process ends, the original is shown;
/// - one process may receive several pushes, also at the same time.
public final class NotificationHost: Sendable {
    /// How long the system waits for an extension.
    public struct TimeLimits: Sendable {
        /// The time from the start to the warning.
        public var warning: Duration
        /// The time from the warning to the end.
        public var grace: Duration

        /// Creates time limits; the default is 30 seconds in total.
        public init(warning: Duration = .seconds(29), grace: Duration = .seconds(1)) {
            self.warning = warning
            self.grace = grace
        }
    }

    private let hosted: any HostedExtension
    private let timer: any DeadlineTimer
    private let limits: TimeLimits
    private let log = Locked(Log())

    private struct Log {
        var presentations: [Presentation] = []
        var handlerCallCount = 0
        var breachCount = 0
    }

    /// Creates a host of one extension.
    public init(
        _ hosted: any HostedExtension, timer: any DeadlineTimer = ThreadTimer(), limits: TimeLimits = TimeLimits()
    ) {
        self.hosted = hosted
        self.timer = timer
        self.limits = limits
    }

    /// The shown notifications, in order.
    public var presentations: [Presentation] { log.withLock { $0.presentations } }
    /// How often handlers were called.
    public var handlerCallCount: Int { log.withLock { $0.handlerCallCount } }
    /// How many of these calls were not the first call for their push.
    public var breachCount: Int { log.withLock { $0.breachCount } }

    /// Delivers a push from APNs.
    ///
    /// - Parameter payload: UTF-8 JSON.
    /// - Returns: the shown notification; nil for a push without an alert.
    public func deliver(_ payload: [UInt8]) async -> Presentation? {
        guard let original = NotificationContent(unmodified: payload) else { return nil }
        guard Self.allowsExtension(payload) else { return show(Presentation(content: original, origin: .notRun)) }
        return show(await withCheckedContinuation { run(payload, HostedRequest(original, $0)) })
    }

    private static func allowsExtension(_ payload: [UInt8]) -> Bool {
        (try? JSONText(payload))?.root["aps"]?["mutable-content"]?.protocolInteger == 1
    }

    private func show(_ presentation: Presentation) -> Presentation {
        log.withLock { $0.presentations.append(presentation) }
        return presentation
    }

    private func run(_ payload: [UInt8], _ request: HostedRequest) {
        let cancel = timer.schedule(after: limits.warning) { [self] in
            hosted.timeWillExpire()
            let cancelGrace = timer.schedule(after: limits.grace) { request.end(.expired) }
            request.whenEnded(cancelGrace)
        }
        request.whenEnded(cancel)
        let exchange = HostExchange { [log] content in
            let isBreach = !request.handlerWasCalled()
            log.withLock { log in
                log.handlerCallCount += 1
                if isBreach { log.breachCount += 1 }
            }
            request.end(content)
        } death: {
            request.end(.died)
        }
        hosted.didReceive(payload, exchange)
    }
}

/// One push that an extension is restoring. It ends once.
private final class HostedRequest: Sendable {
    private struct State {
        let continuation: CheckedContinuation<Presentation, Never>
        var cleanUp: [@Sendable () -> Void] = []
    }

    private let original: NotificationContent
    private let unhandled = EndingOnce(())
    private let state: EndingOnce<State>

    init(_ original: NotificationContent, _ continuation: CheckedContinuation<Presentation, Never>) {
        self.original = original
        state = EndingOnce(State(continuation: continuation))
    }

    /// - Returns: whether this is the first call.
    func handlerWasCalled() -> Bool { unhandled.end() != nil }

    func end(_ content: NotificationContent) {
        end(content.hasText ? Presentation(content: content, origin: .handedOver) : shown(.emptied))
    }

    func end(_ origin: Presentation.Origin) { end(shown(origin)) }

    /// Calls `body` at the end, or at once if the push has ended.
    func whenEnded(_ body: @escaping @Sendable () -> Void) {
        if !state.update({ $0.cleanUp.append(body) }) { body() }
    }

    private func shown(_ origin: Presentation.Origin) -> Presentation {
        Presentation(content: original, origin: origin)
    }

    private func end(_ presentation: Presentation) {
        guard let last = state.end() else { return }
        for body in last.cleanUp { body() }
        last.continuation.resume(returning: presentation)
    }
}

/// The content that is shown for one push, and why.
public struct Presentation: Hashable, Sendable {
    /// The shown content.
    public let content: NotificationContent
    /// Why this content is shown.
    public let origin: Origin

    /// Why this content is shown; more may be added.
    public struct Origin: Hashable, Sendable, CustomStringConvertible {
        /// The name of the origin.
        public let description: String

        /// The extension handed over the content.
        public static let handedOver = Origin(description: "handed over")
        /// The original: the push has no `"mutable-content": 1`, so the extension didn't run.
        public static let notRun = Origin(description: "the original: the extension didn't run")
        /// The original: the content handed over had no text.
        public static let emptied = Origin(description: "the original: the extension handed over no text")
        /// The original: the handler wasn't called in time.
        public static let expired = Origin(description: "the original: the handler wasn't called in time")
        /// The original: the process ended before the handler was called.
        public static let died = Origin(description: "the original: the process ended")
    }
}
