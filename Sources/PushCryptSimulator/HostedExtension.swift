public import PushCryptExtension

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
