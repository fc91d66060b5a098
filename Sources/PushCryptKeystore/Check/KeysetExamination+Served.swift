import PushCryptCore
import PushCryptFiles
import PushCryptKeysets

/// Compares a keyset with the sets of it that a web server serves.
extension KeysetExamination {
    mutating func examineServed(_ metadata: KeysetMetadata) {
        guard metadata.kind != .publisher, let folder = context.served else { return }
        let name = FileSystem.name(of: snapshot.path)
        guard !isCopy(of: metadata) else {
            servedCount = 1
            if used(metadata) == nil { examineRevocations(of: name, metadata, in: folder) }
            return
        }
        do {
            // A set in the place of another keyset's set is that one's fault.
            let sets = try folder.sets(of: name, metadata).filter { set in
                set.name == name
                    || !context.others.contains { other in
                        FileSystem.name(of: other.path) == set.name && other.metadata.hasSet(isSigned: set.isSigned)
                            && !context.copies.contains { $0.path == other.path }
                    }
            }
            let foreign = try folder.foreignFiles(of: name)
            servedCount = sets.count + foreign.count
            for file in foreign { examineForeign(file, metadata) }
            for copy in folder.damagedCopies(of: name) { examineDamaged(copy, metadata) }
            for set in sets { examine(set, metadata) }
            examineName(name, sets, folder, metadata)
            let hasSigned =
                sets.contains(where: \.isSigned)
                || foreign.contains { !$0.hasSuffix(ServedSet.suffix(isSigned: false)) }
            if servedCount == 0 || metadata.signedSet != nil && !hasSigned {
                examineUnpublished(folder, metadata)
            } else {
                let lost = folder.lostSets(of: metadata).filter { copy in !sets.contains(where: copy.hasSameReaders) }
                for copy in lost { examineLost(copy, folder, metadata) }
                if foreign.isEmpty { examineOwnEpoch(sets + lost, folder, metadata) }
            }
            if metadata.signedSet != nil { examineOldPublishers(folder, metadata) }
        } catch {
            servedCount = 1
            findings.append(.unreadable(snapshot.path, error))
        }
    }

    /// Whether another keyset with the same keys is, or may be, the one that is published. What is advised for the sets of a copy would
    /// publish the copy.
    private func isCopy(of metadata: KeysetMetadata) -> Bool {
        !context.copies.isEmpty && used(metadata)?.path != snapshot.path
    }

    /// While nothing tells which of several keysets with the same keys is used, only what can't wait: a key that leaked is trusted. First
    /// the key is revoked in all of them.
    private mutating func examineRevocations(of name: String, _ metadata: KeysetMetadata, in folder: ServedFolder) {
        for set in (try? folder.sets(of: name, metadata)) ?? []
        where set.name == name
            && context.copies.allSatisfy({
                $0.givenUp.isSuperset(of: set.keys.unrevoked(in: metadata.timeline).map(\.0))
            })
        {
            examineRevocations(set, [], metadata)
        }
    }

    /// `keys publish` doesn't replace such a file.
    private mutating func examineForeign(_ path: String, _ metadata: KeysetMetadata) {
        let isSigned = metadata.signedSet != nil && !path.hasSuffix(ServedSet.suffix(isSigned: false))
        add(
            .error, "served-foreign", "\(path) is not a set that `keys publish` writes",
            advice: publish(isSigned: isSigned, as: nil, movingAway: path))
    }

    /// A numbered copy that can't be read. One of a later set shows that the keyset is an old copy, which mustn't be published.
    private mutating func examineDamaged(_ copy: (path: String, sequence: Int64), _ metadata: KeysetMetadata) {
        guard copy.sequence > metadata.sequence else {
            return add(
                .error, "served-foreign", "\(copy.path), a numbered copy, is damaged",
                advice: PublishedKeyset.moveAway(copy.path))
        }
        let raise = PublishedKeyset.raiseCommand(snapshot.path, above: copy.sequence, secretArguments)
        add(
            .error, "served-newer",
            "\(copy.path), a numbered copy, is damaged, and the keyset has seq \(metadata.sequence): the keyset is an old copy",
            advice: restore + "; if it is restored, and what was revoked later is revoked again: \(raise)")
    }

