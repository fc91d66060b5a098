import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptKeystore

/// A keyset as it can be seen without any secret.
struct KeysetView {
    let path: String
    let metadata: KeysetMetadata
    /// nil for a FILE, which has no policy and no history of its own.
    let folder: KeysetFolder?
    let clock: UnixTime
    /// The time that states are told for: the clock, but no earlier than the last change.
    let now: UnixTime
    /// In the order of the file, which is the order in which keys came.
    let statuses: [KeyStatus]
    /// nil where nobody rotates: a FILE, the published demo keys.
    let plan: RotationPlan?

    /// - Throws: `KeystoreError`, `KeyError`, `Failure` for what isn't a keyset.
    init(_ path: String, at time: UnixTime) throws {
        let metadata = try KeySource.metadata(of: path)
        self.init(path, metadata, isFile: !FileSystem.isFolder(path), at: time)
    }

    init(_ path: String, _ metadata: KeysetMetadata, isFile: Bool, at time: UnixTime) {
        let folder = isFile ? nil : KeysetFolder(path)
        let timeline = metadata.timeline
        let statuses = zip(timeline.keys, timeline.phases()).map { key, phases in
            KeyStatus(key, phases, metadata, at: time)
        }
        self.path = folder?.path ?? path
        self.metadata = metadata
        self.folder = folder
        clock = time
        now = timeline.effective(time)
        self.statuses = statuses
        let isDemo = DemoKeys.covers(timeline.keys.map(\.kid))
        plan = isFile || isDemo ? nil : RotationPlan(metadata.timeline, metadata.policy, at: time)
    }

    /// Those that are destroyed last.
    var listed: [KeyStatus] { statuses.filter { $0.state != .destroyed } + statuses.filter { $0.state == .destroyed } }

    /// Said where the clock is before the last change.
    var clockNote: String { "\(clock) is before the last change; shown is the time of that" }

    /// For a FILE nil, and for the published demo keys.
    var policy: RotationPolicy? { plan == nil ? nil : metadata.policy }

    func status(_ kid: String) -> KeyStatus? { statuses.first { $0.kid.description == kid } }

    var primary: KeyStatus? { statuses.first { $0.state == .primary } }

    /// The key that the policy asks for next: the step and the states that its key will have; nil for none.
    var successor: (step: RotationPlan.Step, phases: [KeyPhase])? {
        guard let plan else { return nil }
        for step in plan.due + plan.blocked + [plan.next].compactMap(\.self) {
            guard case .add(let activatesAt) = step.action else { continue }
            let pending = KeyPhase(.pending, from: max(step.dueAt, now), to: activatesAt)
            return (step, [pending] + (activatesAt.map { [KeyPhase(.primary, from: $0, to: nil)] } ?? []))
        }
        return nil
    }
}

/// One key of a keyset, seen at a moment.
struct KeyStatus {
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
