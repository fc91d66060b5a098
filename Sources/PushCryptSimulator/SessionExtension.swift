public import PushCryptExtension
import PushCryptPrimitives

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
