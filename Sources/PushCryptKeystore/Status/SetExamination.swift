import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptPrimitives

/// Compares a keyset's log with the sets that apps fetch, and with the publishers.
extension StatusExamination {
    func examineSets(_ keyset: ExaminedKeyset) {
        // What isn't a folder is a finding already.
        guard let folder = places.served, FileSystem.isFolder(folder) else { return }
        let reference = keyset.reference
        guard let isAhead = attempt(folder, reference, ifDamaged: .inspect(path: folder), { try examineAhead(keyset) }),
            !isAhead
        else { return }
        for epoch in keyset.state.publishedEpochs {
            var publisher: ExaminedKeyset?
            if let epoch {
                guard keyset.state.publication != nil, let id = keyset.state.epochs[epoch] else { continue }
                let (canSign, found) = examinePublisher(id, epoch, keyset)
                guard canSign else { continue }
                publisher = found
            }
            let set = ExpectedSet(log: keyset.log, epoch: epoch, publisher: publisher?.state)
            let name = ServedDocument.name(keyset.state.id, epoch)
            let (path, host) = ("\(folder)/\(name)", host)
            let found = attempt(path, reference, ifDamaged: .inspect(path: path)) {
                let bytes = try host.storage.served(name)
                let document = bytes.flatMap(ServedDocument.init)
                return (bytes, document, try set.fault(bytes, document, at: host.clock))
            }
            guard let (bytes, document, fault) = found else { continue }
            if let fault {
                let isAway = epoch != nil && publisher == nil
                late.append(
                    StatusFinding(
                        fault, reference,
                        isAway ? .signElsewhere(reference) : .publish(reference)))
            } else {
                examineSize(bytes?.count ?? 0, document, reference)
            }
        }
    }

    /// - Returns: whether a served set was made of lines that the log lacks.
    private func examineAhead(_ keyset: ExaminedKeyset) throws -> Bool {
        guard let set = try host.servedAhead(of: keyset.log).first else { return false }
        let publishers = keysets.map(\.state).filter { $0.kind == .publisher }
        let signer = set.epoch.flatMap { keyset.state.epochs[$0] }
        let isAtHand = set.epoch == nil || publishers.contains { $0.id == signer }
        let isSigned = try publishers.contains { try set.isSigned(by: $0) }
        findings.append(
            StatusFinding(
                .servedAhead(epoch: set.epoch, set.head, isSigned: isSigned ? true : isAtHand ? false : nil),
                keyset.reference, .restore(keyset.reference)))
        return true
    }

    /// - Returns: whether the publisher can sign, and its keyset; nil if it is on another host.
    private func examinePublisher(
        _ id: KeysetID, _ epoch: Int64, _ keyset: ExaminedKeyset
    ) -> (canSign: Bool, ExaminedKeyset?) {
        guard let publisher = keysets.first(where: { $0.state.id == id }) else {
            // A file that is missing or can't be read is a finding already.
            guard isComplete, !findings.contains(where: { $0.keyset?.id == id }) else { return (false, nil) }
            findings.append(
                StatusFinding(.publisherAway(epoch: epoch, id), keyset.reference, .signElsewhere(keyset.reference)))
            return (true, nil)
        }
        guard let point = keyset.state.publisherPoints[id], publisher.isSound, !publisher.log.extends(point) else {
            return (publisher.isSound, publisher)
        }
        findings.append(
            StatusFinding(
                .publisherOlder(epoch: epoch, published: point), publisher.reference, .restore(publisher.reference)))
        return (false, nil)
    }

    func examineOutbox(_ keyset: ExaminedKeyset) {
        guard keyset.state.kind == .shared,
            let devices = keyset.reference.location.flatMap({ places.devices[$0.name] }),
            let outbox = attempt(
                devices.to, keyset.reference, ifDamaged: .inspect(path: devices.to),
                {
                    try Outbox(keyset.state, list: devices.list, devices.to)
                })
        else { return }
        func isLate(_ time: UnixTime) -> Bool { time + statusPauseInSeconds < host.clock }
        let late = isLate(keyset.log.time(ofLine: keyset.state.lastChange) ?? keyset.state.at) ? outbox.late : 0
        let missing = isLate(UnixTime(outbox.listedAt.components.seconds)) ? outbox.missing : 0
        guard late > 0 || missing > 0 else { return }
        self.late.append(
            StatusFinding(
                .outbox(missing: missing, late: late, folder: devices.to), keyset.reference, .rotate(keyset.reference)))
    }

