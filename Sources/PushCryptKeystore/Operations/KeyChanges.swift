package import PushCryptCore
package import PushCryptKeysets
package import PushCryptPrimitives

/// What the verbs of `keys` read and change.
extension KeystoreHost {
    /// The public keys. The secret is used unless this host has seen, and so authenticated, the last lines: who can write the
    /// file could put other keys there.
    ///
    /// - Throws: as ``load(_:)``; `KeyError` with `wrongKind` for shared keys, `malformed` if no key is left.
    package func publicKeys(_ path: String) throws -> Keyset {
        if let log = try storage.keyset(path)?.log,
            try storage.history(of: log.state.id)?.log.state.head == log.state.head
        {
            return try Keyset(unauthenticatedPublicKeysOf: log)
        }
        let keyset = try load(path)
        return try Keyset(unauthenticatedPublicKeysOf: keyset.log)
    }

    /// Adds a key of another tool. It is pending for the policy's `publishLead`. A publisher's key signs at once, beside the
    /// others.
    ///
    /// - Throws: `KeyError` with `wrongKind`; `LifecycleError` with `idTaken`; `KeystoreRefusal` with `publisherCount`.
    package func importKey(_ path: String, _ record: KeyRecord) throws -> OpenedKeyset {
        try change(path, .imported) { draft in
            let state = draft.state
            guard record.kind == state.kind else {
                throw KeyError(
                    .wrongKind, "the keyset has \(state.kind.rawValue) keys, and this is a \(record.kind.rawValue) key")
            }
            let isPublisher = state.kind == .publisher
            guard !isPublisher || state.keys.count(where: \.hasMaterial) < SenderSetPins.maximumPublisherCount else {
                throw KeystoreRefusal.publisherCount
            }
            let waits = isPublisher || state.policy.requiredCoverage != nil
            try draft.add(record, activatesAt: waits ? nil : draft.now + state.policy.publishLeadInSeconds)
        }
    }

    /// Erases a key's material for good.
    ///
    /// - Throws: `KeystoreRefusal` with `unknownKey`, `publisherCount` for the last key of a publisher; `LifecycleError` for a
    ///   primary key and one that is destroyed.
    package func destroy(_ path: String, _ kid: KeyID) throws -> OpenedKeyset {
        try change(path, .destroyed) { _ = try $0.destroying(kid) }
    }

    /// Changes the secrets of a keyset, whose names are in the log.
    ///
    /// - Parameter others: secrets that remain, for a change that removes one; the one that has opened the keyset is one of them.
    /// - Throws: `KeystoreRefusal` with `unknownSecret`, `lastSecret`, `secretsNeeded`; `KeystoreError` with `alreadyExists`,
    ///   `cannotCreate`, `wrapCommandFailed`.
    package func changeSecrets(
        _ path: String, _ change: SecretChange, others: [KeysetSecret] = [], _ parameters: ScryptParameters = .standard
    ) throws -> OpenedKeyset {
        try self.change(path, .secrets) { draft in
            draft.secrets = try change.applied(to: draft.secrets, others, parameters)
            draft.changes.secrets = draft.secrets?.names ?? []
        }
    }
}

package enum SecretChange: Sendable {
    /// Also the first secret of keys in clear.
    case add(SecretName, KeysetSecret)
    /// In place of the one of this name; also the first secret of keys in clear.
    case set(SecretName, KeysetSecret)
    case remove(SecretName)
    /// The keys are in clear from now on.
    case removeAll

    fileprivate func applied(
        to secrets: KeysetSecrets?, _ others: [KeysetSecret], _ parameters: ScryptParameters
    ) throws -> KeysetSecrets? {
        switch self {
        case .removeAll: return nil
        case .add(let name, let secret), .set(let name, let secret):
            guard var secrets else { return try KeysetSecrets(ofLog: [(name, secret)], parameters) }
            guard case .set = self else {
                try secrets.add(name, secret, parameters)
                return secrets
            }
            let rest = try Self.rest(of: secrets, without: name, others)
            return try KeysetSecrets(ofLog: rest + [(name, secret)], parameters)
        case .remove(let name):
            guard let secrets else { throw KeystoreRefusal.unknownSecret(name, among: []) }
            let rest = try Self.rest(of: secrets, without: name, others)
            guard !rest.isEmpty else { throw KeystoreRefusal.lastSecret }
            return try KeysetSecrets(ofLog: rest, parameters)
        }
    }

    /// The remaining secrets, which wrap a new keyset key: who knows the removed one can compute the old key from a copy of the
    /// file.
    private static func rest(
        of secrets: KeysetSecrets, without name: SecretName, _ others: [KeysetSecret]
    ) throws(KeystoreRefusal) -> [(name: SecretName, secret: KeysetSecret)] {
        guard secrets.names.contains(name) else { throw .unknownSecret(name, among: secrets.names) }
        let found = secrets.found(among: others, without: name)
        guard found.missing.isEmpty else { throw .secretsNeeded(found.missing) }
        return found.secrets
    }
}

