import PushCryptCore
public import PushCryptExtension
import PushCryptPrimitives

/// Simulates the system's side of a notification service extension, as documented by Apple:
///
/// - an extension runs only for a push with an alert and `"mutable-content": 1`;
/// - the extension has 30 seconds and is warned shortly before they end; after them the original is shown;
/// - content without alert text is dropped, and the original is shown; nothing is shown if the content is empty and the
///   extension has the entitlement `com.apple.developer.usernotifications.filtering`;
/// - the handler must be called once for each push; if the process ends, the original is shown;
/// - one process may receive several pushes, also at the same time.
package final class NotificationHost: Sendable {
    /// How long the system waits for an extension.
    package struct TimeLimits: Sendable {
        /// The time from the start to the warning.
        package var warning: Duration
        /// The time from the warning to the end.
        package var grace: Duration

        package init(warning: Duration = .seconds(29), grace: Duration = .seconds(1)) {
            self.warning = warning
            self.grace = grace
        }
    }

    private let hosted: any HostedExtension
    private let timer: any DeadlineTimer
    private let limits: TimeLimits
    private let hasFilteringEntitlement: Bool
    private let log = Locked(Log())

    private struct Log {
        var presentations: [Presentation] = []
        var handlerCallCount = 0
        var breachCount = 0
    }

    package init(
        _ hosted: any HostedExtension, timer: any DeadlineTimer = ThreadTimer(), limits: TimeLimits = TimeLimits(),
        hasFilteringEntitlement: Bool = false
    ) {
        self.hosted = hosted
        self.timer = timer
        self.limits = limits
        self.hasFilteringEntitlement = hasFilteringEntitlement
    }

    package var presentations: [Presentation] { log.withLock { $0.presentations } }
    package var handlerCallCount: Int { log.withLock { $0.handlerCallCount } }
    /// How many of these calls were not the first call for their push.
    package var breachCount: Int { log.withLock { $0.breachCount } }

    /// Delivers a push from APNs, UTF-8 JSON. Returns the shown notification; nil for a push without an alert.
    ///
    /// - Parameter requestID: the system's name of the notification.
    package func deliver(_ payload: [UInt8], requestID: String? = nil) async -> Presentation? {
        guard let original = NotificationContent(unmodified: payload) else { return nil }
        let allowsExtension = (try? JSONText(payload))?.root["aps"]?["mutable-content"]?.protocolInteger == 1
        guard allowsExtension else { return show(Presentation(content: original, origin: .notRun)) }
        return show(
            await withCheckedContinuation { continuation in
                run(payload, requestID, HostedRequest(original, continuation, hasFilteringEntitlement))
            })
    }

    private func show(_ presentation: Presentation) -> Presentation {
        log.withLock { $0.presentations.append(presentation) }
        return presentation
    }

    private func run(_ payload: [UInt8], _ requestID: String?, _ request: HostedRequest) {
        let cancel = timer.schedule(after: limits.warning) { [self] in
            hosted.timeWillExpire()
            let cancelGrace = timer.schedule(after: limits.grace) { request.end(.expired) }
            request.whenEnded(cancelGrace)
        }
        request.whenEnded(cancel)
        let exchange = HostExchange(requestID: requestID) { [log] content in
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
    private let hasFilteringEntitlement: Bool
    private let unhandled = EndingOnce(())
    private let state: EndingOnce<State>

    init(
        _ original: NotificationContent, _ continuation: CheckedContinuation<Presentation, Never>,
        _ hasFilteringEntitlement: Bool
    ) {
        self.original = original
        self.hasFilteringEntitlement = hasFilteringEntitlement
        state = EndingOnce(State(continuation: continuation))
    }

    /// - Returns: whether this is the first call.
    func handlerWasCalled() -> Bool { unhandled.end() != nil }

    func end(_ content: NotificationContent) {
        // Content without text, attachments and sound is the system's form of a suppressed notification.
        guard content.hasText, !content.isSuppressed else {
            let isEmpty = content.isSuppressed || content.attachments.isEmpty && content.sound == nil
            guard hasFilteringEntitlement, isEmpty else { return end(.emptied) }
            return end(Presentation(content: nil, origin: .suppressed))
        }
        end(Presentation(content: content, origin: .handedOver))
    }

    func end(_ origin: Presentation.Origin) { end(Presentation(content: original, origin: origin)) }

    /// Calls `body` at the end, or at once if the push has ended.
    func whenEnded(_ body: @escaping @Sendable () -> Void) {
        if !state.update({ $0.cleanUp.append(body) }) { body() }
    }

    private func end(_ presentation: Presentation) {
        guard let last = state.end() else { return }
        for body in last.cleanUp { body() }
        last.continuation.resume(returning: presentation)
    }
}

/// The content that is shown for one push, and why.
public struct Presentation: Hashable, Sendable {
    /// What is shown; nil for nothing.
    public let content: NotificationContent?
    /// Why.
    public let origin: Origin

    /// Why this content is shown; more may be added.
    public struct Origin: Hashable, Sendable, CustomStringConvertible {
        /// The reason, for people.
        public let description: String

        /// The extension handed it over in time.
        public static let handedOver = Origin(description: "handed over")
        /// Nothing: the user doesn't allow alerts, or wasn't asked. The extension doesn't run.
        public static let notAllowed = Origin(description: "nothing: the user doesn't allow notifications")
        /// The original: the push has no `mutable-content: 1`, or the app has no extension.
        public static let notRun = Origin(description: "the original: the extension didn't run")
        /// The original: the extension handed over no text, and has no entitlement to show nothing.
        public static let emptied = Origin(description: "the original: the extension handed over no text")
        /// Nothing: the extension handed over no text, and has the entitlement for notification filtering.
        public static let suppressed = Origin(description: "nothing: the extension suppressed it")
        /// The original: the handler wasn't called in time.
        public static let expired = Origin(description: "the original: the handler wasn't called in time")
        /// The original: the process ended.
        public static let died = Origin(description: "the original is shown: the system ended the extension's process")
    }
}