    private func examineSize(_ byteCount: Int, _ document: ServedDocument?, _ reference: KeysetReference) {
        let limits: [(StatusFinding.Limit, Int, limit: Int)] = [
            (.set, byteCount, ServedPayload.maximumByteCount),
            (.revokedKeys, document?.revoked.count ?? 0, ServedPayload.maximumRevokedCount),
        ]
        guard let (limit, count, _) = limits.first(where: { $1 > $2 / 2 }) else { return }
        findings.append(StatusFinding(.nearLimit(limit, count), reference, .replaceKeyset(reference)))
    }
}

/// The set of an epoch that should be served.
private struct ExpectedSet {
    let log: KeysetLog
    /// nil for public keys without a signature.
    let epoch: Int64?
    /// nil if it is on another host: somebody may carry the set there and back.
    let publisher: KeysetState?

    private var state: KeysetState { log.state }

    /// - Returns: nil if the served file is the last set that was made, and no other one is late.
    func fault(_ bytes: [UInt8]?, _ document: ServedDocument?, at clock: UnixTime) throws -> StatusFinding.Facts? {
        func served(_ fault: StatusFinding.ServedFault) -> StatusFinding.Facts { .served(epoch: epoch, fault) }
        func unpublished(since time: UnixTime) -> StatusFinding.Facts? {
            time + statusPauseInSeconds < clock ? .unpublished(epoch: epoch, since: time) : nil
        }
        let own = document.flatMap { $0.id == state.id && $0.epoch == epoch ? $0 : nil }
        guard let made = state.published[epoch], let madeAt = log.time(ofLine: made.number) else {
            return unpublished(since: log.time(ofLine: state.lastChange) ?? state.at)
        }
        let isAwaited = epoch != nil && publisher == nil && unpublished(since: madeAt) == nil
        guard let bytes else { return isAwaited ? nil : served(.missing) }
        guard let document else { return served(.notASet) }
        guard let own else { return served(.otherSet(document.id, epoch: document.epoch)) }
        guard try publisher.map(own.isSigned) ?? true else { return served(.notSigned) }
        let revoked = state.revocations.keys.filter { own.revoked[$0] == nil }.sorted()
        guard revoked.isEmpty else { return served(.lacksRevocations(revoked)) }
        guard own.head.number == made.number else {
            return isAwaited ? nil : served(.older(served: own.head, madeAt: madeAt))
        }
        if let end = made.validUntil {
            guard clock < end - (end.seconds - made.issuedAt.seconds) / 4 else { return served(.ends(end)) }
            if let renewal = unpublished(since: end - (end.seconds - made.issuedAt.seconds) / 2) { return renewal }
        }
        let isCovered = made.number > state.lastChange
        if !isCovered, let time = log.time(ofLine: state.lastChange), let late = unpublished(since: time) {
            return late
        }
        guard epoch != nil else {
            return try log.lastPublished(nil).map(ServedPayload.json) == bytes ? nil : served(.notASet)
        }
        let signers = try SignedSenderSet.namedSigners(of: bytes)
        let isResigned = publisher?.keys.allSatisfy { !$0.hasMaterial || signers.contains($0.kid) } ?? true
        return isResigned ? nil : unpublished(since: publisher?.at ?? madeAt)
    }
}

extension ServedDocument {
    /// Whether a key of the publisher has signed it.
    fileprivate func isSigned(by publisher: KeysetState) throws -> Bool {
        let keys = try publisher.keys.compactMap(\.jwk).map { jwk in
            try KeyRecord(JSONText(jwk.json).root, backend: DefaultBackend.shared)
        }
        return try isSigned(byOneOf: keys)
    }
}

extension KeysetLog {
    fileprivate func time(ofLine number: Int64) -> UnixTime? { lines.first { $0.number == number }?.at }
}
