package import PushCryptCore
package import PushCryptKeysets
import PushCryptPrimitives

/// What publishing did with one document of the served folder.
package struct ServedResult: Sendable {
    package enum Outcome: Sendable {
        case written, unchanged
        /// The log publishes no such set any more.
        case removed
        /// The publisher of the epoch isn't at hand: another host signs.
        case publisherElsewhere
        case refused(KeystoreRefusal)
        /// Signing the set, or reading or writing its file, failed.
        case failed(any Error)
    }

    package let name: String
    /// nil for a set without a signature.
    package let epoch: Int64?
    package let outcome: Outcome

    fileprivate init(_ id: KeysetID, _ epoch: Int64?, _ body: () throws -> Outcome) {
        (name, self.epoch) = (ServedDocument.name(id, epoch), epoch)
        do { outcome = try body() } catch let refusal as KeystoreRefusal {
            outcome = .refused(refusal)
        } catch { outcome = .failed(error) }
    }
}

/// Publication by points.
extension KeystoreHost {
    /// Publishes what the served folder lacks of a keyset. It converges: if nothing has changed and less than half of the validity
    /// has passed, the log stays as it is, and a file is written only if it differs.
    ///
    /// A sender keyset has a signed set for each epoch. Without epochs, and for recipients, there is one set without a signature.
    /// Keysets of other kinds have none.
    ///
    /// - Parameters:
    ///   - publishers: the publisher keysets at hand.
    ///   - replacing: whether served sets are replaced that the log doesn't extend and that no publisher has signed.
    ///   - isUrgent: whether any clock will do, as after a revocation.
    /// - Returns: one result for each document, also if others are refused.
    /// - Throws: as ``lock(_:)``, ``time(for:isUrgent:)`` and ``change(_:_:isUrgent:_:)``; `KeystoreRefusal` with
    ///   `servedAhead`. Nothing was served then.
    package func publish(
        _ path: String, publishers: [OpenedKeyset] = [], replacing: Bool = false, isUrgent: Bool = false
    ) throws -> [ServedResult] {
        var keyset = try lock(path)
        return try publish(&keyset, publishers: publishers, replacing: replacing, isUrgent: isUrgent)
    }

    /// The same for a keyset that is locked.
    package func publish(
        _ keyset: inout LockedKeyset<Storage.Locked>, publishers: [OpenedKeyset], replacing: Bool = false,
        isUrgent: Bool = false
    ) throws -> [ServedResult] {
        keyset = try authenticated(keyset)
        let (id, epochs) = (keyset.state.id, keyset.state.publishedEpochs)
        guard !epochs.isEmpty else { return [] }
        let signing = Signing(publishers, replacing: replacing)
        try requireExtensionOfServed(keyset.log, signing)
        let time = try time(for: keyset, isUrgent: isUrgent)
        let ended = try endedEpochs(keyset.state)
        var refused: [ServedResult] = []
        // All lines first: after an error nobody knows whether a line is in the file, and no other one may follow.
        for epoch in epochs {
            let check = ServedResult(id, epoch) {
                guard signing.hasPublisher(of: epoch, keyset.state) else { return .publisherElsewhere }
                try requirePublishable(keyset.log, epoch, signing)
                return .unchanged
            }
            if case .unchanged = check.outcome {
                keyset = try covering(keyset, epoch, signing, at: time)
            } else {
                refused.append(check)
            }
        }
        let served = epochs.filter { epoch in !refused.contains { $0.epoch == epoch } }.map { epoch in
            ServedResult(id, epoch) { try serve(keyset.log, epoch, signing) }
        }
        return refused + served + remove(ended, of: id)
    }

