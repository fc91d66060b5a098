package import PushCryptCore
package import PushCryptKeysets
package import PushCryptPrimitives

/// Changes an unlocked keyset. Every change is made by this type, which checks it and adds a line to the audit log.
package struct KeysetEditor: Sendable {
    package internal(set) var stored: StoredKeyset
    /// The time of the change: the clock's, but no earlier than the last change.
    package let now: UnixTime
    package internal(set) var events: [AuditEvent] = []
    /// Descriptions of the pushes that devices can't open because of the changes.
    package internal(set) var losses: [String] = []
    var givenUp: Set<KeyID> = []
    /// The keyset before the changes; it has no keys if it is new.
    private let old: KeysetMetadata
    /// Why the clock seems to be far ahead; nil if it doesn't, or if an operator has confirmed it.
    private let clockObjection: String?

    /// - Parameter confirmsClock: whether an operator has confirmed a clock that seems to be far ahead.
    package init(_ stored: StoredKeyset, at time: UnixTime, confirmsClock: Bool = false) {
        self.stored = stored
        old = stored.metadata
        now = old.timeline.effective(time)
        let isBehind = old.timeline.clockIsBehind(at: time) != nil
        clockObjection = confirmsClock || isBehind ? nil : old.timeline.clockObjection(to: time, old.policy)
    }

    /// The losses of changes, computed without keys and without writing.
    ///
    /// - Throws: what `body` throws; `LifecycleError` with `blocked` if the clock seems to be far ahead, or on another host than
    ///   the writer.
    package static func losses(
        of metadata: KeysetMetadata, at time: UnixTime, confirmsClock: Bool = false, by actor: Actor, in path: String,
        _ body: (inout KeysetEditor) throws -> Void
    ) throws -> [String] {
        var editor = KeysetEditor(
            StoredKeyset(metadata: metadata, records: [:], protection: .plaintext, secret: nil), at: time,
            confirmsClock: confirmsClock)
        try body(&editor)
        if !editor.events.isEmpty {
            try editor.requireClock()
            _ = try editor.writer(of: actor, path)
        }
        return editor.losses
    }

    package var metadata: KeysetMetadata { stored.metadata }
    var policy: RotationPolicy { stored.metadata.policy }

    /// Makes a key, with a psk if the newest key has one.
    ///
    /// - Parameters:
    ///   - activatesAt: nil if an operator must promote the key.
    ///   - suite: of a recipient's key; nil for the suite of the keyset's newest key.
    /// - Throws: `KeyError` with `wrongKind` as for a key that is given, or for a suite in a keyset of other keys;
    ///   `CryptoError` with `unsupportedAlgorithm`.
    @discardableResult
    package mutating func add(activatesAt: UnixTime?, suite: KeyPairType? = nil) throws -> KeyID {
        let traits = newestTraits
        guard suite == nil || metadata.kind == .recipient else {
            throw KeyError(
                .wrongKind,
                "the keyset contains \(metadata.kind.rawValue) keys, and only recipient keys have a choice of suite")
        }
        let record = try KeyRecord.generate(
            metadata.kind, type: suite ?? traits?.suite.keyPairType ?? .p256, psk: traits?.demandsPSK ?? false,
            backend: DefaultBackend.shared)
        try add(record, activatesAt: activatesAt, as: .added)
        return record.kid
    }

    /// Adds a key, for example one that was imported.
    ///
    /// - Throws: `KeyError` with `wrongKind` for a key of another kind, or for one that a quantum computer can open after one
    ///   that it can't: the keyset would go back without a word.
    package mutating func add(_ record: KeyRecord, activatesAt: UnixTime?, as action: AuditEvent.Action) throws {
        guard record.kind == metadata.kind else {
            throw KeyError(
                .wrongKind,
                "the keyset contains \(metadata.kind.rawValue) keys; key \(record.kid) is a "
                    + "\(record.kind.rawValue) key")
        }
        if newestTraits?.suite == .xWing, record.algorithm != .xWing {
            throw KeyError(
                .wrongKind,
                "the newest key has suite 3, which resists quantum computers, and key \(record.kid) has "
                    + "\(record.algorithm.rawValue): a keyset never goes back; for devices without suite 3 make another keyset"
            )
        }
        if metadata.kind == .publisher { try requireRoomForPublisher(activatesAt: activatesAt) }
        try stored.metadata.timeline.add(record.kid, activatesAt: activatesAt, at: now, policy)
        stored.records[record.kid] = record
        stored.metadata.traits[record.kid] = .init(suite: record.algorithm, demandsPSK: record.hasPSK)
        let waiting = metadata.kind == .publisher ? "signs sets beside the others" : "waits to be promoted"
        let detail = activatesAt.map { $0 <= now ? "seals at once" : "seals from \($0)" } ?? waiting
        events.append(AuditEvent(action, record.kid, detail: detail))
    }

    package mutating func promote(_ kid: KeyID, force: Bool) throws {
        try refusePublisher("promoted", "every publisher key signs until it is destroyed")
        let loss = try stored.metadata.timeline.promote(kid, at: now, policy, force: force)
        note(.promoted, kid, loss)
    }

    package mutating func retire(_ kid: KeyID) throws {
        try refusePublisher("retired", "every publisher key signs until it is destroyed")
        let loss = try stored.metadata.timeline.retire(kid, at: now, policy)
        note(.retired, kid, loss)
    }

    /// Revokes a key. If it is the primary, also makes or promotes its successor.
    ///
    /// - Parameter successor: a pending key to promote instead of making a new one.
    /// - Returns: the successor's kid; nil if the key wasn't the primary.
    @discardableResult
    package mutating func revoke(_ kid: KeyID, successor: KeyID? = nil) throws -> KeyID? {
        try refusePublisher(
            "revoked",
            "apps trust them until an update pins other publishers; for a stolen key, ship an update with other publishers "
                + "and a higher epoch, then destroy the key")
        let wasPrimary = metadata.timeline.state(of: kid, at: now) == .primary
        guard wasPrimary || successor == nil else {
            throw LifecycleError(.wrongState, "key \(kid) is not the primary one; revoking it needs no successor")
        }
        var changed = self
        let loss = try changed.stored.metadata.timeline.revoke(kid, at: now, policy)
        changed.note(.revoked, kid, loss)
        changed.givenUp.insert(kid)
        let new = wasPrimary ? try changed.replaceRevoked(by: successor) : nil
        self = changed
        return new
    }

    private mutating func replaceRevoked(by successor: KeyID?) throws -> KeyID {
        if let successor {
            try promote(successor, force: true)
            return successor
        }
        let new = try add(activatesAt: now)
        losses.append("devices show a placeholder for every push until they have fetched the new key")
        return new
    }

    package mutating func destroy(_ kid: KeyID, force: Bool) throws {
        guard metadata.kind != .publisher else { return try destroyPublisher(kid, force: force) }
        let loss = try stored.metadata.timeline.destroy(kid, at: now, policy, force: force)
        stored.records[kid] = nil
        givenUp.insert(kid)
        note(.destroyed, kid, loss)
    }

    package mutating func adopt(_ policy: RotationPolicy) throws {
        try refusePublisher("rotated by a policy", "they change with an app update")
        let old = self.policy
        guard policy != old else { return }
        stored.metadata.policy = policy
        let postponed = stored.metadata.timeline.adopt(policy, after: old, at: now).map { kid in
            let activatesAt = metadata.timeline.key(kid)?.lifecycle.activatesAt
            return "; key \(kid) " + (activatesAt.map { "seals from \($0)" } ?? "waits to be promoted")
        }
        events.append(AuditEvent(.policyChanged, detail: policy.json + postponed.joined()))
    }

    /// Changes how the keys are encrypted from now on.
    package mutating func protect(_ protection: Protection, _ secret: KeysetSecret?) {
        var detail = protection.name
        if let names = stored.secrets?.names {
            detail += ", instead of the secrets " + names.map(\.description).joined(separator: ", ")
        }
        stored.protection = protection
        stored.secret = secret
        stored.secrets = nil
        events.append(AuditEvent(.protectionChanged, detail: detail))
    }

    /// Adds a secret that opens the keys like the others.
    ///
    /// - Parameter firstName: the name of the only secret until now.
    package mutating func addSecret(
        _ name: SecretName, _ secret: KeysetSecret, namingFirst firstName: SecretName,
        _ parameters: ScryptParameters = .standard
    ) throws {
        guard let first = stored.secret else {
            throw KeystoreError(.notEncrypted, "the keys are not encrypted: use keys passwd, which gives them a secret")
        }
        var secrets = try stored.secrets ?? KeysetSecrets([(firstName, first)], stored.parameters)
        try secrets.add(name, secret, parameters)
        keep(secrets, "added secret \(name) (\(secret.isCommand ? "external command" : "passphrase"))")
    }

    /// Removes a secret and makes a new keyset key, which a user with an old copy and the removed secret doesn't have.
    ///
    /// - Parameters:
    ///   - others: the remaining secrets; the one that unlocked the keys is known.
    ///   - path: the keyset, for messages.
    ///   - command: the command that removes the secret, for the message that asks for further options.
    package mutating func removeSecret(
        _ name: SecretName, others: [KeysetSecret], of path: String, command: String,
        _ parameters: ScryptParameters = .standard
    ) throws {
        guard let secrets = stored.secrets, let secret = stored.secret else {
            throw KeystoreError(
                .notFound,
                "\(path): \(name) can't be removed, because the keyset has only one secret, without a name; `keys passwd` replaces it"
            )
        }
        let remaining = try secrets.remaining(without: name, [secret] + others, path, command: command)
        if remaining.count == 1 {
            stored.secrets = nil
            stored.secret = remaining[0].secret
            stored.protection = remaining[0].secret.isCommand ? .command : .passphrase(parameters)
            events.append(AuditEvent(.protectionChanged, detail: "removed secret \(name); one is left"))
        } else {
            keep(try KeysetSecrets(remaining, parameters), "removed secret \(name)")
        }
    }

    private mutating func keep(_ secrets: KeysetSecrets, _ detail: String) {
        stored.secrets = secrets
        stored.protection = secrets.protection
        events.append(AuditEvent(.protectionChanged, detail: detail))
    }

    /// Makes another host the one that changes the keyset.
    package mutating func handOver(to writer: String) {
        guard writer != metadata.writer else { return }
        let former = metadata.writer.map { " instead of \($0)" } ?? ""
        stored.metadata.writer = writer
        events.append(AuditEvent(.writerChanged, detail: writer + former))
    }

    mutating func restartLog(_ oldName: String, _ flaw: String) {
        stored.metadata.audit = .none
        events.append(AuditEvent(.logRestarted, detail: "\(flaw); the old log is \(oldName)"))
    }

    /// Logs that changes are unknown, and raises `seq` above that of every file.
    mutating func loseLog(_ unknown: String, highestSequence: Int64) {
        stored.metadata.sequence = max(metadata.sequence, highestSequence)
        events.append(AuditEvent(.logLost, detail: unknown))
    }

    /// - Returns: the steps and the keys that they added, promoted or erased; nil for a step without a key.
    package mutating func carryOut(_ plan: RotationPlan) throws -> [(step: RotationPlan.Step, kid: KeyID?)] {
        try plan.due.map { step in
            switch step.action {
            case .add(let activatesAt): return (step, try add(activatesAt: activatesAt))
            case .promote(let kid):
                try promote(kid, force: false)
                return (step, kid)
            case .destroy(let kid):
                try destroy(kid, force: false)
                return (step, kid)
            case .renew:
                renewSet()
                return (step, nil)
            }
        }
    }

    /// Checks the changes, and raises `seq` and `updatedAt`. Everything that is written comes from here.
    ///
    /// - Parameter path: the keyset's folder, for messages.
    /// - Throws: `LifecycleError` with `blocked` if the clock seems to be far ahead or on another host than the writer,
    ///   `invariantBroken`; `KeyError` with `tooLarge` if the signed set would have too many keys.
    func finished(by actor: Actor, at path: String) throws -> StoredKeyset {
        try requireClock()
        let writer = try writer(of: actor, path)
        try Invariants.check(
            metadata.timeline, after: old.timeline.keys.isEmpty ? nil : old.timeline, at: now, givingUp: givenUp)
        try requirePublishableCount(after: old)
        guard metadata.sequence < UnixTime.protocolRange.upperBound else {
            throw LifecycleError(
                .invariantBroken, "the keyset's seq is the highest number that files can hold: make a new keyset")
        }
        var result = stored
        result.metadata.sequence += 1
        result.metadata.writer = writer
        result.metadata.timeline.updatedAt = now
        result.metadata.audit = try AuditLog.head(after: metadata.audit, events: events, actor: actor, at: now)
        return result
    }

    /// The host that the keyset records after the change: the one of the first change, until a host takes it over.
    private func writer(of actor: Actor, _ path: String) throws(LifecycleError) -> String? {
        guard let recorded = metadata.writer, recorded == old.writer else { return metadata.writer ?? actor.writer }
        try Writer.require(recorded, actor, path)
        return recorded
    }

    private func requireClock() throws(LifecycleError) {
        guard let clockObjection else { return }
        throw LifecycleError(.blocked, clockObjection)
    }

    mutating func note(_ action: AuditEvent.Action, _ kid: KeyID, _ losses: [String]) {
        self.losses += losses
        events.append(
            AuditEvent(action, kid, detail: losses.isEmpty ? nil : losses.joined(separator: "; ")))
    }

    private var newestTraits: KeysetMetadata.Traits? {
        let newest = metadata.timeline.keys.max {
            ($0.lifecycle.createdAt ?? UnixTime(.min), $0.kid) < ($1.lifecycle.createdAt ?? UnixTime(.min), $1.kid)
        }
        return newest.flatMap { metadata.traits[$0.kid] }
    }
}
