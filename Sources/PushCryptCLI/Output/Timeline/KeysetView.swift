import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptPrimitives

/// The part of a keyset or of a FILE that can be read without a secret. Nothing authenticates it.
struct KeysetView {
    /// Without the suffix of a keyset's file.
    let path: String
    let kind: KeyKind
    /// nil for a FILE.
    let log: KeysetLog?
    let clock: UnixTime
    /// The time of the states: the clock, but no earlier than the last change.
    let now: UnixTime
    /// In the order in which keys were added.
    let statuses: [KeyStatus]
    /// nil for a FILE, and for the published demo keys, which are never rotated.
    let plan: RotationPlan?
    /// The last signed set of each epoch, or that of a FILE.
    let sets: [PublicationStatus]

    /// - Parameter plan: nil for published demo keys.
    init(_ path: String, _ log: KeysetLog, plan: RotationPlan?, at time: UnixTime) throws {
        let state = log.state
        let sets = try state.epochs.keys.sorted().compactMap { try PublicationStatus(state, epoch: $0, at: time) }
        self.init(
            path, state.kind, state.keys.map { KeyStatus.Key($0, state.effective($0)) }, state.timeline, log: log,
            plan: plan, sets: sets, at: time)
    }

    /// - Parameter pins: a file with what the app bundles, for a FILE that is a signed sender set.
    init(file path: String, pins: String?, at time: UnixTime) throws {
        guard let pins else {
            var bytes = try FileSystem.readFile(path)
            defer { wipe(&bytes) }
            self = try KeySource.naming(path) { try KeysetView(path, Keyset(json: bytes), at: time) }
            return
        }
        let signed = try SignedSetFile.read(path, pins: pins)
        let (set, publication) = (signed.set, signed.set.publication)
        // Another set or epoch, which the app refuses. An expired set is shown with a warning.
        _ = try KeySource.naming(path) {
            try SenderSetState(
                accepting: set, pins: signed.pins, topic: publication.topics[0], stored: nil, at: publication.issuedAt)
        }
        try self.init(path, set.keyset, sets: [PublicationStatus(set, at: time)], at: time)
    }

    private init(_ path: String, _ keyset: Keyset, sets: [PublicationStatus] = [], at time: UnixTime) throws {
        let keys = keyset.entries.map { KeyStatus.Key($0) }
        self.init(path, keyset.kind, keys, keyset.timeline, log: nil, plan: nil, sets: sets, at: time)
    }

    private init(
        _ path: String, _ kind: KeyKind, _ keys: [KeyStatus.Key], _ timeline: KeyTimeline, log: KeysetLog?,
        plan: RotationPlan?, sets: [PublicationStatus], at time: UnixTime
    ) {
        let phases = Dictionary(uniqueKeysWithValues: zip(timeline.keys.map(\.kid), timeline.phases()))
        statuses = keys.map { KeyStatus($0, phases[$0.kid] ?? [], timeline, kind, at: time) }
        (self.path, self.kind, self.log, self.plan, self.sets) = (path, kind, log, plan, sets)
        (clock, now) = (time, timeline.effective(time))
    }

    var remaining: [KeyStatus] { statuses.filter { $0.state != .destroyed } }

    var listed: [KeyStatus] { remaining + statuses.filter { $0.state == .destroyed } }

    /// nil if there is no plan, and for publisher keys.
    var policy: RotationPolicy? { plan == nil || plan?.exemption != nil ? nil : log?.state.policy }

    var primary: KeyStatus? { statuses.first { $0.state == .primary } }

    /// The key that the policy adds next: the step and the future states of the key; nil if there is none.
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

struct KeyStatus {
    struct Key {
        let kid: KeyID
        let lifecycle: KeyLifecycle
        let algorithm: KeyAlgorithm
        let demandsPSK: Bool
        /// Whether no file has its material.
        let isLost: Bool

        init(_ key: KeysetState.Key, _ lifecycle: KeyLifecycle) {
            (kid, self.lifecycle, algorithm, demandsPSK) = (key.kid, lifecycle, key.algorithm, key.demandsPSK)
            isLost = key.isLost
        }

        init(_ entry: Keyset.Entry) {
            (kid, lifecycle, algorithm) = (entry.record.kid, entry.lifecycle, entry.record.algorithm)
            (demandsPSK, isLost) = (entry.demandsPSK, false)
        }
    }

    let key: Key
    let state: KeyState
    /// The past and future states as far as the times are known. For a key of unknown age, only those since it began to
    /// seal. None for a lost key.
    let phases: [KeyPhase]
    let now: UnixTime
    private let isPublisher: Bool

    init(_ key: Key, _ phases: [KeyPhase], _ timeline: KeyTimeline, _ kind: KeyKind, at time: UnixTime) {
        self.key = key
        let now = timeline.effective(time)
        self.now = now
        state = timeline.state(of: key.kid, at: time) ?? key.lifecycle.state(at: now)
        isPublisher = kind == .publisher
        self.phases = phases.filter { $0.start != nil || $0.contains(now) }
    }

    var kid: KeyID { key.kid }
    var lifecycle: KeyLifecycle { key.lifecycle }
    /// Whether no file has a key that hasn't ended.
    var isLost: Bool { key.isLost && ![.expired, .revoked, .destroyed].contains(state) }
    /// The state, or that the key is lost.
    var stateText: String { isLost ? "lost" : "\(state)" }

    /// Whether the key seals or signs. Publisher keys sign beside each other.
    var seals: Bool { !key.isLost && (isPublisher ? state.opens : state == .primary) }

    var opens: Bool { !key.isLost && state.opens }

    var ageInSeconds: Int64? { lifecycle.createdAt.map { max(now.seconds - $0.seconds, 0) } }

    /// The next change of state that needs no operator; nil if there is none.
    var nextChange: (state: KeyState, at: UnixTime)? {
        guard state != .destroyed else { return nil }
        return phases.lazy.compactMap { phase in phase.start.map { (phase.state, $0) } }.first { $0.1 > now }
    }

    /// `retires in 12d`, `destroyed 3d ago`; nil without a known time.
    var nextText: String? {
        if isLost { return "no file has it" }
        switch state {
        case .destroyed: return ended("destroyed", lifecycle.destroyedAt)
        case .revoked: return ended("revoked", lifecycle.revokedAt)
        case .expired: return ended("expired", lifecycle.expiresAt)
        default: break
        }
        guard let nextChange else { return waitsForPromotion ? "waits for promotion" : nil }
        return "\(nextChange.state.verb) \(TimeDistance.text(nextChange.at, from: now))"
    }

    var waitsForPromotion: Bool { state == .pending && lifecycle.activatesAt == nil && !isPublisher }

    private func ended(_ verb: String, _ time: UnixTime?) -> String {
        time.map { "\(verb) \(TimeDistance.text($0, from: now))" } ?? verb
    }
}

extension KeyState {
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
