package import PushCryptCore
package import PushCryptKeysets
import PushCryptPrimitives

/// Publication by points.
extension KeystoreHost {
    /// The name of a signed set in the served folder.
    package static func servedName(_ id: KeysetID, _ epoch: Int64) -> String { "\(id).\(epoch).json" }

    /// Appends a line `published` if the last one doesn't cover the last change, or half of its validity has passed.
    ///
    /// - Parameters:
    ///   - publisher: the publisher keyset that signs.
    ///   - publisherLog: its log, if it is at hand.
    ///   - replacing: whether a served set is replaced that the log doesn't extend and that nobody has signed.
    /// - Throws: as ``lock(_:takesOver:)`` and ``time(for:isUrgent:)``; `KeystoreRefusal` with `otherPublisher`, `olderPublisher`,
    ///   `noPublication`, `servedAhead`.
    package func preparePublication(
        _ path: String, epoch: Int64, publisher: KeysetID, publisherLog: KeysetLog?, replacing: Bool = false
    ) throws -> OpenedKeyset {
        let keyset = try lock(path)
        let (state, time) = (keyset.state, try time(for: keyset))
        guard state.epochs[epoch] == publisher || !KeystoreRule.epochPublisher.isOn else {
            throw KeystoreRefusal.otherPublisher(epoch: epoch)
        }
        if KeystoreRule.publisherPoint.isOn, let publisherLog, let point = state.publisherPoints[publisher],
            !publisherLog.extends(point)
        {
            throw KeystoreRefusal.olderPublisher(published: point)
        }
        if KeystoreRule.servedPoint.isOn, !replacing,
            let served = try servedSet(state.id, Self.servedName(state.id, epoch)),
            !keyset.log.extends(served.head)
        {
            throw KeystoreRefusal.servedAhead(served.head)
        }
        guard let validFor = state.publication?.validForInSeconds else { throw KeystoreRefusal.noPublication }
        if let last = state.published[epoch], last.number > state.lastChange, time < last.issuedAt + validFor / 2 {
            return try keyset.found.opened()
        }
        return try append(.published, to: keyset, at: time) { draft in
            let issuedAt = KeystoreRule.issueRises.isOn ? max(time, state.issuedAt ?? time) : time
            draft.changes.issuedAt = issuedAt
            draft.changes.validUntil = issuedAt + validFor
            draft.changes.epoch = epoch
            draft.changes.publisher = publisherLog.map { .init($0.state.id, $0.state.head) }
        }
    }

    /// Signs the last published set of an epoch and writes it if it differs.
    ///
    /// - Parameter log: of the sender keyset; no secret of it is needed.
    /// - Throws: `KeystoreRefusal` with `otherPublisher`, `noPublication`, `setTooLarge`; `KeyError`.
    package func sign(_ log: KeysetLog, epoch: Int64, by publisher: OpenedKeyset) throws {
        guard log.state.epochs[epoch] == publisher.state.id || !KeystoreRule.epochPublisher.isOn else {
            throw KeystoreRefusal.otherPublisher(epoch: epoch)
        }
        guard let published = log.state.published[epoch],
            let line = log.points.first(where: { $0.number == published.number }),
            let prefix = log.upTo(line)
        else { throw KeystoreRefusal.noPublication }
        let payload = try ServedPayload.json(prefix)
        let keys = publisher.state.keys.filter(\.hasMaterial).compactMap { publisher.material.records[$0.kid] }
        let document = try SignedSenderSet.sign(payload: payload, by: keys)
        let name = Self.servedName(log.state.id, epoch)
        let current = try storage.served(name)
        let isCurrent =
            current == document
            || !KeystoreRule.resign.isOn && current.flatMap(SignedSenderSet.unverifiedPayload) == payload
        if !isCurrent { try storage.serve(document, as: name) }
    }

    /// What the host of a publisher checks before it signs the log of another host.
    ///
    /// - Parameters:
    ///   - sent: the log with the mac that its file has. This host has no secret to check it.
    ///   - review: whether a person who compares with the sending host agrees to sign these lines.
    /// - Throws: `KeystoreRefusal` with `olderThanHistory`, `twoHistories`, `notReviewed`.
    package func receive(_ sent: KeysetHistory, review: (UnsignedLines) -> Bool) throws {
        let (log, id) = (sent.log, sent.log.state.id)
        let files = try storage.lock(nil)
        let history = try storage.history(of: id)
        try requireExtension(log, of: history)
        let seen = history?.log
        let isNew = seen?.state.head != log.state.head
        guard !KeystoreRule.review.isOn || !isNew || review(UnsignedLines(log.state, after: seen?.state)) else {
            throw KeystoreRefusal.notReviewed
        }
        try files.setHistory(sent, from: history)
    }

    /// A served set; nil if the file of that name isn't one of this keyset and epoch.
    func servedSet(_ id: KeysetID, _ name: String) throws -> ServedDocument? {
        guard let document = try storage.served(name).flatMap(ServedDocument.init) else { return nil }
        let isOwn = document.id == id && Self.servedName(id, document.epoch) == name
        return isOwn || !KeystoreRule.servedID.isOn ? document : nil
    }
}

/// What a publisher's host has not seen before. Who sends the log through another channel could also add lines without a key, so
/// the head is compared, too: otherwise the true log would no longer extend what this host has seen.
package struct UnsignedLines: Hashable, Sendable {
    package let head: LogPoint
    package let keys: [KeyID]
    package let revoked: [KeyID]

    init(_ state: KeysetState, after seen: KeysetState?) {
        head = state.head
        keys = state.keys.map(\.kid).filter { seen?.key($0) == nil }
        revoked = state.keys.filter { $0.lifecycle.revokedAt != nil && seen?.key($0.kid)?.lifecycle.revokedAt == nil }
            .map(\.kid)
    }
}
