package import PushCryptCore

/// What a keyset is after a line of its log: the fold of the lines up to it.
package struct KeysetState: Hashable, Sendable {
    package struct Key: Hashable, Sendable {
        package let kid: KeyID
        /// nil for a shared key.
        package let jwk: PublicJWK?
        package let demandsPSK: Bool
        package fileprivate(set) var lifecycle = KeyLifecycle()
        /// Whether no file has the key's material. The key does nothing and isn't published.
        package fileprivate(set) var isLost = false
        /// When each moment was written: a line that corrects a clock moves those of wrong lines.
        package fileprivate(set) var writtenAt: [KeysetChanges.Moment: UnixTime] = [:]

        package var algorithm: KeyAlgorithm { jwk?.algorithm ?? .shared }
        /// Whether a file of the keyset has the key's material.
        package var hasMaterial: Bool { lifecycle.destroyedAt == nil && !isLost }
    }

    /// A line `published`.
    package struct Published: Hashable, Sendable {
        package let number: Int64
        package let issuedAt: UnixTime
        /// nil for a set without a signature.
        package let validUntil: UnixTime?
    }

    package let id: KeysetID
    package let kind: KeyKind
    /// The last line.
    package private(set) var head: LogPoint
    package private(set) var at: UnixTime
    /// The time of the last line whose clock was checked: not of a revocation, and not of the sets that are published directly
    /// after it.
    package private(set) var checkedAt: UnixTime
    private var isUnchecked = false
    /// In the order in which they were added.
    package private(set) var keys: [Key] = []
    package private(set) var policy = RotationPolicy.standard
    package private(set) var publication: KeysetChanges.Publication?
    package private(set) var epochs: [Int64: KeysetID] = [:]
    package private(set) var writer: String?
    package private(set) var secrets: [SecretName] = []
    /// The latest `issuedAt` of all lines.
    package private(set) var issuedAt: UnixTime?
    /// The number of the last line after which sets are published again: a change of keys or publication, a restoration, which
    /// may give up later sets, and a corrected clock, because a set of the wrong one lists ends of keys.
    package private(set) var lastChange: Int64 = 0
    /// The last line `published` of each epoch; with the key nil, of the sets without a signature.
    package private(set) var published: [Int64?: Published] = [:]
    /// The last published point of each publisher's log.
    package private(set) var publisherPoints: [KeysetID: LogPoint] = [:]
    /// Revocations of keys that only other logs of this keyset have had.
    package private(set) var revokedElsewhere: [KeyID: UnixTime] = [:]
    private var indexOfKey: [KeyID: Int] = [:]

    /// The state after line 1.
    ///
    /// - Throws: `KeysetLogError`.
    init(_ line: KeysetLine, hash: [UInt8]) throws(KeysetLogError) {
        guard let origin = line.origin else { throw KeysetLogError(.misplaced, row: 1, "id") }
        (id, kind) = (origin.id, origin.kind)
        head = LogPoint(number: 0, hash: [UInt8](repeating: 0, count: KeysetLine.hashByteCount))
        (at, checkedAt) = (line.at, line.at)
        try apply(line, hash: hash, row: 1)
    }

    package func key(_ kid: KeyID) -> Key? { indexOfKey[kid].map { keys[$0] } }

    /// When each key was revoked that ever was.
    package var revocations: [KeyID: UnixTime] {
        keys.reduce(into: revokedElsewhere) { $0[$1.kid] = $1.lifecycle.revokedAt }
    }

    /// The keys that aren't lost, as they count: a revocation whose time is to come, because a clock was wrong, counts at once.
    package var timeline: KeyTimeline {
        KeyTimeline(keys.filter { !$0.isLost }.map { KeyTimeline.Key($0.kid, effective($0)) }, updatedAt: at)
    }

    /// The moments of a key as they count.
    package func effective(_ key: Key) -> KeyLifecycle {
        var lifecycle = key.lifecycle
        lifecycle.revokedAt = lifecycle.revokedAt.map { min($0, at) }
        return lifecycle
    }

    /// - Parameters:
    ///   - hash: of the line.
    ///   - row: counted from 1, for errors.
    /// - Throws: `KeysetLogError` with `wrongNumber`, `brokenChain`, `timeWentBack`, `misplaced`, `wrongKind`, `unknownEpoch`.
    mutating func apply(_ line: KeysetLine, hash: [UInt8], row: Int) throws(KeysetLogError) {
        func require(_ condition: Bool, _ code: KeysetLogError.Code, _ member: String) throws(KeysetLogError) {
            guard condition else { throw KeysetLogError(code, row: row, member) }
        }
        let changes = line.changes
        try require(
            line.number == head.number + 1 || line.action == .restored && line.number > head.number, .wrongNumber, "n")
        try require(line.previous == head.hash, .brokenChain, "prev")
        try require(line.at >= at || line.action == .clockCorrected, .timeWentBack, "at")
        try require(changes.policy == nil || kind != .publisher, .misplaced, "policy")
        try require(changes.publication == nil || kind == .sender, .misplaced, "publication")
        try require(changes.epochs.isEmpty || kind == .sender, .misplaced, "epochs")
        if let time = changes.issuedAt {
            try require(issuedAt.map { $0 <= time } ?? true, .timeWentBack, "issuedAt")
            issuedAt = time
        }
        for change in changes.keys { try apply(change, at: line.at, row: row) }
        try require(changes.revoked.keys.allSatisfy { indexOfKey[$0] == nil }, .misplaced, "revoked")
        revokedElsewhere.merge(changes.revoked) { first, _ in first }
        for (epoch, publisher) in changes.epochs { epochs[epoch] = publisher }
        policy = changes.policy ?? policy
        publication = changes.publication ?? publication
        writer = changes.writer ?? writer
        secrets = changes.secrets ?? secrets
        (head, at) = (LogPoint(number: line.number, hash: hash), line.at)
        isUnchecked = line.action == .revoked || line.action == .published && isUnchecked
        if !isUnchecked { checkedAt = line.at }
        let isChange = !changes.keys.isEmpty || changes.publication != nil || !changes.epochs.isEmpty
        if isChange || [.restored, .clockCorrected].contains(line.action) { lastChange = line.number }
        guard line.action == .published, let issuedAt = changes.issuedAt else { return }
        try require(changes.epoch.map { epochs[$0] != nil } ?? true, .unknownEpoch, "epoch")
        published[changes.epoch] = Published(
            number: line.number, issuedAt: issuedAt, validUntil: changes.validUntil)
        if let publisher = changes.publisher { publisherPoints[publisher.id] = publisher.point }
    }

    private mutating func apply(_ change: KeysetChanges.Key, at time: UnixTime, row: Int) throws(KeysetLogError) {
        func error(_ code: KeysetLogError.Code, _ member: String) -> KeysetLogError {
            KeysetLogError(code, row: row, "keys.\(change.kid).\(member)")
        }
        if let jwk = change.jwk, kind != .shared, jwk.algorithm.kind != kind { throw error(.wrongKind, "jwk") }
        if change.demandsPSK, kind != .recipient { throw error(.misplaced, "psk") }
        let index = indexOfKey[change.kid] ?? keys.count
        if index == keys.count {
            guard (change.jwk == nil) == (kind == .shared) else { throw error(.misplaced, "jwk") }
            guard revokedElsewhere[change.kid] == nil else {
                throw KeysetLogError(.misplaced, row: row, "keys.\(change.kid)")
            }
            keys.append(Key(kid: change.kid, jwk: change.jwk, demandsPSK: change.demandsPSK))
            indexOfKey[change.kid] = index
        } else {
            guard change.jwk == nil else { throw error(.misplaced, "jwk") }
            guard !change.demandsPSK else { throw error(.misplaced, "psk") }
        }
        for (moment, value) in change.moments {
            if KeystoreRule.final.isOn, moment.isFinal, keys[index].lifecycle[keyPath: moment.path] != nil { continue }
            keys[index].lifecycle[keyPath: moment.path] = value
            keys[index].writtenAt[moment] = time
        }
        keys[index].isLost = change.isLost ?? keys[index].isLost
    }
}
