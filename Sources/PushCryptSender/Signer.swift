public import PushCryptCore

/// Where a sealer gets the key that it signs with.
///
/// ```swift
/// let keys = try KeysetWatcher(folder: "Keys/backend", secret: .passphraseFile("/run/secrets/passphrase"))
/// let sealer = try Sealer(topic: "com.example.app", signer: .watching(keys))
/// ```
public struct Signer: Sendable {
    /// The key that signs now.
    struct Choice: Sendable {
        let key: SenderKey
        /// The `seq` of the keyset; nil if a key was given without one.
        let sequence: Int64?
        /// When the key began to sign; nil if it isn't known.
        let activatedAt: UnixTime?
    }

    private enum Source {
        case key(SenderKey)
        case watcher(KeysetWatcher)
    }

    private let source: Source

    /// Signs every message with one key. It doesn't change when keys rotate: for a process that runs longer than a key, use
    /// ``watching(_:)``.
    public static func key(_ key: SenderKey) -> Signer { Signer(source: .key(key)) }

    /// Signs each message with the primary key that a keyset of sender keys has at that moment: after a rotation with the
    /// new one, and never with a revoked one.
    public static func watching(_ watcher: KeysetWatcher) -> Signer { Signer(source: .watcher(watcher)) }

    /// - Throws: `KeyError` with `wrongKind` for a keyset of other keys.
    func requireSenderKeys() throws(KeyError) {
        guard case .watcher(let watcher) = source else { return }
        try watcher.current.requireKind(.sender)
    }

    /// - Throws: `KeyError` with `noKeySeals`.
    func choice() throws -> Choice {
        switch source {
        case .key(let key): return Choice(key: key, sequence: nil, activatedAt: nil)
        case .watcher(let watcher):
            let (key, choice) = try watcher.signingChoice()
            return Choice(
                key: key, sequence: choice.keyset.sequence, activatedAt: choice.entry.lifecycle.activatesAt)
        }
    }
}
