import PushCryptCore
import PushCryptFiles
import PushCryptKeysets

/// What a set that a web server serves says about itself. Its signature isn't verified: apps do that, and another publisher may
/// have signed it.
struct ServedSet {
    let path: String
    /// The set itself, as JSON: in a signed set, what is signed.
    let payload: [UInt8]
    /// Of a signed set.
    let publication: SenderSetPublication?
    let keys: PublicKeyList
    /// The publisher keys that a signed set names.
    let signers: Set<KeyID>

    static func suffix(isSigned: Bool) -> String { isSigned ? ".json" : ".jwks.json" }

    /// - Returns: nil for bytes that are no set that `keys publish` writes.
    init?(_ bytes: [UInt8], path: String, isSigned: Bool) {
        let payload = isSigned ? (try? JSONText(bytes).root["payload"]?.utf8).flatMap(Base64URL.decode) : bytes
        guard let payload, let root = try? JSONText(payload).root, let keys = PublicKeyList(root) else { return nil }
        publication = isSigned ? root["pushcrypt"].flatMap { try? SenderSetPublication($0) } : nil
        guard !isSigned || publication != nil else { return nil }
        signers = isSigned ? (try? SignedSenderSet.namedSigners(of: bytes)) ?? [] : []
        self.path = path
        self.payload = payload
        self.keys = keys
    }

    /// Without the suffix.
    var name: String { String(FileSystem.name(of: path).dropLast(Self.suffix(isSigned: isSigned).count)) }
    /// The name without the number of a copy.
    var nameOfCopies: String {
        guard let dot = name.lastIndex(of: "."), Int64(name[name.index(after: dot)...]) != nil else { return name }
        return String(name[..<dot])
    }
    /// The name of the copy that `keys publish` writes with the set.
    var nameOfNumberedCopy: String { "\(nameOfCopies).\(sequence)\(Self.suffix(isSigned: isSigned))" }
    var isSigned: Bool { publication != nil }
    var sequence: Int64 { keys.sequence }

    /// Whether it is a set of the keyset, perhaps of an earlier or a later state.
    func belongs(to metadata: KeysetMetadata) -> Bool {
        keys.hasKey(of: metadata.timeline) || publication.map { $0.set == metadata.publication?.set } ?? false
    }

    /// Whether the set is for the same apps or senders as another one: a set that was renamed isn't lost.
    func hasSameReaders(_ other: ServedSet) -> Bool {
        isSigned == other.isSigned && publication?.epoch == other.publication?.epoch
    }

    /// Whether this is a signed set of the same keyset as another one, for apps that pin another epoch.
    func hasOtherEpoch(than other: ServedSet) -> Bool {
        guard let own = publication, let old = other.publication else { return false }
        return own.set == old.set && own.epoch != old.epoch
    }

    /// When to publish the set again under its name, if the folder has sets of several epochs; nil for public keys.
    var epochNote: String? {
        publication.map { "if the apps that fetch this file pin epoch \($0.epoch)" }
    }

    /// The keys that the keyset uses and the set lacks.
    func lacking(_ timeline: KeyTimeline) -> [KeyTimeline.Key] {
        timeline.keys.filter { key in
            key.lifecycle.revokedAt == nil && key.lifecycle.destroyedAt == nil && !keys.kids.contains(key.kid)
        }
    }

    /// The keys that the keyset has never had, and that no restoration lost: another host may use them. A set without a signature has no
    /// time, so it may be from before the restoration.
    func foreignKeys(_ timeline: KeyTimeline, _ log: AuditLog?) -> [KeyID] {
        let unknown = keys.unknown(to: timeline)
        if let lostAt = log?.lostAt, (publication?.issuedAt ?? lostAt) <= lostAt { return [] }
        return unknown.isEmpty ? [] : unknown.filter { log?.keys.contains($0) != true }
    }

    /// Whether the set has keys, and the keyset has never had one of them.
    func hasOnlyForeignKeys(_ timeline: KeyTimeline, _ log: AuditLog) -> Bool {
        !keys.kids.isEmpty && keys.kids.isDisjoint(with: log.keys.union(timeline.keys.map(\.kid)))
    }

    /// Whether the set was made under a clock that was ahead of this time. Without a signature it has no time, but `rotate` adds no key
    /// earlier than the lead before it seals.
    func isFromFuture(_ policy: RotationPolicy, at time: UnixTime) -> Bool {
        if let publication { return publication.issuedAt > time }
        return keys.lastActivation.map { $0 > time + policy.publishLeadInSeconds + PublishedSet.clockTolerance }
            ?? false
    }

    /// Whether the set was issued after a key was made. Only a signed set has a time.
    func isLater(than lifecycle: KeyLifecycle) -> Bool {
        guard let issuedAt = publication?.issuedAt, let createdAt = lifecycle.createdAt else { return false }
        return createdAt < issuedAt
    }

    /// That apps which accepted this signed set refuse a new one of the same epoch, because it ends before the time of this one
    /// (PROTOCOL section 10); nil if they don't.
    func refusal(of new: SenderSetPublication) -> String? {
        guard let old = publication, old.set == new.set, old.epoch == new.epoch, new.validUntil <= old.issuedAt else {
            return nil
        }
        return
            "\(path) was issued at \(old.issuedAt), under a wrong clock: apps that have fetched it refuse this set, which ends "
            + "at \(new.validUntil), until an update of the app has another epoch: docs/runbooks/wrong-clock.md"
    }

    /// Whether the set is that of the keyset's last change, which has the same `seq`. Its keys aren't compared bit by bit.
    func isSet(of metadata: KeysetMetadata) -> Bool {
        let timeline = metadata.timeline
        guard let publication else { return !PublicCondition(payload, metadata, nil).isForeign }
        return publication.issuedAt == timeline.updatedAt
            && keys.kids == Set(timeline.keys.filter { $0.lifecycle.destroyedAt == nil }.map(\.kid))
    }
}

extension KeysetMetadata {
    /// Whether apps may pin an earlier epoch of the signed set than its own.
    var hasEarlierEpochs: Bool { publication.map { $0.epoch > 1 } ?? false }

    /// Whether `keys publish` writes such a set of the keyset.
    func hasSet(isSigned: Bool) -> Bool { isSigned ? signedSet != nil : [.recipient, .sender].contains(kind) }
}
