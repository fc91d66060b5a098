package import PushCryptCore
import PushCryptKeysets
import PushCryptPrimitives

/// Publisher keys (PROTOCOL section 10). Apps trust the publishers that their bundle pins. So every publisher key signs from
/// its creation until it is destroyed, and time changes nothing.
extension KeysetEditor {
    /// - Throws: `LifecycleError` with `wrongState` for publisher keys.
    func refusePublisher(_ participle: String, _ advice: String) throws(LifecycleError) {
        guard metadata.kind == .publisher else { return }
        throw LifecycleError(.wrongState, "publisher keys are not \(participle): \(advice)")
    }

    /// - Throws: `LifecycleError` if an app couldn't pin all publisher keys, or if one of them would end another one.
    func requireRoomForPublisher(activatesAt: UnixTime?) throws(LifecycleError) {
        let remaining = metadata.timeline.keys.filter { $0.lifecycle.destroyedAt == nil }
        guard !remaining.isEmpty else { return }
        guard activatesAt == nil else {
            throw LifecycleError(.wrongState, "a publisher key signs at once, beside the others; give no time")
        }
        let limit = SenderSetPins.maximumPublisherCount
        guard remaining.count < limit else {
            throw LifecycleError(
                .wrongState, "an app pins at most \(limit) publisher keys: destroy one that no app needs any more")
        }
    }

    /// Destroys a publisher key. If it is the primary, the oldest other key becomes the primary in the same step.
    mutating func destroyPublisher(_ kid: KeyID, force: Bool) throws {
        var changed = self
        if metadata.timeline.state(of: kid, at: now) == .primary {
            guard let heir = metadata.timeline.keys(in: .pending, at: now).min(by: { $0.rank < $1.rank }) else {
                throw LifecycleError(
                    .invariantBroken,
                    "key \(kid) is the only publisher key: add another one, and ship an app update that pins it")
            }
            _ = try changed.stored.metadata.timeline.promote(heir.kid, at: now, policy, force: true)
            changed.note(.promoted, heir.kid, [])
        }
        _ = try changed.stored.metadata.timeline.destroy(kid, at: now, policy, force: true)
        let loss = "apps that pin no other publisher accept no further set"
        guard force else {
            throw LifecycleError(
                .blocked,
                "\(loss): ship an update that pins another publisher before you destroy key \(kid), or use --force")
        }
        changed.stored.records[kid] = nil
        changed.givenUp.insert(kid)
        changed.note(.destroyed, kid, [loss])
        self = changed
    }
}

/// The signed set of a sender keyset.
extension KeysetEditor {
    /// Changes how the set is published. A value that is nil doesn't change; the first change needs topics.
    ///
    /// - Parameter sequence: the `seq` of the keyset after this change, for a keyset that was restored from a backup: apps
    ///   refuse a set with a lower `seq` than the one that they have accepted.
    ///   Also for a keyset without a signed set, whose public keys are published.
    ///   The number that it has changes nothing: of two commands that raise it, only the first one does.
    /// - Throws: `KeyError` with `wrongKind` unless the keyset has sender keys, `invalidPolicy` for a lower epoch, a lower `seq`, or less
    ///   than two days.
    package mutating func publish(
        topics: [Topic]?, epoch: Int64?, validForInSeconds: Int64?, sequence: Int64? = nil
    ) throws {
        let isSigned = metadata.publication != nil || topics != nil || epoch != nil || validForInSeconds != nil
        if let sequence, !isSigned, [.recipient, .sender].contains(metadata.kind) {
            guard try isRaise(to: sequence) else { return }
            events.append(AuditEvent(.publicationChanged, detail: raise(to: sequence)))
            return
        }
        guard metadata.kind == .sender else {
            throw KeyError(
                .wrongKind,
                "only sender keys are published in a signed set; these are \(metadata.kind.rawValue) keys")
        }
        let old = metadata.publication
        let new = try PublicationPolicy(
            changing: old, topics: topics, epoch: epoch, validForInSeconds: validForInSeconds
        ) { try DefaultBackend.shared.randomBytes(count: SenderSetPublication.setByteCount) }
        let raised = try sequence.flatMap { try isRaise(to: $0) ? $0 : nil }
        guard new != old || raised != nil else { return }
        var details = [new.json]
        if let raised { details.append(raise(to: raised)) }
        let lost = old.map { Self.losses(from: $0, to: new) } ?? []
        details += lost
        losses += lost
        stored.metadata.publication = new
        events.append(AuditEvent(.publicationChanged, detail: details.joined(separator: "; ")))
    }

    /// - Returns: the words of the log.
    private mutating func raise(to sequence: Int64) -> String {
        defer { stored.metadata.sequence = sequence - 1 }  // The end of the change adds 1.
        return "seq \(sequence) instead of \(metadata.sequence)"
    }

    /// The number to which `publish(topics:epoch:validForInSeconds:sequence:)` raised `seq`; nil for another change.
    static func raisedSequence(_ detail: String) -> Int64? {
        detail.firstMatch(of: /(?:^|; )seq ([0-9]+) instead of [0-9]/).flatMap { Int64($0.1) }
    }

    /// Half of the numbers that files can hold: later changes need the others.
    private static let highestGivenSequence: Int64 = 1 << 52

    /// - Returns: false for the number that the keyset has.
    private func isRaise(to sequence: Int64) throws(KeyError) -> Bool {
        guard sequence >= metadata.sequence else {
            throw KeyError(
                .invalidPolicy,
                "the keyset's seq, which each change raises, is \(metadata.sequence) and never goes down, because apps refuse a set with a "
                    + "lower one: give a higher number; after a restoration, 1 more than the highest of the served set's numbered "
                    + "copies, such as 42 for NAME.41.json")
        }
        guard sequence <= Self.highestGivenSequence else {
            throw KeyError(
                .invalidPolicy,
                "seq is raised to \(Self.highestGivenSequence) at most: later changes need higher numbers")
        }
        return sequence > metadata.sequence
    }

    /// What installed apps lose, because they pin the epoch and have one topic until they are updated.
    private static func losses(from old: PublicationPolicy, to new: PublicationPolicy) -> [String] {
        let epoch =
            "apps that pin epoch \(old.epoch) refuse every further set, unless `keys export --epoch \(old.epoch)` "
            + "makes one for them"
        return (new.epoch > old.epoch ? [epoch] : [])
            + old.topics.filter { !new.topics.contains($0) }.map {
                "apps with the topic \($0) refuse every further set"
            }
    }

    /// Apps refuse a set with too many keys.
    ///
    /// - Throws: `KeyError` with `tooLarge` for a change that adds such a key or publishes such a set.
    func requirePublishableCount(after old: KeysetMetadata) throws(KeyError) {
        let (count, limit) = (metadata.publishedKeyCount, SignedSenderSet.maximumKeyCount)
        guard count > max(limit, old.publishedKeyCount) else { return }
        throw KeyError(
            .tooLarge,
            "the signed set would have \(count) keys, and apps accept at most \(limit): first erase keys that nothing "
                + "needs any more, with `keys prune` or `keys destroy`")
    }

    /// Issues the signed set again: the change raises `seq` and `updatedAt`.
    mutating func renewSet() {
        let validUntil = metadata.publication?.validUntil(issuedAt: now)
        events.append(AuditEvent(.renewed, detail: validUntil.map { "the signed set is valid until \($0)" }))
    }
}

extension KeysetMetadata {
    /// The number of keys in the signed set; 0 without one.
    fileprivate var publishedKeyCount: Int {
        publication == nil ? 0 : timeline.keys.count { $0.lifecycle.destroyedAt == nil }
    }
}
