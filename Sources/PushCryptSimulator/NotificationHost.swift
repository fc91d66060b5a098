import PushCryptCore
package import PushCryptExtension
import PushCryptPrimitives

/// Simulates the system's side of a notification service extension, as documented by Apple:
///
/// - an extension runs only for a push with an alert and `"mutable-content": 1`;
/// - the extension has 30 seconds and is warned shortly before they end; after them the original is shown;
/// - content without alert text is dropped, and the original is shown;
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
    private let log = Locked(Log())

    private struct Log {
        var presentations: [Presentation] = []
        var handlerCallCount = 0
        var breachCount = 0
    }

    package init(
        _ hosted: any HostedExtension, timer: any DeadlineTimer = ThreadTimer(), limits: TimeLimits = TimeLimits()
    ) {
        self.hosted = hosted
        self.timer = timer
        self.limits = limits
    }

    package var presentations: [Presentation] { log.withLock { $0.presentations } }
    package var handlerCallCount: Int { log.withLock { $0.handlerCallCount } }
    /// How many of these calls were not the first call for their push.
    package var breachCount: Int { log.withLock { $0.breachCount } }

    /// Delivers a push from APNs, UTF-8 JSON. Returns the shown notification; nil for a push without an alert.
    package func deliver(_ payload: [UInt8]) async -> Presentation? {
        guard let original = NotificationContent(unmodified: payload) else { return nil }
        let allowsExtension = (try? JSONText(payload))?.root["aps"]?["mutable-content"]?.protocolInteger == 1
        guard allowsExtension else { return show(Presentation(content: original, origin: .notRun)) }
        return show(await withCheckedContinuation { run(payload, HostedRequest(original, $0)) })
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
        if content.hasText { end(Presentation(content: content, origin: .handedOver)) } else { end(.emptied) }
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
package struct Presentation: Hashable, Sendable {
    package let content: NotificationContent
    package let origin: Origin

    /// Why this content is shown; more may be added.
    package struct Origin: Hashable, Sendable, CustomStringConvertible {
        package let description: String

        package static let handedOver = Origin(description: "handed over")
        package static let notRun = Origin(description: "the original: the extension didn't run")
        package static let emptied = Origin(description: "the original: the extension handed over no text")
        package static let expired = Origin(description: "the original: the handler wasn't called in time")
        package static let died = Origin(description: "the original: the process ended")
    }
}