    /// Whether ``publish(_:publishers:replacing:)`` would write nothing: so no publisher has to be unlocked.
    ///
    /// - Parameter publishers: the logs of those at hand. One counts if this host has seen, and so authenticated, its lines.
    /// - Throws: `KeystoreRefusal` with `setTooLarge`; `KeyError` with `unsupportedSuite`; what the storage throws.
    package func isPublished(_ keyset: LockedKeyset<Storage.Locked>, by publishers: [KeysetLog]) throws -> Bool {
        let (log, state) = (keyset.log, keyset.state)
        guard !state.publishedEpochs.isEmpty else { return true }
        func isKnown(_ log: KeysetLog) throws -> Bool {
            try storage.history(of: log.state.id)?.log.state.head == log.state.head
        }
        guard keyset.isKnown, try endedEpochs(state).isEmpty, try servedAhead(of: log).isEmpty else { return false }
        return try state.publishedEpochs.allSatisfy { epoch in
            let publisher = publishers.first { $0.state.id == epoch.flatMap { state.epochs[$0] } }
            guard isCovered(state, epoch, by: publisher, at: max(clock, state.at)),
                let published = log.lastPublished(epoch),
                let document = try storage.served(ServedDocument.name(state.id, epoch))
            else { return false }
            let payload = try ServedPayload.json(published)
            guard epoch != nil else { return document == payload }
            guard let publisher, try isKnown(publisher), SignedSenderSet.unverifiedPayload(of: document) == payload
            else { return false }
            let keys = publisher.state.keys.filter(\.hasMaterial)
            guard try SignedSenderSet.namedSigners(of: document) == Set(keys.map(\.kid)) else { return false }
            return try keys.compactMap(\.jwk).allSatisfy { jwk in
                let key = try KeyRecord(JSONText(jwk.json).root, backend: DefaultBackend.shared)
                return try SignedSenderSet.isSigned(document, byOneOf: [key])
            }
        }
    }

    /// Signs and publishes the log of another host, which has no publisher.
    ///
    /// - Parameters:
    ///   - sent: what ``unsigned(_:replacing:)`` gave there. This host has no secret to check its mac.
    ///   - publishers: those of all epochs.
    ///   - review: whether a person who compares with the sending host agrees to sign these lines.
    /// - Throws: `KeystoreRefusal` with `olderThanHistory`, `twoHistories`, `noPublication`, `otherPublisher`, `servedAhead`,
    ///   `notReviewed`.
    package func signReceived(
        _ sent: KeysetHistory, publishers: [OpenedKeyset], replacing: Bool = false, review: (UnsignedLines) -> Bool
    ) throws -> [ServedResult] {
        let (log, state) = (sent.log, sent.log.state)
        guard !state.epochs.isEmpty else { throw KeystoreRefusal.noPublication }
        let signing = Signing(publishers, replacing: replacing)
        for epoch in state.epochs.keys.sorted() where !signing.hasPublisher(of: epoch, state) {
            throw KeystoreRefusal.otherPublisher(epoch: epoch)
        }
        let files = try receive(sent, review: review)
        defer { withExtendedLifetime(files) {} }
        try requireExtensionOfServed(log, signing)
        let ended = try endedEpochs(state)
        let served = state.publishedEpochs.map { epoch in
            ServedResult(state.id, epoch) {
                try requirePublishable(log, epoch, signing)
                return try serve(log, epoch, signing)
            }
        }
        return served + remove(ended, of: state.id)
    }

    /// The epochs that have ended and still have a set; nil for the set without a signature of a keyset that has epochs now.
    private func endedEpochs(_ state: KeysetState) throws -> [Int64?] {
        try servedSets(state.id).filter { name, set in
            name == ServedDocument.name(state.id, set.epoch) && !state.publishedEpochs.contains(set.epoch)
        }.map(\.set.epoch)
    }

    private func remove(_ epochs: [Int64?], of id: KeysetID) -> [ServedResult] {
        epochs.map { epoch in
            ServedResult(id, epoch) {
                try storage.removeServed(ServedDocument.name(id, epoch))
                return .removed
            }
        }
    }
}

extension KeystoreHost {
    /// The log for another host that has the publishers, after the lines `published` that are due.
    ///
    /// - Throws: as ``publish(_:publishers:replacing:)``; `KeystoreRefusal` with `noPublication` if the keyset has no epochs or
    ///   names no topics, `servedAhead`.
    package func unsigned(_ path: String, replacing: Bool = false) throws -> KeysetHistory {
        var keyset = try authenticated(lock(path))
        guard !keyset.state.epochs.isEmpty else { throw KeystoreRefusal.noPublication }
        let time = try time(for: keyset)
        let signing = Signing([], replacing: replacing)
        try requireExtensionOfServed(keyset.log, signing)
        for epoch in keyset.state.publishedEpochs {
            try requirePublishable(keyset.log, epoch, signing)
            keyset = try covering(keyset, epoch, signing, at: time)
        }
        return KeysetHistory(keyset.log, mac: keyset.history?.mac)
    }

    /// Locks a keyset, and uses the secret if this host hasn't seen its last lines.
    func authenticated(_ keyset: LockedKeyset<Storage.Locked>) throws -> LockedKeyset<Storage.Locked> {
        guard !keyset.isKnown else { return keyset }
        let opened = try keyset.found.opened()
        let followed = keyset.followed(by: opened, at: clock)
        if let history = followed.history { try keyset.files.setHistory(history, from: keyset.history) }
        return followed
    }

