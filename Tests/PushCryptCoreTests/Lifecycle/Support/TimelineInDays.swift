import PushCryptCore

/// Timelines in days since 1970, written and read as short lines.
///
/// ```
/// A 0 90 180+10m               activatesAt retiresAt expiresAt, - for none
/// B 90 - - revoked 95          and its revocation or destruction
/// ```
struct TimelineInDays {
    var timeline: KeyTimeline
    var policy: RotationPolicy

    /// Key A, which seals from day 0 on.
    init(_ policy: RotationPolicy = .standard) {
        self.policy = policy
        timeline = KeyTimeline(
            [.init(.a, KeyLifecycle(createdAt: .days(0), activatesAt: .days(0)))], updatedAt: .days(0))
    }

    /// A file written by hand.
    init(_ policy: RotationPolicy, _ keys: [(KeyID, KeyLifecycle)], updatedAt: Int64? = nil) {
        self.policy = policy
        timeline = KeyTimeline(keys.map { KeyTimeline.Key($0, $1) }, updatedAt: updatedAt.map { .days($0) })
    }

    var lines: [String] {
        timeline.keys.map { key in
            let life = key.lifecycle
            let times = [life.activatesAt, life.retiresAt, life.expiresAt].map { $0?.text ?? "-" }
            let ends = [("revoked", life.revokedAt), ("destroyed", life.destroyedAt)]
                .compactMap { name, time in time.map { " \(name) \($0.text)" } }
            return "\(key.kid.description.first!) " + times.joined(separator: " ") + ends.joined()
        }
    }

    func states(on day: Int64) -> String {
        timeline.keys.map { timeline.state(of: $0.kid, at: .days(day))!.description }.joined(separator: " ")
    }

    /// Makes a change on that day and checks the invariants, as before each write.
    @discardableResult
    mutating func on<Result>(
        _ day: Int64, givingUp givenUp: Set<KeyID> = [],
        _ body: (inout KeyTimeline, UnixTime, RotationPolicy) throws(LifecycleError) -> Result
    ) throws(LifecycleError) -> Result {
        let now = timeline.effective(.days(day))
        var changed = timeline
        let result = try body(&changed, now, policy)
        try Invariants.check(changed, after: timeline, at: now, givingUp: givenUp)
        changed.updatedAt = now
        timeline = changed
        return result
    }

    mutating func add(_ kid: KeyID, on day: Int64, sealsFrom: Int64?) throws {
        try on(day) { timeline, now, policy throws(LifecycleError) in
            try timeline.add(kid, activatesAt: sealsFrom.map { .days($0) }, at: now, policy)
        }
    }

    @discardableResult
    mutating func promote(_ kid: KeyID, on day: Int64, force: Bool = false) throws -> [String] {
        try on(day) { timeline, now, policy throws(LifecycleError) in
            try timeline.promote(kid, at: now, policy, force: force)
        }
    }

    @discardableResult
    mutating func revoke(_ kid: KeyID, on day: Int64, addingNow new: KeyID? = nil) throws -> [String] {
        try on(day, givingUp: [kid]) { timeline, now, policy throws(LifecycleError) in
            let losses = try timeline.revoke(kid, at: now, policy)
            if let new { try timeline.add(new, activatesAt: now, at: now, policy) }
            return losses
        }
    }

    @discardableResult
    mutating func destroy(_ kid: KeyID, on day: Int64, force: Bool = false) throws -> [String] {
        try on(day, givingUp: force ? [kid] : []) { timeline, now, policy throws(LifecycleError) in
            try timeline.destroy(kid, at: now, policy, force: force)
        }
    }

    @discardableResult
    mutating func adopt(_ new: RotationPolicy, on day: Int64) throws -> [KeyID] {
        let old = policy
        policy = new
        return try on(day) { timeline, now, _ throws(LifecycleError) in timeline.adopt(new, after: old, at: now) }
    }

    func plan(
        on day: Int64, beginsNow: Bool = false, enough: Bool? = nil
    ) -> RotationPlan {
        RotationPlan(timeline, policy, at: .days(day), beginsNow: beginsNow) { _ in
            enough.map { RotationPlan.CoverageVerdict(isEnough: $0, explanation: "reports") }
        }
    }
}

extension KeyID {
    static let a = KeyID("AAAAAAAAAAA")!
    static let b = KeyID("BBBBBBBBBBA")!
    static let c = KeyID("CCCCCCCCCCA")!
    static let d = KeyID("DDDDDDDDDDA")!
}

extension UnixTime {
    static func days(_ days: Int64) -> UnixTime { UnixTime(days * 86_400) }

    fileprivate var text: String {
        let (days, rest) = (seconds / 86_400, seconds % 86_400)
        return rest == 0 ? "\(days)" : "\(days)+" + DurationText.human(rest)
    }
}

extension RotationPlan.Step {
    /// `add 83: seals from 90`, `promote B 7`, with ` blocked` if it is blocked.
    var line: String {
        let what: String =
            switch action {
            case .add(nil): "add \(dueAt.text): waits"
            case .add(let time?): "add \(dueAt.text): seals from \(time.text)"
            case .promote(let kid): "promote \(kid.description.first!) \(dueAt.text)"
            case .destroy(let kid): "destroy \(kid.description.first!) \(dueAt.text)"
            }
        return what + (blockedBy == nil ? "" : " blocked")
    }
}

extension RotationPlan {
    /// The due steps, the blocked steps and the next step.
    var lines: [String] { due.map(\.line) + blocked.map(\.line) + ["next " + (next?.line ?? "-")] }
}

extension LifecycleError {
    /// Runs `body` and returns its refusal.
    static func code(_ body: () throws -> some Any) -> Code? {
        do {
            _ = try body()
            return nil
        } catch {
            return (error as? LifecycleError)?.code
        }
    }
}
