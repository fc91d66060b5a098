public import PushCryptCore

/// Where a sealer gets the key that it signs with.
///
/// ```swift
/// let keys = try KeysetWatcher(file: "Keys/backend", secret: .passphraseFile("/run/secrets/passphrase"))
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
        case keyset(Keyset)
        case watcher(KeysetWatcher)
    }

    private let source: Source

    /// Signs every message with one key, which doesn't change when keys rotate. For a process that runs longer than a key is
    /// used, take ``watching(_:)``.
    public static func key(_ key: SenderKey) -> Signer { Signer(source: .key(key)) }

    /// Signs each message with the primary key that the set has at the message's time. It doesn't follow changes of a file: use
    /// it for keys that aren't in a file, such as those of `Keyset(environment:)`.
    public static func keyset(_ keyset: Keyset) -> Signer { Signer(source: .keyset(keyset)) }

    /// Signs each message with the primary key that the watched keyset of sender keys has at that moment. After a rotation it
    /// signs with the new key, and it never signs with a revoked key.
    public static func watching(_ watcher: KeysetWatcher) -> Signer { Signer(source: .watcher(watcher)) }

    /// - Throws: `KeyError` with `wrongKind` for a keyset of other keys.
    func requireSenderKeys() throws(KeyError) {
        switch source {
        case .key: break
        case .keyset(let keyset): try keyset.requireKind(.sender)
        case .watcher(let watcher): try watcher.current.requireKind(.sender)
        }
    }

    /// - Throws: `KeyError` with `noKeySeals`.
    func choice(at time: UnixTime) throws -> Choice {
        switch source {
        case .key(let key): return Choice(key: key, sequence: nil, activatedAt: nil)
        case .keyset(let keyset):
            let entry = try keyset.sealingEntry(at: time)
            return Choice(
                key: try SenderKey(entry), sequence: keyset.sequence, activatedAt: entry.lifecycle.activatesAt)
        case .watcher(let watcher):
            let (key, choice) = try watcher.signingChoice()
            return Choice(
                key: key, sequence: choice.keyset.sequence, activatedAt: choice.entry.lifecycle.activatesAt)
        }
    }
}