    /// The folder has no set of the keyset, or not the signed one.
    private mutating func examineUnpublished(_ folder: ServedFolder, _ metadata: KeysetMetadata) {
        guard metadata.kind != .shared, !examineRenamed(folder, metadata) else { return }
        let kinds = servedCount > 0 ? [true] : [true, false]
        let copy = folder.newestCopy(of: FileSystem.name(of: snapshot.path), areSigned: kinds, metadata)
        guard copy != nil || metadata.signedSet != nil else { return examineAbsent(folder, metadata) }
        let createdAt = metadata.timeline.keys.compactMap(\.lifecycle.createdAt).min()
        let isOld = createdAt.map { $0 + Self.graceInSeconds < now } ?? true
        let hasRun = (try? snapshot.hook.get()) != nil
        let hasRevoked = metadata.timeline.keys.contains { $0.lifecycle.revokedAt != nil }
        guard copy != nil || servedCount > 0 || hasRun || isOld || hasRevoked else { return }
        // The error about the keyset replaces the note about the folder.
        servedCount = 1
        let before = copy.map { ": \($0.path) is the newest copy that can be read" } ?? ""
        let kind = metadata.signedSet == nil ? "set" : "signed set"
        add(
            .error, "served-unpublished",
            "\(folder.path) has no \(kind) of the keyset, so nothing can fetch its keys\(before)",
            advice: publish(isSigned: metadata.signedSet != nil, as: nil, like: copy))
        if let copy {
            examineSignature(copy, metadata)
            let history = folder.history(of: copy.nameOfCopies, isSigned: copy.isSigned)
            examineRevocations(copy, history.givenUp(by: metadata, at: now), metadata)
        }
    }

    /// The folder lacks a set beside others of the keyset.
    private mutating func examineLost(_ copy: ServedSet, _ folder: ServedFolder, _ metadata: KeysetMetadata) {
        let file = copy.nameOfCopies + ServedSet.suffix(isSigned: copy.isSigned)
        examineSignature(copy, metadata)
        add(
            .error, "served-unpublished",
            "\(folder.path) has no \(file) any more: \(copy.path) is its newest copy, and what fetches it gets nothing",
            advice: publish(copy, note: "if nothing fetches it, move its numbered copies away"))
    }

    /// An old copy of a publisher keyset may have a key that signs none of the served sets any more.
    private mutating func examineOldPublishers(_ folder: ServedFolder, _ metadata: KeysetMetadata) {
        for publisher in context.publishers.map(\.keyset) {
            guard let difference = folder.refusal(of: publisher),
                !findings.contains(where: { $0.message == difference.reason })
            else { continue }
            add(.error, "served-signature", difference.reason, advice: advice(difference, metadata))
        }
    }

    /// Public keys without a signed set can reach senders in another way than through the folder.
    private mutating func examineAbsent(_ folder: ServedFolder, _ metadata: KeysetMetadata) {
        servedCount = 1
        let hasRevoked = metadata.timeline.keys.contains { $0.lifecycle.revokedAt != nil }
        add(
            hasRevoked ? .error : .warning, "served-absent",
            "\(folder.path) has no set of the keyset: nothing can fetch its keys there",
            advice: publish(isSigned: false, as: nil)
                + "  # if nothing shall fetch them there: status --ignore served-absent")
    }

