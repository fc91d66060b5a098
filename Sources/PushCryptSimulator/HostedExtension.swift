package import PushCryptExtension
import PushCryptPrimitives

/// The calls that the system makes to a notification service extension.
package protocol HostedExtension: Sendable {
    /// Receives a push. The system waits for the handler, which may be called on any thread.
    func didReceive(_ payload: [UInt8], _ exchange: HostExchange)

    /// Warns the extension that the system will soon stop waiting.
    func timeWillExpire()
}

/// Receives the result of an extension for one push: content, or the end of the process.
package struct HostExchange: Sendable {
    /// The system's name of the notification.
    package let requestID: String?
    let handler: @Sendable (NotificationContent) -> Void
    let death: @Sendable () -> Void

    /// Calls the system's content handler. Only the first call counts; later calls are counted as breaches of the contract.
    package func hand(over content: NotificationContent) { handler(content) }
    package func processDied() { death() }
}

/// An extension that runs a ``DeliverySession`` for each push, without Apple's frameworks.
package final class SessionExtension: HostedExtension {
    package typealias MakeSession =
        @Sendable (_ payload: [UInt8], _ handler: @escaping DeliverySession.Handler) -> DeliverySession

    private let makeSession: MakeSession
    private let sessions = Locked<[DeliverySession]>([])

    package init(_ makeSession: @escaping MakeSession) { self.makeSession = makeSession }

    package func didReceive(_ payload: [UInt8], _ exchange: HostExchange) {
        let session = makeSession(payload) { exchange.hand(over: $0.content) }
        sessions.withLock { $0.append(session) }
        session.start()
    }

    package func timeWillExpire() {
        for session in sessions.withLock({ $0 }) { session.expire() }
    }
}
