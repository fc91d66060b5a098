#if canImport(UserNotifications) && !os(tvOS)
import PushCryptExtension
import PushCryptPrimitives
import UserNotifications

/// One push of a service. It holds the system's handler until there is a session, which then holds it: the handler is called
/// once by the one that has it.
final class PushDelivery: Sendable {
    // Unchecked: Apple's handler may be called on any thread, which its type doesn't say.
    private struct Handler: @unchecked Sendable {
        let call: (UNNotificationContent) -> Void
    }

    private enum Phase {
        case configuring(Handler)
        case running(DeliverySession)
    }

    private let payload: [UInt8]
    private let unconfigured: Fallback
    private let ended: @Sendable (PushDelivery) -> Void
    private let phase: EndingOnce<Phase>

    /// - Parameters:
    ///   - payload: the outer payload.
    ///   - unconfiguredText: shown as long as there is no configuration.
    ///   - ended: called after the handler.
    init(
        payload: [UInt8], unconfiguredText: Placeholder, handler: @escaping (UNNotificationContent) -> Void,
        ended: @escaping @Sendable (PushDelivery) -> Void
    ) {
        self.payload = payload
        unconfigured = .bundled(unconfiguredText)
        self.ended = ended
        phase = EndingOnce(.configuring(Handler(call: handler)))
    }

    /// Starts a session, unless time was up while the service was configured.
    func start(_ configuration: ExtensionConfiguration) {
        phase.update { [self] phase in
            guard case .configuring(let handler) = phase else { return }
            phase = .running(
                DeliverySession(payload: payload, configuration: configuration) { [self] delivery in
                    handler.call(delivery.content.systemContent)
                    ended(self)
                })
        }
        if case .running(let session) = phase.current { session.start() }
    }

    /// Hands over the best content so far: the session's, or the text without a configuration if there is no session yet.
    ///
    /// - Parameter failure: the reason if there is no session yet.
    func end(_ failure: FailureClass) {
        switch phase.end() {
        case .running(let session): session.expire()
        case .configuring(let handler):
            handler.call(unconfigured.content(for: payload, failure).systemContent)
            ended(self)
        case nil: break
        }
    }
}
#endif
