import PushCryptCore
import PushCryptKeysets

/// One key of a keyset, seen at a moment.
struct KeyLife {
    let kid: KeyID
    let lifecycle: KeyLifecycle
    let traits: KeysetMetadata.Traits?
    let state: KeyState
    /// Past and to come, as far as the times say. Of a key that nobody knows the age of, without what was before it
    /// began to seal.
    let phases: [KeyPhase]
    let now: UnixTime

    init(_ key: KeyTimeline.Key, _ phases: [KeyPhase], _ metadata: KeysetMetadata, at time: UnixTime) {
        kid = key.kid
        lifecycle = key.lifecycle
        traits = metadata.traits[key.kid]
        state = metadata.timeline.state(of: key.kid, at: time) ?? .pending
        let now = metadata.timeline.effective(time)
        self.phases = phases.filter { $0.start != nil || $0.contains(now) }
        self.now = now
    }

    var seals: Bool { state == .primary }

    func seals(at time: UnixTime) -> Bool { phases.contains { $0.state == .primary && $0.contains(time) } }

    var opens: Bool { state.opens }

    var ageInSeconds: Int64? { lifecycle.createdAt.map { max(now.seconds - $0.seconds, 0) } }

    /// The change that time alone brings; nil for none.
    var nextChange: (state: KeyState, at: UnixTime)? {
        guard state != .destroyed else { return nil }
        return phases.lazy.compactMap { phase in phase.start.map { (phase.state, $0) } }.first { $0.1 > now }
    }

    /// `retires in 12d`, `destroyed 3d ago`; nil where no time says anything.
    var nextWords: String? {
        switch state {
        case .destroyed: return ended("destroyed", lifecycle.destroyedAt)
        case .revoked: return ended("revoked", lifecycle.revokedAt)
        case .expired: return ended("expired", lifecycle.expiresAt)
        default: break
        }
        guard let nextChange else { return waitsForPromotion ? "waits for promotion" : nil }
        return "\(nextChange.state.verb) \(TimeDistance.words(nextChange.at, from: now))"
    }

    /// Whether an operator, and not time, makes it seal.
    var waitsForPromotion: Bool { state == .pending && lifecycle.activatesAt == nil }

    private func ended(_ verb: String, _ time: UnixTime?) -> String {
        time.map { "\(verb) \(TimeDistance.words($0, from: now))" } ?? verb
    }
}

extension KeyState {
    /// What a key does that comes into this state.
    var verb: String {
        switch self {
        case .pending: "is published"
        case .primary: "seals"
        case .retiring: "retires"
        case .expired: "expires"
        case .revoked: "is revoked"
        default: "is destroyed"
        }
    }
}
