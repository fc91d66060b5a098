public import PushCryptExtension
import PushCryptPrimitives

/// A notification service extension as the system sees it.
public protocol HostedExtension: Sendable {
    /// A push came. The system waits for the handler, on whatever thread it is called.
    func didReceive(_ payload: [UInt8], _ exchange: HostExchange)

    /// The system is about to stop waiting.
    func timeWillExpire()
}

/// What an extension can make happen to one push: hand over content, or die.
public struct HostExchange: Sendable {
    let handler: @Sendable (NotificationContent) -> Void
    let death: @Sendable () -> Void

    /// The system's content handler. It takes the first call; further ones are counted as breaches of the contract.
    public func hand(over content: NotificationContent) { handler(content) }

    /// The process that worked on the push ended.
    public func processDied() { death() }
}

/// An extension that does nothing but run a ``DeliverySession`` for each push: what an app's own does, without Apple's
/// frameworks.
public final class SessionExtension: HostedExtension {
    public typealias MakeSession =
        @Sendable (_ payload: [UInt8], _ handler: @escaping DeliverySession.Handler) -> DeliverySession

    private let makeSession: MakeSession
    private let sessions = Locked<[DeliverySession]>([])

    public init(_ makeSession: @escaping MakeSession) {
        self.makeSession = makeSession
    }

    public func didReceive(_ payload: [UInt8], _ exchange: HostExchange) {
        let session = makeSession(payload) { exchange.hand(over: $0.content) }
        sessions.withLock { $0.append(session) }
        session.start()
    }

    public func timeWillExpire() {
        for session in sessions.withLock({ $0 }) { session.expire() }
    }
}