    private mutating func examine(_ set: ServedSet, _ metadata: KeysetMetadata) {
        let history = context.served?.history(of: set.name, isSigned: set.isSigned)
        // An old copy may have none of the later keys.
        let isLater = set.sequence > metadata.sequence && history?.hasSet(at: set.path, of: metadata) == true
        let isOwn = set.belongs(to: metadata) || isLater
        let owner = set.belongs(to: metadata) ? nil : context.others.first { set.belongs(to: $0.metadata) }
        guard set.keys.kids.isEmpty || isOwn, owner == nil else {
            if let owner {
                guard metadata.hasSet(isSigned: set.isSigned) else { return }
                return add(
                    .error, "served-foreign",
                    "\(set.path) is the set of \(owner.path), so what fetches the keys of this keyset gets those of that one",
                    advice: correction(of: set, history, owner, metadata))
            }
            guard !examineFuture(set, metadata) else { return }
            let name = FileSystem.name(of: snapshot.path)
            if set.name == name, let other = otherKeyset(isSigned: set.isSigned, metadata) {
                return add(
                    .error, "served-foreign", "\(set.path) has no key of the keyset. \(PublishedKeyset.fault(other))",
                    advice: moveHome(other, isSigned: set.isSigned))
            }
            let keysets = [metadata] + context.others.map(\.metadata)
            let isElsewhere = context.served?.hasSet(ofOneOf: keysets) == false
            return add(
                .error, "served-foreign",
                "\(set.path) has no key of the keyset: it is the set of another one, or none of its keys is left"
                    + (isElsewhere
                        ? ". No set in the folder has a key of these keysets: it may be another system's folder" : ""),
                advice: (isElsewhere ? "check first that this is the right folder; if it is: " : "") + restore
                    + "; if the file is another keyset's, publish this one with `keys publish --as NAME`"
                    + (set.sequence > metadata.sequence
                        ? raising(set)
                        : "; if it is an old set of this keyset, move it away, and publish again: "
                            + publish(set, movingAway: set.path)))
        }
        if let epochs = history?.otherEpochs {
            return add(
                .error, "served-changed", epochs.fault, advice: epochs.moveAway + " && " + publish(epochs.newest))
        }
        if let copy = context.served?.lostCopy(of: set) {
            add(
                .warning, "served-copy",
                "\(set.path) has no numbered copy any more: \(copy) is the record of its keys and signatures",
                advice: publish(set, note: metadata.hasEarlierEpochs ? set.epochNote : nil))
        }
        let givenUp = history?.givenUp(by: metadata, at: now) ?? []
        examineRevocations(set, givenUp, metadata)
        let unknown = set.keys.unknown(to: metadata.timeline)
        let foreign = !givenUp.isEmpty ? [] : set.foreignKeys(metadata.timeline, try? snapshot.log.get())
        if foreign.isEmpty { examineSigningKey(set, givenUp, metadata) }
        examineDestroyed(set, metadata)
        examineEpoch(set, metadata)
        examineSignature(set, metadata)
        examineAcceptance(set, history, isNewest: set.sequence >= metadata.sequence)
        examineValidity(set)
        examineMode(set)
        if let copy = context.served?.copy(differingFrom: set) {
            add(
                .error, "served-changed",
                "\(set.path) differs from \(copy), its copy: one of them was changed after it was published, and apps may refuse the set",
                advice: publish(set))
        }
        let numbers = "\(set.path) has seq \(set.sequence), and the keyset has seq \(metadata.sequence)"
        guard !examineFuture(set, metadata) else { return }
        if let holder = context.copies.first(where: { !unknown.isEmpty && Set(unknown).isSubset(of: $0.kids) }) {
            add(
                .error, "served-conflict",
                "\(set.path) has key \(unknown.map(\.description).joined(separator: ", ")), which \(holder.path) has and this keyset doesn't",
                advice:
                    "decide which of the two keysets to keep, as advised for the keysets with the same keys; then check again"
            )
        } else if set.sequence > metadata.sequence {
            add(
                .error, "served-newer", "\(numbers): the keyset is an old copy, or another host publishes this set",
                advice: restore + "; if another host changes the keyset now, remove it here" + raising(set))
        } else if !foreign.isEmpty {
            add(
                .error, "served-conflict", PublishedKeyset.unknownKeys(foreign, of: set),
                advice:
                    "if another host changes the keyset now, remove it here; if the key is lost, move the set away, and publish "
                    + "again: " + publish(set, movingAway: set.path))
        } else if set.sequence < metadata.sequence,
            !unknown.isEmpty || metadata.timeline.updatedAt.map({ $0 + Self.graceInSeconds < now }) ?? true
        {
            let lost = unknown.isEmpty ? "" : ", and a key in the set that the keyset has lost"
            let since = metadata.timeline.updatedAt.map { " since \($0)" } ?? ""
            add(
                .error, "served-older", "\(numbers)\(since)\(lost): the change was not published",
                advice: publish(set))
        } else if set.sequence == metadata.sequence, !set.isSet(of: metadata) {
            add(
                .error, "served-conflict",
                "\(set.path) is another set than the keyset's with the same seq \(set.sequence), as after a restored backup, or if "
                    + "another host publishes it",
                advice: PublishedKeyset.raiseCommand(snapshot.path, above: set.sequence, secretArguments)
                    + "  # if no other host publishes it; then publish the set")
        }
    }

