import PushCryptCore
import PushCryptTestSupport

/// A keyset without key material: a timeline, a policy, and ids from a seed. It changes like a keyset on disk.
struct SimulatedKeyset {
    private(set) var timeline: KeyTimeline
    private(set) var policy: RotationPolicy
    var random: SplitMix64

    /// Makes a keyset with one key that seals from `time` on.
    init(_ policy: RotationPolicy, at time: UnixTime, seed: UInt64) throws {
        self.init(KeyTimeline([]), policy, seed: seed)
        let first = newID()
        try change(at: time) { timeline, now throws(LifecycleError) in
            try timeline.add(first, activatesAt: now, at: now, policy)
        }
    }

    /// A keyset that was written by hand.
    init(_ timeline: KeyTimeline, _ policy: RotationPolicy, seed: UInt64) {
        self.timeline = timeline
        self.policy = policy
        random = SplitMix64(seed: seed)
    }

    mutating func newID() -> KeyID { .random(&random) }

    /// Makes a change. A refused change changes nothing.
    @discardableResult
    mutating func change<Result>(
        at clock: UnixTime, givingUp givenUp: Set<KeyID> = [],
        _ body: (inout KeyTimeline, UnixTime) throws(LifecycleError) -> Result
    ) throws(LifecycleError) -> Result {
        let now = timeline.effective(clock)
        var changed = timeline
        let result = try body(&changed, now)
        do {
            try Invariants.check(changed, after: timeline.keys.isEmpty ? nil : timeline, at: now, givingUp: givenUp)
        } catch {
            throw LifecycleError(.invariantBroken, "not refused, but it violates an invariant: \(error)")
        }
        changed.updatedAt = now
        timeline = changed
        return result
    }

    mutating func adopt(_ policy: RotationPolicy, at clock: UnixTime) throws(LifecycleError) {
        let old = self.policy
        try change(at: clock) { timeline, now throws(LifecycleError) in
            timeline.adopt(policy, after: old, at: now)
        }
        self.policy = policy
    }

    /// Carries out the due steps.
    mutating func carryOut(_ plan: RotationPlan, at clock: UnixTime) throws(LifecycleError) {
        for step in plan.due { try carryOut(step, at: clock) }
    }

    private mutating func carryOut(_ step: RotationPlan.Step, at clock: UnixTime) throws(LifecycleError) {
        let (policy, kid) = (policy, step.action.kid ?? newID())
        try change(at: clock) { timeline, now throws(LifecycleError) in
            switch step.action {
            case .add(let activatesAt): try timeline.add(kid, activatesAt: activatesAt, at: now, policy)
            case .promote: _ = try timeline.promote(kid, at: now, policy, force: false)
            case .destroy: _ = try timeline.destroy(kid, at: now, policy, force: false)
            }
        }
    }
}

extension KeyID {
    static func random(_ random: inout SplitMix64) -> KeyID {
        KeyID(Base64URL.encode(random.bytes(KeyID.byteCount)))!
    }
}

extension RotationPolicy {
    /// A random policy with rotations of a day to a year.
    static func random(_ random: inout SplitMix64, gated: Bool? = nil) -> RotationPolicy {
        let rotateEvery = [1, 3, 7, 30, 30, 90, 90, 180, 365].randomElement(using: &random)! * day
        let share = Int.random(in: 0...100_000, using: &random)
        let isGated = gated ?? (Int.random(in: 0..<4, using: &random) == 0)
        return try! RotationPolicy(
            rotateEveryInSeconds: rotateEvery + Int64.random(in: 0..<3, using: &random) * 3_601,
            publishLeadInSeconds: Int64.random(in: 0..<rotateEvery, using: &random),
            overlapInSeconds: Int64.random(in: 0...100, using: &random) * day,
            keep: Int.random(in: 1...4, using: &random),
            requiredCoverage: isGated ? .init(thousandthsOfPercent: share) : nil)
    }

    static func days(
        _ rotateEvery: Int64, lead: Int64, overlap: Int64 = 30, keep: Int = 2, gated: Bool = false
    ) -> RotationPolicy {
        try! RotationPolicy(
            rotateEveryInSeconds: rotateEvery * day, publishLeadInSeconds: lead * day,
            overlapInSeconds: overlap * day, keep: keep,
            requiredCoverage: gated ? .init(thousandthsOfPercent: 99_900) : nil)
    }
}

let day: Int64 = 86_400