    /// What the host of a publisher checks before it signs the log of another host. Nothing is locked while a person reviews it.
    ///
    /// - Returns: the locked histories.
    /// - Throws: `KeystoreRefusal` with `olderThanHistory`, `twoHistories`, `notReviewed`.
    @discardableResult
    package func receive(_ sent: KeysetHistory, review: (UnsignedLines) -> Bool) throws -> Storage.Locked {
        let log = sent.log
        var seen = try storage.history(of: log.state.id)
        while true {
            try requireExtension(log, of: seen)
            let isNew = seen?.log.state.head != log.state.head
            guard !KeystoreRule.review.isOn || !isNew || review(UnsignedLines(log.state, after: seen?.log.state)) else {
                throw KeystoreRefusal.notReviewed
            }
            let files = try storage.lock(nil)
            let history = try storage.history(of: log.state.id)
            guard history?.log.state.head == seen?.log.state.head else {
                seen = history
                continue
            }
            let received = KeysetHistory(
                log, mac: sent.mac, firstSeen: history == nil ? clock : history?.firstSeen, lastRun: history?.lastRun,
                lastStatus: history?.lastStatus)
            try files.setHistory(received, from: history)
            return files
        }
    }

    /// What must hold before a document is made.
    ///
    /// - Throws: `KeystoreRefusal` with `noPublication`, `olderPublisher`, `publisherKey`.
    private func requirePublishable(_ log: KeysetLog, _ epoch: Int64?, _ signing: Signing) throws {
        let state = log.state
        guard epoch == nil || state.publication != nil else { throw KeystoreRefusal.noPublication }
        if let publisher = signing.publisher(of: epoch, state) {
            if KeystoreRule.publisherPoint.isOn, let point = state.publisherPoints[publisher.state.id],
                !publisher.log.extends(point)
            {
                throw KeystoreRefusal.olderPublisher(published: point)
            }
            // Also a destroyed one: apps may still pin it.
            if let key = state.keys.first(where: { publisher.state.key($0.kid) != nil }) {
                throw KeystoreRefusal.publisherKey(key.kid)
            }
        }
    }

    /// A set of any epoch shows that the log is an old copy.
    ///
    /// - Throws: `KeystoreRefusal` with `servedAhead`.
    private func requireExtensionOfServed(_ log: KeysetLog, _ signing: Signing) throws {
        guard KeystoreRule.servedPoint.isOn else { return }
        for served in try servedAhead(of: log) {
            let isSigned = try served.isSigned(byOneOf: signing.publishers.flatMap { $0.material.records.values })
            guard signing.replacing, !isSigned else {
                throw KeystoreRefusal.servedAhead(served.head, isSigned: isSigned)
            }
        }
    }

    /// nil for a set without a signature.
    private func validity(_ state: KeysetState, _ epoch: Int64?) -> Int64? {
        epoch.flatMap { _ in state.publication?.validForInSeconds }
    }

    /// Whether the last line `published` covers the last change, also of the publisher's keys: an older copy of the publisher
    /// signs nothing from then on. And whether half of the validity hasn't passed.
    ///
    /// - Parameter publisher: nil if it isn't at hand, and for a set without a signature.
    private func isCovered(
        _ state: KeysetState, _ epoch: Int64?, by publisher: KeysetLog?, at time: UnixTime
    ) -> Bool {
        guard let last = state.published[epoch], last.number > state.lastChange else { return false }
        if let publisher = publisher?.state, KeystoreRule.publisherPoint.isOn {
            guard let point = state.publisherPoints[publisher.id], point.number >= publisher.lastChange else {
                return false
            }
        }
        return validity(state, epoch).map { time < last.issuedAt + $0 / 2 } ?? true
    }

    /// Appends a line `published` if the last one doesn't cover the last changes, or half of its validity has passed.
    private func covering(
        _ keyset: LockedKeyset<Storage.Locked>, _ epoch: Int64?, _ signing: Signing, at time: UnixTime
    ) throws -> LockedKeyset<Storage.Locked> {
        let state = keyset.state
        guard !isCovered(state, epoch, by: signing.publisher(of: epoch, state)?.log, at: time) else { return keyset }
        let validFor = validity(state, epoch)
        let opened = try append(.published, to: keyset, at: time) { draft in
            let issuedAt = KeystoreRule.issueRises.isOn ? max(time, state.issuedAt ?? time) : time
            draft.changes.issuedAt = issuedAt
            draft.changes.validUntil = validFor.map { issuedAt + $0 }
            draft.changes.epoch = epoch
            draft.changes.publisher = signing.publisher(of: epoch, state).map { .init($0.state.id, $0.state.head) }
        }
        return keyset.followed(by: opened, at: clock)
    }