    /// Public keys that were made under a wrong clock, and that the keyset lost when it was restored. Another restoration changes nothing.
    ///
    /// - Returns: whether the set has such keys.
    private mutating func examineFuture(_ set: ServedSet, _ metadata: KeysetMetadata) -> Bool {
        guard !set.isSigned, set.sequence >= metadata.sequence, set.isFromFuture(metadata.policy, at: now),
            !set.keys.unknown(to: metadata.timeline).isEmpty
        else { return false }
        let raise = PublishedKeyset.raiseCommand(snapshot.path, above: set.sequence, secretArguments)
        add(
            .error, "served-future",
            "\(set.path) has keys from later than now, made under a wrong clock, which the keyset doesn't have",
            advice: "if this clock is right, docs/runbooks/wrong-clock.md; if the keyset is restored already: "
                + "\(raise) && \(publish(set, movingAway: set.path))")
        return true
    }

    /// What to do if the newest backup is restored already.
    private func raising(_ set: ServedSet) -> String {
        "; if it is restored, and what was revoked later is revoked again: "
            + PublishedKeyset.raiseCommand(snapshot.path, above: set.sequence, secretArguments)
    }

    /// A set that doesn't revoke a key lets apps use it; a keyset that doesn't is a copy from before the revocation.
    private mutating func examineRevocations(
        _ set: ServedSet, _ givenUp: [ServedHistory.GivenUpKey], _ metadata: KeysetMetadata
    ) {
        let trusting = metadata.kind == .sender ? "apps still trust it" : "senders still seal to it"
        for (kid, time) in set.keys.unrevoked(in: metadata.timeline) {
            add(
                .error, "served-revoked",
                "key \(kid) was revoked at \(time), and \(set.path), seq \(set.sequence), doesn't revoke it: \(trusting)",
                advice: publish(set))
        }
        for key in givenUp {
            add(
                .error, "served-revoked", "\(key.reason): the keyset is a copy from before",
                advice: PublishedKeyset.revokeCommand(snapshot.path, key.kid, secretArguments))
        }
    }

    /// Apps refuse what a key signs that their set lacks. A key signs first after the time that devices have to fetch it.
    private mutating func examineSigningKey(
        _ set: ServedSet, _ givenUp: [ServedHistory.GivenUpKey], _ metadata: KeysetMetadata
    ) {
        guard metadata.kind == .sender, let primary = metadata.timeline.primary(at: now)?.kid,
            !set.keys.kids.contains(primary), set.keys.unrevoked(in: metadata.timeline).isEmpty,
            !givenUp.contains(where: { $0.kid == primary })
        else { return }
        add(
            .error, "served-lacks",
            "\(set.path) lacks key \(primary), which signs now: apps show a placeholder for each push",
            advice: publish(set))
    }

    /// An old file came back: senders seal what nothing opens any more.
    private mutating func examineDestroyed(_ set: ServedSet, _ metadata: KeysetMetadata) {
        let destroyed = metadata.timeline.keys.filter { $0.lifecycle.destroyedAt != nil }.map(\.kid)
        guard metadata.kind == .recipient, !set.keys.kids.isEmpty, set.keys.kids.isSubset(of: destroyed) else { return }
        add(
            .error, "served-lacks",
            "\(set.path) has only keys that were destroyed: nothing opens what senders seal to them",
            advice: publish(set))
    }
}
