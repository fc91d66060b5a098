import PushCryptCore
public import PushCryptExtension
import PushCryptPrimitives

/// The system's side of its contract with a notification service extension, as Apple documents it:
///
/// - an extension runs for a push with an alert and `"mutable-content": 1` only;
/// - it has 30 seconds, is told when they are nearly over, and then the original is shown;
/// - content without alert text is thrown away, and the original is shown;
/// - the handler is to be called once for each push; a process that dies leaves its pushes as they came;
/// - one process serves several pushes, also at the same time.
public final class NotificationHost: Sendable {
    /// How long the system waits, and how long it waits on after it said that time is up.
    public struct Patience: Sendable {
        public var limit: Duration
        public var grace: Duration

        public init(limit: Duration = .seconds(29), grace: Duration = .seconds(1)) {
            self.limit = limit
            self.grace = grace
        }
    }

    private let hosted: any HostedExtension
    private let timer: any DeadlineTimer
    private let patience: Patience
    private let log = Locked(Log())

    private struct Log {
        var presentations: [Presentation] = []
        var handlerCallCount = 0
        var breachCount = 0
    }

    public init(
        _ hosted: any HostedExtension, timer: any DeadlineTimer = ThreadTimer(), patience: Patience = Patience()
    ) {
        self.hosted = hosted
        self.timer = timer
        self.patience = patience
    }

    /// What was shown, in order.
    public var presentations: [Presentation] { log.withLock { $0.presentations } }
    /// How often any handler was called.
    public var handlerCallCount: Int { log.withLock { $0.handlerCallCount } }
    /// How many of these calls came after the first one of their push.
    public var breachCount: Int { log.withLock { $0.breachCount } }

    /// Delivers a push, as it comes from APNs.
    ///
    /// - Parameter payload: UTF-8 JSON.
    /// - Returns: what is shown; nil for a push without an alert, which nobody sees.
    public func deliver(_ payload: [UInt8]) async -> Presentation? {
        guard let original = NotificationContent(asItCame: payload) else { return nil }
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
        let cancel = timer.schedule(after: patience.limit) { [self] in
            hosted.timeWillExpire()
            let cancelGrace = timer.schedule(after: patience.grace) { request.end(.expired) }
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
