import PushCryptCore
import PushCryptKeysets

/// The keys that devices accept or will accept, except the one that is revoked. A thief of the whole keyset has them too, but not
/// the primary key that was made in place of a revoked one.
struct OtherKeys {
    /// The primary key that an earlier revocation made.
    let replacement: Replacement?
    private let keys: [(kid: KeyID, state: KeyState, lifecycle: KeyLifecycle)]
    private let kind: KeyKind
    /// When keys of the keyset were revoked.
    private let revocations: Set<UnixTime>

    /// - Parameters:
    ///   - metadata: of the keyset before the revocation. The key that replaces the revoked one isn't in it.
    ///   - successor: the pending key that is promoted.
    init(of metadata: KeysetMetadata, excluding revoked: KeyID, successor: KeyID?, at time: UnixTime) {
        let timeline = metadata.timeline
        kind = metadata.kind
        revocations = Replacement.times(in: timeline)
        let replacement = Replacement(in: metadata, at: time)
        self.replacement = replacement?.kid == revoked ? nil : replacement
        keys = timeline.keys(in: .primary, .retiring, .pending, at: time).compactMap { key in
            guard ![revoked, replacement?.kid].contains(key.kid), let state = timeline.state(of: key.kid, at: time)
            else { return nil }
            return (key.kid, key.kid == successor ? .primary : state, key.lifecycle)
        }
    }

    var isEmpty: Bool { keys.isEmpty }

    /// A command to paste for each key, with a comment that tells what devices do with the key.
    func commands(_ path: String, _ secrets: SecretOptions) -> [String] {
        keys.map { key in
            let made = key.lifecycle.createdAt.map { time in
                ", made at \(time)"
                    + (Replacement.made(key.lifecycle, revocations) ? " in place of a revoked key" : "")
            }
            return "\(KeysRevoke.command(path, key.kid, secrets))  # \(use(key.state, key.lifecycle))\(made ?? "")"
        }
    }

    /// `[{"kid", "state", "createdAt", "command": the one that revokes it}]`
    func json(_ path: String, _ secrets: SecretOptions) -> [JSONObject] {
        keys.map { key in
            [
                "kid": "\(key.kid)", "state": "\(key.state)", "createdAt": key.lifecycle.createdAt?.description,
                "command": KeysRevoke.command(path, key.kid, secrets),
            ]
        }
    }

    private func use(_ state: KeyState, _ lifecycle: KeyLifecycle) -> String {
        let work = kind == .sender ? "signs" : "seals"
        switch state {
        case .primary: return "primary: \(work) now"
        case .retiring:
            let until = lifecycle.expiresAt.map { " until \($0)" } ?? ""
            return "retiring: \(kind == .sender ? "verifies" : "opens")\(until)"
        default:
            return "pending: " + (lifecycle.activatesAt.map { "\(work) from \($0)" } ?? "waits to be promoted")
        }
    }
}

/// The primary key, if it was made to seal at once when another one was revoked.
struct Replacement {
    let kid: KeyID
    let madeAt: UnixTime

    init?(in metadata: KeysetMetadata, at time: UnixTime) {
        let timeline = metadata.timeline
        guard let key = timeline.primary(at: time), let madeAt = key.lifecycle.createdAt,
            Self.made(key.lifecycle, Self.times(in: timeline))
        else { return nil }
        (kid, self.madeAt) = (key.kid, madeAt)
    }

    /// When keys of a keyset were revoked.
    static func times(in timeline: KeyTimeline) -> Set<UnixTime> {
        Set(timeline.keys.compactMap(\.lifecycle.revokedAt))
    }

    /// Whether a key was made to seal at once at one of the times.
    static func made(_ lifecycle: KeyLifecycle, _ revocations: Set<UnixTime>) -> Bool {
        guard let time = lifecycle.createdAt, lifecycle.activatesAt == time else { return false }
        return revocations.contains(time)
    }
}
