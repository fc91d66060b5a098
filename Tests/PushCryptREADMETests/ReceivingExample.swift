import PushCryptExtension

/// The part of a notification service extension that opens.
struct PushRestorer {
    let opener: Opener

    /// - Parameters:
    ///   - keys: the recipient's private keys, a JWK or JWK set.
    ///   - senders: the backend's public JWK set: pins its keys, so that nothing unsigned is restored.
    init(keys: [UInt8], senders: [UInt8]) throws {
        opener = try Opener(
            topic: "com.example.app", keyring: KeysetKeyring(try Keyset(json: keys)),
            senders: .pinned(try TrustedSenders(json: senders)))
    }

    /// Calls `show` exactly once: with what was sealed or, on any failure and when time runs out, with the app's own
    /// text.
    ///
    /// - Parameter payload: the push as JSON.
    /// - Returns: the session; `serviceExtensionTimeWillExpire` calls its `expire()`.
    func restore(
        _ payload: [UInt8], show: @escaping @Sendable (NotificationContent, FailureClass?) -> Void
    ) -> DeliverySession {
        let configuration = DeliverySession.Configuration(fallback: .bundled(.standard))
        let session = DeliverySession(payload: payload, opener: opener, configuration: configuration) { delivery in
            show(delivery.content, delivery.failure)
        }
        session.start()
        return session
    }

    /// The same without deadline and placeholder: payload and time in, content or failure class out.
    func open(_ payload: [UInt8], at time: UnixTime) throws(FailureClass) -> OpenedPush {
        try opener.open(payload, at: time).get()
    }
}
