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
    /// - Throws: `KeyError` with `wrongKind` unless the keyset has sender keys, `invalidPolicy` for a lower epoch.
    package mutating func publish(topics: [Topic]?, epoch: Int64?, validForInSeconds: Int64?) throws {
        guard metadata.kind == .sender else {
            throw KeyError(
                .wrongKind,
                "only sender keys are published in a signed set; these are \(metadata.kind.rawValue) keys")
        }
        let old = metadata.publication
        let new = try PublicationPolicy(
            changing: old, topics: topics, epoch: epoch, validForInSeconds: validForInSeconds
        ) { try DefaultBackend.shared.randomBytes(count: SenderSetPublication.setByteCount) }
        guard new != old else { return }
        stored.metadata.publication = new
        events.append(AuditEvent(.publicationChanged, detail: new.json))
    }

    /// Issues the signed set again: the change raises `seq` and `updatedAt`.
    mutating func renewSet() {
        let validUntil = metadata.publication?.validUntil(issuedAt: now)
        events.append(AuditEvent(.renewed, detail: validUntil.map { "the signed set is valid until \($0)" }))
    }
}
