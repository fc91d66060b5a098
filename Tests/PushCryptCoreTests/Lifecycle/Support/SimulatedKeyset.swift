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

/// An operator who runs random commands on a host with a wrong clock.
struct Operator {
    var keyset: SimulatedKeyset
    var witness = Witness()
    var clock: UnixTime
    private(set) var refusals: [LifecycleError.Code: Int] = [:]
    private(set) var doneCount = 0

    init(_ policy: RotationPolicy, at time: UnixTime, seed: UInt64) throws {
        keyset = try SimulatedKeyset(policy, at: time, seed: seed)
        clock = time
        witness.sawWrite(keyset)
    }

    /// Moves the clock: usually a little, sometimes a year forward or back.
    mutating func moveClock() {
        switch number(0..<20) {
        case 0: clock = clock + 365 * day
        case 1: clock = clock - 365 * day
        case 2, 3: clock = clock - Int64(number(0..<40)) * day
        case 4: break
        case 5..<12: clock = clock + Int64(number(0..<7_200))
        default: clock = clock + Int64(number(0..<60)) * day
        }
    }

    /// Runs a random command. A refused command must change nothing.
    mutating func command() throws {
        let before = keyset
        do {
            try choose()
            doneCount += 1
            witness.watch(before, until: keyset.timeline.updatedAt!)
            witness.sawWrite(keyset)
        } catch let error as LifecycleError {
            refusals[error.code, default: 0] += 1
            if keyset.timeline != before.timeline || keyset.policy != before.policy {
                witness.note("a refused command changed the keyset: \(error)", clock)
            }
            if error.reason.hasPrefix("not refused") { witness.note(error.reason, clock) }
        }
        witness.lookBack(keyset, at: UnixTime(Int64(number(0..<1_772_355_600))))
        witness.lookBack(keyset, at: clock)
    }

    private mutating func choose() throws {
        switch number(0..<13) {
        case 0, 1: try add()
        case 2, 3: try promote()
        case 4, 5, 6: try revoke()
        case 7, 8: try destroy()
        case 9: try keyset.adopt(.random(&keyset.random), at: clock)
        default: try rotate()
        }
    }

    private mutating func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &keyset.random) }
    private mutating func chance(_ one: Int) -> Bool { number(0..<one) == 0 }

    private mutating func anyKey() -> KeyID {
        chance(12) ? keyset.newID() : keyset.timeline.keys.randomElement(using: &keyset.random)!.kid
    }

    private mutating func add() throws {
        let (policy, now) = (keyset.policy, keyset.timeline.effective(clock))
        let kid = chance(10) ? anyKey() : keyset.newID()
        let times = [nil, now, now - day, now + policy.publishLeadInSeconds, now + Int64(number(0..<10_000_000))]
        let activatesAt = times[number(0..<times.count)]
        try keyset.change(at: clock) { timeline, now throws(LifecycleError) in
            try timeline.add(kid, activatesAt: activatesAt, at: now, policy)
        }
        if let activatesAt, activatesAt < now + policy.publishLeadInSeconds { witness.mayBeEarly.insert(kid) }
    }

    private mutating func promote() throws {
        let (policy, kid, force) = (keyset.policy, anyKey(), chance(2))
        let losses = try keyset.change(at: clock) { timeline, now throws(LifecycleError) in
            try timeline.promote(kid, at: now, policy, force: force)
        }
        if force, !losses.isEmpty { witness.mayBeEarly.insert(kid) }
        let state = keyset.timeline.state(of: kid, at: clock)!
        if state != .primary { witness.note("promoted key \(kid) is \(state)", clock) }
    }

    /// Revokes the primary and adds or promotes its successor in the same step.
    private mutating func revoke() throws {
        let (policy, kid, new, clock) = (keyset.policy, anyKey(), keyset.newID(), clock)
        let wasPrimary = keyset.timeline.state(of: kid, at: clock) == .primary
        let pending = keyset.timeline.keys(in: .pending, at: clock).randomElement(using: &keyset.random)?.kid
        let successor = chance(2) ? pending : nil
        try keyset.change(at: clock, givingUp: [kid]) { timeline, now throws(LifecycleError) in
            _ = try timeline.revoke(kid, at: now, policy)
            guard wasPrimary else { return }
            if let successor {
                _ = try timeline.promote(successor, at: now, policy, force: true)
            } else {
                try timeline.add(new, activatesAt: now, at: now, policy)
            }
        }
        witness.givenUp.insert(kid)
        guard wasPrimary else { return }
        witness.mayBeEarly.insert(successor ?? new)
        if keyset.timeline.primary(at: clock)?.kid != successor ?? new { witness.note("no successor", clock) }
    }

    private mutating func destroy() throws {
        let (policy, kid, force) = (keyset.policy, anyKey(), chance(2))
        let losses = try keyset.change(at: clock, givingUp: force ? [kid] : []) {
            timeline, now throws(LifecycleError) in
            try timeline.destroy(kid, at: now, policy, force: force)
        }
        if force, !losses.isEmpty { witness.givenUp.insert(kid) }
    }

    private mutating func rotate() throws {
        let enough = chance(2)
        let plan = RotationPlan(keyset.timeline, keyset.policy, at: clock, beginsNow: chance(8)) { _ in
            RotationPlan.CoverageVerdict(isEnough: enough, explanation: "reports")
        }
        try keyset.carryOut(plan, at: clock)
        let again = RotationPlan(keyset.timeline, keyset.policy, at: clock) { _ in
            RotationPlan.CoverageVerdict(isEnough: enough, explanation: "reports")
        }
        if !again.due.isEmpty { witness.note("a second run has \(again.due) to do", clock) }
    }
}