    /// Makes the document of the last line `published` of an epoch, and writes it if it differs.
    private func serve(_ log: KeysetLog, _ epoch: Int64?, _ signing: Signing) throws -> ServedResult.Outcome {
        guard let published = log.lastPublished(epoch) else { throw KeystoreRefusal.noPublication }
        let payload = try ServedPayload.json(published)
        let document = try signing.document(payload, epoch, log.state)
        let name = ServedDocument.name(log.state.id, epoch)
        let current = try storage.served(name)
        let isCurrent =
            current == document
            || !KeystoreRule.resign.isOn && current.flatMap(SignedSenderSet.unverifiedPayload) == payload
        guard !isCurrent else { return .unchanged }
        try storage.serve(document, as: name)
        return .written
    }

    /// The sets in files with the keyset's id that were made of lines which the log lacks.
    package func servedAhead(of log: KeysetLog) throws -> [ServedDocument] {
        try servedSets(log.state.id).map(\.set).filter { !log.extends($0.head) }
    }

    private func servedSets(_ id: KeysetID) throws -> [(name: String, set: ServedDocument)] {
        try storage.servedNames().filter { $0.hasPrefix("\(id).") }.sorted().compactMap { name in
            guard let set = try storage.served(name).flatMap(ServedDocument.init) else { return nil }
            return set.id == id || !KeystoreRule.servedID.isOn ? (name, set) : nil
        }
    }
}

/// Who signs, and what may be replaced.
private struct Signing {
    let publishers: [OpenedKeyset]
    let replacing: Bool

    init(_ publishers: [OpenedKeyset], replacing: Bool) {
        self.publishers = publishers
        self.replacing = replacing
    }

    /// The publisher of an epoch; nil if it isn't at hand, and for a set without a signature.
    func publisher(of epoch: Int64?, _ state: KeysetState) -> OpenedKeyset? {
        guard let epoch, let id = state.epochs[epoch] else { return nil }
        return publishers.first { $0.state.id == id || !KeystoreRule.epochPublisher.isOn }
    }

    func hasPublisher(of epoch: Int64?, _ state: KeysetState) -> Bool {
        epoch == nil || publisher(of: epoch, state) != nil
    }

    /// The payload with the signatures of all keys of the publisher that aren't destroyed.
    ///
    /// - Throws: `KeystoreRefusal` with `otherPublisher`, `setTooLarge`; `KeyError`.
    func document(_ payload: [UInt8], _ epoch: Int64?, _ state: KeysetState) throws -> [UInt8] {
        guard let epoch else { return payload }
        guard let publisher = publisher(of: epoch, state) else { throw KeystoreRefusal.otherPublisher(epoch: epoch) }
        let keys = publisher.state.keys.filter(\.hasMaterial).compactMap { publisher.material.records[$0.kid] }
        do {
            return try SignedSenderSet.sign(payload: payload, by: keys)
        } catch let error as KeyError where error.code == .tooLarge {
            throw KeystoreRefusal.setTooLarge
        }
    }
}

extension KeysetState {
    /// What is published: each epoch, or nil for a set without a signature; nothing for shared and publisher keysets.
    var publishedEpochs: [Int64?] {
        switch kind {
        case .sender where !epochs.isEmpty: epochs.keys.sorted()
        case .sender, .recipient: [nil]
        default: []
        }
    }
}

/// What a publisher's host has not seen before. Who sends the log through another channel could also add lines without a key, so
/// the head is compared, too: otherwise the true log would no longer extend what this host has seen.
package struct UnsignedLines: Hashable, Sendable {
    package struct Key: Hashable, Sendable {
        package let kid: KeyID
        /// RFC 7638, 32 bytes. An attacker can make a key with the same `kid`.
        package let thumbprint: [UInt8]
    }

    package let head: LogPoint
    /// The keys that this host hasn't signed before, or whose revocation it has seen and the log gives up.
    package let keys: [Key]
    package let revoked: [KeyID]

    init(_ state: KeysetState, after seen: KeysetState?) {
        head = state.head
        keys = state.keys.filter { key in
            guard let old = seen?.key(key.kid) else { return true }
            return old.lifecycle.revokedAt != nil && key.lifecycle.revokedAt == nil
                || old.jwk?.thumbprint != key.jwk?.thumbprint
        }.compactMap { key in key.jwk.map { Key(kid: key.kid, thumbprint: $0.thumbprint) } }
        let known = seen?.revocations ?? [:]
        revoked = state.revocations.keys.filter { known[$0] == nil }.sorted()
    }
}
