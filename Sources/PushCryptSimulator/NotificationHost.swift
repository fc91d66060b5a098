import PushCryptCore
package import PushCryptExtension
import PushCryptPrimitives

/// Simulates the system's side of a notification service extension.
///
/// - `UNNotificationServiceExtension`: an extension runs only for a push with an alert and `"mutable-content": 1`. It has 30
///   seconds, and is warned before they end. The page doesn't say how long before; see `SimulatedDevice.Options.grace`. After them
///   the original is shown. Content without alert text isn't used, and the original is shown.
/// - `com.apple.developer.usernotifications.filtering`: with this entitlement, content without text, attachments and sound shows
///   nothing.
/// - "App Extension Programming Guide": the system may end the process. The documentation is silent about what is shown then;
///   the strictest reading is the original.
/// - The documentation is silent about a second call of the handler, and about several pushes in one process. The strictest
///   reading is that a second call is a breach and changes nothing, and that one process receives several pushes, also at once.
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
        var presentations: [PresentedContent] = []
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

    package var presentations: [PresentedContent] { log.withLock { $0.presentations } }
    package var handlerCallCount: Int { log.withLock { $0.handlerCallCount } }
    /// How many of these calls were not the first call for their push.
    package var breachCount: Int { log.withLock { $0.breachCount } }

    /// Delivers a push from APNs, UTF-8 JSON. Returns the shown notification; nil for a push without an alert.
    ///
    /// - Parameter requestID: the system's name of the notification.
    package func deliver(_ payload: [UInt8], requestID: String? = nil) async -> PresentedContent? {
        guard let original = NotificationContent(unmodified: payload) else { return nil }
        let allowsExtension = (try? JSONText(payload))?.root["aps"]?["mutable-content"]?.protocolInteger == 1
        guard allowsExtension else { return show(PresentedContent(content: original, origin: .notRun)) }
        return show(
            await withCheckedContinuation { continuation in
                run(payload, requestID, HostedRequest(original, continuation, hasFilteringEntitlement))
            })
    }

    private func show(_ presentation: PresentedContent) -> PresentedContent {
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
        let continuation: CheckedContinuation<PresentedContent, Never>
        var cleanUp: [@Sendable () -> Void] = []
    }

    private let original: NotificationContent
    private let hasFilteringEntitlement: Bool
    private let unhandled = EndingOnce(())
    private let state: EndingOnce<State>

    init(
        _ original: NotificationContent, _ continuation: CheckedContinuation<PresentedContent, Never>,
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
            return end(PresentedContent(content: nil, origin: .suppressed))
        }
        end(PresentedContent(content: content, origin: .handedOver))
    }

    func end(_ origin: PresentedContent.Origin) { end(PresentedContent(content: original, origin: origin)) }

    /// Calls `body` at the end, or at once if the push has ended.
    func whenEnded(_ body: @escaping @Sendable () -> Void) {
        if !state.update({ $0.cleanUp.append(body) }) { body() }
    }

    private func end(_ presentation: PresentedContent) {
        guard let last = state.end() else { return }
        for body in last.cleanUp { body() }
        last.continuation.resume(returning: presentation)
    }
}
