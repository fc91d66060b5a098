import PushCryptExtension

/// Opens pushes in a notification service extension.
struct PushRestorer {
    let configuration: ExtensionConfiguration

    /// - Parameters:
    ///   - keys: the recipient's private keys, a JWK or JWK set.
    ///   - senders: the backend's public JWK set: pins its keys, so that nothing unsigned is restored.
    init(keys: [UInt8], senders: [UInt8]) throws {
        configuration = try ExtensionConfiguration(
            topic: "com.example.app", keyring: KeysetKeyring(try Keyset(json: keys)),
            senders: .pinned(try TrustedSenders(json: senders)), fallback: .bundled(.standard))
    }

    /// Calls `show` exactly once: with the restored content or, after a failure or a timeout, with the app's own text.
    ///
    /// - Parameter payload: the push as JSON.
    /// - Returns: the session; `serviceExtensionTimeWillExpire` calls its `expire()`.
    func restore(
        _ payload: [UInt8], show: @escaping @Sendable (NotificationContent, FailureClass?) -> Void
    ) -> DeliverySession {
        let session = DeliverySession(payload: payload, configuration: configuration) { delivery in
            show(delivery.content, delivery.failure)
        }
        session.start()
        return session
    }

    /// Opens a payload without a deadline and without a placeholder.
    func open(_ payload: [UInt8], at time: UnixTime) throws(FailureClass) -> OpenedPush {
        try configuration.opener.open(payload, at: time).get()
    }
}
