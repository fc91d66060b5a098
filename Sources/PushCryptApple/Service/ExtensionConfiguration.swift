import Foundation
public import PushCryptExtension

/// What an extension needs to know to restore pushes.
public struct ExtensionConfiguration: Sendable {
    public typealias SenderSource = @Sendable () throws(FailureClass) -> TrustedSenders

    /// Texts, stages, the store: what happens with a push besides opening it.
    public var session: DeliverySession.Configuration
    /// The app's bundle identifier, not the extension's.
    public let topic: String
    private let keyring: any RecipientKeyring
    private let senders: Senders
    var timer: any DeadlineTimer = ThreadTimer()
    var clock: @Sendable () -> UnixTime = { UnixTime(Int64(Date().timeIntervalSince1970)) }

    private enum Senders: Sendable {
        case none
        case pinned(TrustedSenders)
        case current(SenderSource)
    }

    /// - Parameters:
    ///   - topic: the app's bundle identifier, not the extension's.
    ///   - keyring: the recipient's keys.
    ///   - senders: the pinned sender keys; with them, unsigned payloads are refused.
    /// - Throws: `KeyError` with `invalidTopic`.
    public init(
        topic: String, keyring: any RecipientKeyring, senders: TrustedSenders? = nil,
        session: DeliverySession.Configuration = DeliverySession.Configuration()
    ) throws {
        try self.init(topic, keyring, senders.map(Senders.pinned) ?? .none, session)
    }

    /// Sender keys that change while the extension's process lives.
    ///
    /// - Parameters:
    ///   - topic: the app's bundle identifier, not the extension's.
    ///   - keyring: the recipient's keys.
    ///   - currentSenders: the pinned sender keys, asked for with each push. Unsigned payloads are refused. A failure is the
    ///     push's, `keyLocked` for keys that can't be read before the first unlock.
    /// - Throws: `KeyError` with `invalidTopic`.
    public init(
        topic: String, keyring: any RecipientKeyring, currentSenders: @escaping SenderSource,
        session: DeliverySession.Configuration = DeliverySession.Configuration()
    ) throws {
        try self.init(topic, keyring, .current(currentSenders), session)
    }

    private init(
        _ topic: String, _ keyring: any RecipientKeyring, _ senders: Senders,
        _ session: DeliverySession.Configuration
    ) throws {
        _ = try Opener(topic: topic, keyring: keyring)
        self.topic = topic
        self.keyring = keyring
        self.senders = senders
        self.session = session
    }

    func makeSession(
        for payload: [UInt8], handler: @escaping DeliverySession.Handler
    ) throws -> DeliverySession {
        DeliverySession(
            payload: payload, opener: try opener(), configuration: session, clock: clock, timer: timer,
            handler: handler)
    }

    private func opener() throws -> Opener {
        switch senders {
        case .none: return try Opener(topic: topic, keyring: keyring)
        case .pinned(let senders): return try Opener(topic: topic, keyring: keyring, senders: senders)
        case .current(let source):
            do {
                return try Opener(topic: topic, keyring: keyring, senders: source())
            } catch let failure as FailureClass {
                return try Opener(topic: topic, keyring: FailingKeyring(failure: failure))
            }
        }
    }
}

/// Stands in for a keyring where the pinned sender keys can't be read: nothing is opened without them, and the session
/// shows what it shows for that failure.
private struct FailingKeyring: RecipientKeyring {
    let failure: FailureClass

    func key(_ id: KeyID, at time: UnixTime) throws(FailureClass) -> RecipientKey { throw failure }
}
