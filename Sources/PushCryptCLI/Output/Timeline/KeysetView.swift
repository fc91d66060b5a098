import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptKeystore

/// The part of a keyset that can be read without a secret.
struct KeysetView {
    let path: String
    let metadata: KeysetMetadata
    /// nil for a FILE, which has no policy and no audit log.
    let folder: KeysetFolder?
    let clock: UnixTime
    /// The time of the states: the clock, but no earlier than the last change.
    let now: UnixTime
    /// In the order of the file, in which keys were added.
    let statuses: [KeyStatus]
    /// The plan, in which what `rotate` would refuse is blocked. nil for a FILE, for the published demo keys, which are never
    /// rotated, and for a keyset with a problem.
    let plan: RotationPlan?
    /// nil if no set is published.
    let signedSet: PublicationStatus?
    /// Why no command uses the keyset: it is an earlier copy. nil for other keysets.
    let problem: String?
    /// Why changes refuse the audit log; nil if they don't.
    let logProblem: String?

    /// - Parameter pins: a file with what the app bundles, for a FILE that is a signed sender set.
    init(_ path: String, pins: String? = nil, at time: UnixTime) throws {
        if let pins {
            let signed = try SignedSetFile.read(path, pins: pins)
            let (set, publication) = (signed.set, signed.set.publication)
            // Another set or epoch, which the app refuses. An expired set is shown with a warning.
            _ = try KeySource.naming(path) {
                try SenderSetState(
                    accepting: set, pins: signed.pins, topic: publication.topics[0], stored: nil,
                    at: publication.issuedAt)
            }
            let status = PublicationStatus(set, at: time)
            self.init(path, KeysetMetadata(set.keyset), isFile: true, signedSet: status, at: time)
        } else {
            let (metadata, problem) = try KeySource.notedMetadata(of: path)
            let isFile = !FileSystem.isFolder(path)
            let logProblem = try isFile || problem != nil ? nil : KeySource.logProblem(of: path, metadata)
            self.init(path, metadata, isFile: isFile, problem: problem, logProblem: logProblem, at: time)
        }
    }

    init(
        _ path: String, _ metadata: KeysetMetadata, isFile: Bool, signedSet: PublicationStatus? = nil,
        problem: String? = nil, logProblem: String? = nil, at time: UnixTime
    ) {
        let timeline = metadata.timeline
        folder = isFile ? nil : KeysetFolder(path)
        self.path = folder?.path ?? path
        self.metadata = metadata
        clock = time
        now = timeline.effective(time)
        statuses = zip(timeline.keys, timeline.phases()).map {
            KeyStatus($0, $1, metadata, isUsed: problem == nil, at: time)
        }
        let isDemo = DemoKeys.covers(timeline.keys.map(\.kid))
        var plan = isFile || isDemo || problem != nil ? nil : metadata.plan(at: time)
        self.problem = problem
        self.logProblem = logProblem
        let refusal =
            logProblem == nil
            ? Writer.refusal(metadata.writer, own: try? Writer.ofThisHost()) : "the audit log is broken"
        if let refusal { plan?.block(refusal) }
        self.plan = plan
        self.signedSet = signedSet ?? PublicationStatus(metadata, at: now)
    }

    var remaining: [KeyStatus] { statuses.filter { $0.state != .destroyed } }

    var listed: [KeyStatus] { remaining + statuses.filter { $0.state == .destroyed } }

    /// nil if there is no plan, and for publisher keys.
    var policy: RotationPolicy? { plan == nil || plan?.exemption != nil ? nil : metadata.policy }

    /// Why the clock seems wrong, so that every step is blocked; nil if it doesn't.
    var clockProblem: String? { plan?.clockObjection }

    func status(_ kid: KeyID) -> KeyStatus? { statuses.first { $0.kid == kid } }

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
    let kid: KeyID
    let lifecycle: KeyLifecycle
    let traits: KeysetMetadata.Traits?
    let state: KeyState
    /// The past and future states as far as the times are known. For a key of unknown age, only those since it began to
    /// seal.
    let phases: [KeyPhase]
    let now: UnixTime
    private let isPublisher: Bool
    /// Whether commands use the keyset.
    private let isUsed: Bool

    init(_ key: KeyTimeline.Key, _ phases: [KeyPhase], _ metadata: KeysetMetadata, isUsed: Bool, at time: UnixTime) {
        self.isUsed = isUsed
        kid = key.kid
        lifecycle = key.lifecycle
        traits = metadata.traits[key.kid]
        state = metadata.timeline.state(of: key.kid, at: time) ?? .pending
        isPublisher = metadata.kind == .publisher
        let now = metadata.timeline.effective(time)
        self.now = now
        self.phases = phases.filter { $0.start != nil || $0.contains(now) }
    }

    /// Whether the key seals or signs. Publisher keys sign beside each other.
    var seals: Bool { isUsed && (isPublisher ? state.opens : state == .primary) }

    var opens: Bool { isUsed && state.opens }

    func seals(at time: UnixTime) -> Bool { phases.contains { $0.state == .primary && $0.contains(time) } }

    var ageInSeconds: Int64? { lifecycle.createdAt.map { max(now.seconds - $0.seconds, 0) } }

    /// The next change of state that needs no operator; nil if there is none.
    var nextChange: (state: KeyState, at: UnixTime)? {
        guard state != .destroyed else { return nil }
        return phases.lazy.compactMap { phase in phase.start.map { (phase.state, $0) } }.first { $0.1 > now }
    }

    /// `retires in 12d`, `destroyed 3d ago`; nil without a known time.
    var nextText: String? {
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
