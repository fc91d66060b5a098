package import PushCryptCore
package import PushCryptKeysets
package import PushCryptPrimitives

/// The next line of a keyset, while it is made.
package struct KeysetDraft {
    package let now: UnixTime
    package var changes = KeysetChanges()
    package private(set) var timeline: KeyTimeline
    /// nil for keys in clear. ``changes`` has their names if they change.
    var secrets: KeysetSecrets?
    package let state: KeysetState
    private var added: [KeyID: KeyRecord] = [:]
    /// Keys that an operator revokes or destroys. All others must continue to open.
    private var givenUp: Set<KeyID> = []

    /// - Parameter now: not before the last line, unless that one's clock is corrected.
    package init(_ state: KeysetState, at now: UnixTime) {
        self.state = state
        self.now = now
        timeline = state.timeline
        // Where a clock is corrected, states are those of the earlier time.
        timeline.updatedAt = min(now, state.at)
    }

    private var policy: RotationPolicy { state.policy }

    /// Makes a key like the newest one.
    package mutating func add(activatesAt: UnixTime?, suite: KeyPairType? = nil) throws {
        let newest = state.keys.last
        let record = try KeyRecord.generate(
            state.kind, type: suite ?? newest?.algorithm.keyPairType ?? .p256, psk: newest?.demandsPSK ?? false,
            backend: DefaultBackend.shared)
        try add(record, activatesAt: activatesAt)
    }

    /// - Throws: `LifecycleError` with `idTaken` also for a lost key and one that another log of this keyset has revoked; `KeyError`
    ///   with `suiteTooLow` for a suite below that of another key, which senders refuse.
    package mutating func add(_ record: KeyRecord, activatesAt: UnixTime?) throws {
        guard state.key(record.kid) == nil, state.revokedElsewhere[record.kid] == nil else {
            throw LifecycleError(.idTaken, "key \(record.kid) is or was in this keyset; an id is never used again")
        }
        let suite = record.algorithm.suite
        if let higher = state.keys.first(where: { key in
            key.hasMaterial && key.algorithm.suite.map { suite?.isAtLeast($0) == false } ?? false
        }) {
            throw KeyError(
                .suiteTooLow,
                "key \(higher.kid) has \(higher.algorithm.rawValue), which ranks above \(record.algorithm.rawValue): a keyset never "
                    + "goes back; for devices without suite 3 make another keyset")
        }
        try timeline.add(record.kid, activatesAt: activatesAt, at: now, policy)
        added[record.kid] = record
    }

    /// Carries out what is due.
    ///
    /// - Parameter suite: of new keys; nil for that of the newest key.
    package mutating func carryOut(_ plan: RotationPlan, suite: KeyPairType? = nil) throws {
        for step in plan.due {
            switch step.action {
            case .add(let activatesAt): try add(activatesAt: activatesAt, suite: suite)
            case .promote(let kid): _ = try timeline.promote(kid, at: now, policy, force: false)
            case .destroy(let kid): try destroy(kid, force: false)
            }
        }
    }

    package mutating func revoke(_ kid: KeyID) throws {
        guard !isLost(kid) else { return setFinal(.revokedAt, of: kid, to: now) }
        _ = try timeline.revoke(kid, at: now, policy)
        givenUp.insert(kid)
    }

    package mutating func destroy(_ kid: KeyID, force: Bool) throws {
        guard !isLost(kid) else { return setFinal(.destroyedAt, of: kid, to: now) }
        _ = try timeline.destroy(kid, at: now, policy, force: force)
        givenUp.insert(kid)
    }

    /// A lost key isn't in the timeline, and can be revoked and destroyed: a thief may have it.
    private func isLost(_ kid: KeyID) -> Bool { state.key(kid)?.isLost ?? false }

    /// Applies a new policy.
    ///
    /// - Throws: `KeyError` with `wrongKind` for publishers.
    package mutating func adopt(_ policy: RotationPolicy) throws(KeyError) {
        guard state.kind != .publisher else {
            throw KeyError(.wrongKind, "publisher keys have no policy: they change with an app update")
        }
        guard policy != state.policy else { return }
        changes.policy = policy
        timeline.adopt(policy, after: state.policy, at: now)
    }

    /// Sets or removes a moment of a key, where a restoration or a corrected clock does.
    package mutating func set(_ moment: KeysetChanges.Moment, of kid: KeyID, to time: UnixTime?) {
        guard let index = timeline.keys.firstIndex(where: { $0.kid == kid }) else { return }
        timeline.keys[index].lifecycle[keyPath: moment.path] = time
    }

    /// Keeps a revocation that another log or a set has, also of a lost key and of one that this log never had.
    package mutating func keepRevocation(of kid: KeyID, at time: UnixTime) {
        if timeline.key(kid) != nil {
            set(.revokedAt, of: kid, to: time)
        } else if state.key(kid) != nil {
            setFinal(.revokedAt, of: kid, to: time)
        } else {
            changes.revoked[kid] = time
        }
    }

    private mutating func setFinal(_ moment: KeysetChanges.Moment, of kid: KeyID, to time: UnixTime) {
        let index = changes.keys.firstIndex { $0.kid == kid } ?? changes.keys.count
        if index == changes.keys.count { changes.keys.append(KeysetChanges.Key(kid)) }
        changes.keys[index].moments[moment] = .some(time)
    }

    /// Marks a key as lost, or as found again.
    package mutating func setLost(_ isLost: Bool, _ key: KeysetState.Key) {
        var change = KeysetChanges.Key(key.kid)
        change.isLost = isLost
        changes.keys.append(change)
        timeline.keys.removeAll { $0.kid == key.kid }
        if !isLost { timeline.keys.append(KeyTimeline.Key(key.kid, key.lifecycle)) }
    }

    /// The line's changes and the keyset's records after it. Whatever was changed, a key seals afterwards.
    ///
    /// - Parameter isOrdinary: whether the invariants of a change hold. A restoration and a corrected clock change the past.
    /// - Throws: `LifecycleError` with `invariantBroken`; `KeystoreRefusal` with `publicationLimits`.
    package mutating func finished(
        _ records: [KeyID: KeyRecord], isOrdinary: Bool
    ) throws -> (changes: KeysetChanges, records: [KeyID: KeyRecord]) {
        try changes.publication?.requireLimits()
        if KeystoreRule.keepsPrimary.isOn { try keepPrimary() }
        // A restoration or a corrected clock can move the start of a key before the end of its predecessor. Revoking that key
        // would make the predecessor primary again.
        if !isOrdinary, state.kind != .publisher { timeline.schedule(at: now, policy) }
        if isOrdinary, state.kind != .publisher {
            let old = state.keys.isEmpty ? nil : state.timeline
            try Invariants.check(timeline, after: old, at: now, givingUp: givenUp)
        }
        var changes = changes
        for var change in KeysetChanges(from: state.timeline, to: timeline).keys {
            if let record = added[change.kid] {
                change.jwk = try PublicJWK(record)
                change.demandsPSK = record.hasPSK
            }
            if let index = changes.keys.firstIndex(where: { $0.kid == change.kid }) {
                // A key that was found again: its moments are in the log already.
                let known = state.key(change.kid)?.lifecycle ?? KeyLifecycle()
                changes.keys[index].moments = change.moments.filter { $0.value != known[keyPath: $0.key.path] }
            } else {
                changes.keys.append(change)
            }
        }
        var records = records.merging(added) { _, new in new }
        for key in timeline.keys where key.lifecycle.destroyedAt != nil { records[key.kid] = nil }
        return (changes, records)
    }

    private mutating func keepPrimary() throws {
        if state.kind != .publisher, timeline.primary(at: now) == nil { try sealAtOnce(nil) }
    }

    /// Makes a pending key the primary one now, or a new key.
    ///
    /// - Parameter suite: of a new key; nil for that of the newest key.
    package mutating func sealAtOnce(_ suite: KeyPairType?) throws {
        var pending = timeline.keys(in: .pending, at: now).max { $0.rank < $1.rank }?.kid
        if pending == nil {
            try add(activatesAt: nil, suite: suite)
            pending = timeline.keys.last?.kid
        }
        if let pending { _ = try timeline.promote(pending, at: now, policy, force: true) }
    }

    /// Adds a key that signs beside the others.
    ///
    /// - Throws: `LifecycleError` with `wrongState` if an app can't pin as many.
    package mutating func addPublisher() throws {
        let limit = SenderSetPins.maximumPublisherCount
        guard state.keys.count(where: \.hasMaterial) < limit else {
            throw LifecycleError(
                .wrongState, "an app pins at most \(limit) publisher keys: destroy one that no app needs any more")
        }
        try add(activatesAt: nil)
    }
}
