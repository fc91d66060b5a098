import Foundation
public import PushCryptExtension

/// What an extension needs to know to restore pushes.
public struct ExtensionConfiguration: Sendable {
    /// Texts, stages and the store: how a push is shown.
    public var session: DeliverySession.Configuration
    /// The app's bundle identifier, not the extension's.
    public let topic: String
    private let opener: Opener
    var timer: any DeadlineTimer = ThreadTimer()
    var clock: @Sendable () -> UnixTime = { UnixTime(Int64(Date().timeIntervalSince1970)) }

    /// - Parameters:
    ///   - topic: the app's bundle identifier, not the extension's.
    ///   - keyring: the recipient's keys.
    ///   - senders: the pinned sender keys, with which unsigned payloads are refused, or `.unsigned`.
    ///   - session: how a push is shown; its `fallback` has no default.
    /// - Throws: `KeyError` with `invalidTopic`.
    public init(
        topic: String, keyring: any RecipientKeyring, senders: SenderTrust, session: DeliverySession.Configuration
    ) throws {
        opener = try Opener(topic: topic, keyring: keyring, senders: senders)
        self.topic = topic
        self.session = session
    }

    func makeSession(
        for payload: [UInt8], handler: @escaping DeliverySession.Handler
    ) -> DeliverySession {
        DeliverySession(
            payload: payload, opener: opener, configuration: session, clock: clock, timer: timer, handler: handler)
    }
}