extension KeysetDraft {
    /// Erases a key's material, and says what is lost.
    ///
    /// - Throws: as ``KeystoreHost/destroy(_:_:)``.
    package mutating func destroying(_ kid: KeyID) throws -> [String] {
        guard let key = state.key(kid) else { throw KeystoreRefusal.unknownKey(kid) }
        guard state.kind == .publisher, key.hasMaterial else {
            // The losses are those of the timeline before.
            var timeline = timeline
            guard !key.isLost else {
                try destroy(kid, force: true)
                return []
            }
            let losses = try timeline.destroy(kid, at: now, state.policy, force: true)
            try destroy(kid, force: true)
            return losses
        }
        // Every key of a publisher signs until it is destroyed, and time changes nothing.
        guard state.keys.count(where: \.hasMaterial) > 1 else { throw KeystoreRefusal.publisherCount }
        set(.destroyedAt, of: kid, to: now)
        return ["apps that pin no other key of this publisher accept no further set"]
    }

    /// Changes what is signed for apps; nil leaves a part of it.
    ///
    /// - Throws: `KeyError` with `wrongKind` for other than senders; `KeystoreRefusal` with `noPublication`.
    package mutating func publish(topics: [Topic]?, validForInSeconds: Int64?) throws {
        guard topics != nil || validForInSeconds != nil else { return }
        try requireSenders()
        let old = state.publication
        guard let topics = topics ?? old?.topics else { throw KeystoreRefusal.noPublication }
        let validFor = validForInSeconds ?? old?.validForInSeconds ?? KeysetChanges.Publication.standardInSeconds
        let new = KeysetChanges.Publication(topics: topics, validForInSeconds: validFor)
        if new != old { changes.publication = new }
    }

    /// Names the publisher of an epoch, or ends it.
    ///
    /// - Throws: `KeyError` with `wrongKind` for other than senders; `KeystoreRefusal` with `epochTaken`, `epochNeeded`.
    package mutating func setEpoch(_ epoch: Int64, _ publisher: KeysetID?) throws {
        try requireSenders()
        let old = state.epochs[epoch]
        guard let publisher else {
            guard old != nil else { throw KeystoreRefusal.epochNeeded(state.epochs.keys.sorted()) }
            changes.epochs[epoch] = .some(nil)
            return
        }
        guard old == nil || old == publisher else { throw KeystoreRefusal.epochTaken(epoch) }
        if old == nil { changes.epochs[epoch] = .some(publisher) }
    }

    private func requireSenders() throws(KeyError) {
        guard state.kind == .sender else {
            throw KeyError(.wrongKind, "sets are signed of sender keys; these are \(state.kind.rawValue) keys")
        }
    }
}

extension KeysetChanges.Publication {
    package static let standardInSeconds: Int64 = 60 * 86_400
    /// Half of a set's validity is the time in which a dead `rotate` can be noticed.
    private static let shortestInSeconds: Int64 = 14 * 86_400

    /// What holds for every new publication. A reader accepts shorter validities.
    ///
    /// - Throws: `KeystoreRefusal` with `publicationLimits`.
    func requireLimits() throws(KeystoreRefusal) {
        let days = Self.shortestInSeconds...SenderSetPublication.maximumValidityInSeconds
        guard days.contains(validForInSeconds), Set(topics).count == topics.count,
            (1...SenderSetPublication.maximumTopicCount).contains(topics.count)
        else { throw .publicationLimits }
    }
}

extension OpenedKeyset {
    /// What an app bundles to verify the signed sets of one epoch of a sender keyset. Both keysets are authenticated: a forged
    /// publisher key would go into an app.
    ///
    /// - Parameters:
    ///   - epoch: nil for the only one.
    ///   - publisher: gives the publisher with an id.
    /// - Throws: `KeystoreRefusal` with `epochNeeded`, `otherPublisher`; `KeyError`.
    package func pins(epoch: Int64?, publisher: (KeysetID) throws -> OpenedKeyset?) throws -> [UInt8] {
        let epochs = state.epochs
        guard let epoch = epoch ?? (epochs.count == 1 ? epochs.keys.first : nil), let id = epochs[epoch] else {
            throw KeystoreRefusal.epochNeeded(epochs.keys.sorted())
        }
        guard let publisher = try publisher(id), publisher.state.id == id else {
            throw KeystoreRefusal.otherPublisher(epoch: epoch)
        }
        // A revoked key signs for the apps that pin it already. No new app trusts it.
        let keys = publisher.state.keys.filter { $0.hasMaterial && $0.lifecycle.revokedAt == nil }
            .compactMap { publisher.material.records[$0.kid] }
        guard !keys.isEmpty else { throw KeystoreRefusal.publisherCount }
        let records = keys.map { $0.publicRecord(keepingPSK: false) }
        return try SenderSetPins(publishers: records, set: state.id.bytes, epoch: epoch).json
    }
}

extension KeystoreHost {
    /// Reads a keyset without its secret and compares it with what the host has seen. Nothing authenticates its log.
    ///
    /// - Throws: `KeystoreRefusal` with `missing`, `olderThanHistory`, `twoHistories`; what the storage throws.
    package func read(_ path: String) throws -> KeysetLog {
        guard var log = try storage.keyset(path)?.log else { throw KeystoreRefusal.missing(path: path) }
        let history = try storage.history(of: log.state.id)
        if let seen = history?.log, !log.extends(seen), let newer = try storage.keyset(path)?.log {
            // Another process may have changed the keyset between the two reads.
            log = newer
        }
        try requireExtension(log, of: history)
        return log
    }
}
