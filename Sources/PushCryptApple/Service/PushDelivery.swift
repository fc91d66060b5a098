#if canImport(UserNotifications) && !os(tvOS)
import PushCryptExtension
import PushCryptPrimitives
import UserNotifications

/// One push in a service's hands. The system's handler is called once, whoever comes first: the session, the end of time, a
/// service that can't be configured.
final class PushDelivery: Sendable {
    // Unchecked: Apple's handler may be called on any thread, which the whole API lives on without saying it in types; it is
    // taken out under the lock and called once.
    private struct Handler: @unchecked Sendable {
        let call: (UNNotificationContent) -> Void
    }

    private struct State {
        var handler: Handler?
        var session: DeliverySession?
    }

    private let payload: [UInt8]
    private let unconfigured: Fallback
    private let ended: @Sendable (PushDelivery) -> Void
    private let state: Locked<State>

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
        state = Locked(State(handler: Handler(call: handler)))
    }

    func start(_ configuration: ExtensionConfiguration) {
        let session = configuration.makeSession(for: payload) { [self] delivery in handOver(delivery.content) }
        let isWanted = state.withLock { state in
            if state.handler != nil { state.session = session }
            return state.handler != nil
        }
        // Time may be up already: configuring can take long.
        if isWanted { session.start() }
    }

    /// There will be no session.
    func fail(_ failure: FailureClass) {
        handOver(unconfigured.content(for: payload, failure))
    }

    /// Time is up: the best content so far, which only the session knows.
    func expire() {
        if let session = state.withLock({ $0.session }) {
            session.expire()
        } else {
            handOver(unconfigured.content(for: payload, .timedOut))
        }
    }

    private func handOver(_ content: NotificationContent) {
        let handler = state.withLock { state in
            defer { state = State() }
            return state.handler
        }
        guard let handler else { return }
        handler.call(content.systemContent)
        ended(self)
    }
}
#endif
