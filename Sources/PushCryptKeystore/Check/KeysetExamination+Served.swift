import PushCryptCore
import PushCryptFiles
import PushCryptKeysets

/// Compares a keyset with the sets of it that a web server serves.
extension KeysetExamination {
    mutating func examineServed(_ metadata: KeysetMetadata) {
        guard metadata.kind != .publisher, let folder = context.served else { return }
        let name = FileSystem.name(of: snapshot.path)
        guard !isCopy(of: metadata, in: folder) else {
            servedCount = 1
            return
        }
        do {
            // A set in the place of another keyset's set is that one's fault.
            let sets = try folder.sets(of: name, metadata).filter { set in
                set.name == name
                    || !context.others.contains {
                        FileSystem.name(of: $0.path) == set.name && $0.metadata.hasSet(isSigned: set.isSigned)
                    }
            }
            let foreign = try folder.foreignFiles(of: name)
            servedCount = sets.count + foreign.count
            for file in foreign { examineForeign(file, metadata) }
            for copy in folder.damagedCopies(of: name) { examineDamaged(copy, metadata) }
            for set in sets { examine(set, metadata) }
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

    /// Whether another keyset with the same keys is the one that is published. What is advised for the sets of a copy would
    /// publish the copy.
    private func isCopy(of metadata: KeysetMetadata, in folder: ServedFolder) -> Bool {
        context.copies.contains { other in
            guard other.sequence == metadata.sequence else { return other.sequence > metadata.sequence }
            return !folder.hasSet(named: FileSystem.name(of: snapshot.path))
                && folder.hasSet(named: FileSystem.name(of: other.path))
        }
    }

    /// `keys publish` doesn't replace such a file.
    private mutating func examineForeign(_ path: String, _ metadata: KeysetMetadata) {
        let isSigned = metadata.signedSet != nil && !path.hasSuffix(ServedSet.suffix(isSigned: false))
        add(
            .error, "served-foreign", "\(path) is not a set that `keys publish` writes",
            advice: PublishedKeyset.moveAway(path) + " && " + publish(isSigned: isSigned, as: nil))
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
        guard metadata.kind != .shared else { return }
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

    /// Apps that pin the keyset's epoch refuse the sets of earlier ones. An update of the app that pins it may not be out yet.
    private mutating func examineOwnEpoch(_ sets: [ServedSet], _ folder: ServedFolder, _ metadata: KeysetMetadata) {
        let epochs = sets.compactMap(\.publication?.epoch)
        guard let own = metadata.publication?.epoch, let highest = epochs.max(), highest < own,
            metadata.timeline.updatedAt.map({ $0 + Self.graceInSeconds < now }) ?? true
        else { return }
        add(
            .warning, "served-epoch",
            "\(folder.path) has no set of epoch \(own), which the keyset has: apps that pin it fetch no set that they accept",
            advice: PublishedSet.command(
                snapshot.path, secretArguments, to: ShellArgument.quoted(folder.path),
                by: context.publisher(of: nil)?.path ?? PublishedSet.anyPublisher)
                + " --as NAME  # with the name that these apps fetch; until an app pins the epoch: status --ignore served-epoch"
        )
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
        guard folder.hasSets else { return }
        servedCount = 1
        add(
            .warning, "served-absent", "\(folder.path) has no set of the keyset: nothing can fetch its keys there",
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
                let isExchanged = context.served?.hasSet(named: FileSystem.name(of: owner.path), ofOneOf: [metadata])
                return add(
                    .error, "served-foreign",
                    "\(set.path) is the set of \(owner.path), so what fetches the keys of this keyset gets those of that one",
                    advice: (isExchanged == true
                        ? "if the folders \(snapshot.path) and \(owner.path) were exchanged, exchange them again; if the files were: "
                        : "") + PublishedKeyset.moveAway(set.path) + " && " + publish(isSigned: set.isSigned, as: nil)
                        + "  # or, if this name is \(owner.path)'s, publish this keyset with --as NAME")
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
                            + "\(PublishedKeyset.moveAway(set.path)) && \(publish(set))"))
        }
        if let copy = history?.newestCopy, let epochs = copy.otherEpoch(than: set) {
            return add(
                .error, "served-changed", PublishedKeyset.misplaced(set, epochs.other, copy, epochs.own),
                advice: PublishedKeyset.moveAway(set.path) + " && " + publish(copy))
        }
        if let copy = context.served?.lostCopy(of: set) {
            add(
                .warning, "served-copy",
                "\(set.path) has no numbered copy any more: \(copy) is the record of its keys and signatures",
                advice: publish(set))
        }
        let givenUp = history?.givenUp(by: metadata, at: now) ?? []
        examineRevocations(set, givenUp, metadata)
        examineSigningKey(set, givenUp, metadata)
        examineEpoch(set, metadata)
        examineSignature(set, metadata)
        examineAcceptance(set, history)
        examineValidity(set)
        examineMode(set)
        if let copy = context.served?.copy(differingFrom: set) {
            add(
                .error, "served-changed",
                "\(set.path) differs from \(copy), its copy: one of them was changed after it was published, and apps may refuse the set",
                advice: publish(set))
        }
        let unknown = set.keys.unknown(to: metadata.timeline)
        let foreign = !givenUp.isEmpty ? [] : set.foreignKeys(metadata.timeline, try? snapshot.log.get())
        let numbers = "\(set.path) has seq \(set.sequence), and the keyset has seq \(metadata.sequence)"
        if set.sequence > metadata.sequence {
            add(
                .error, "served-newer", "\(numbers): the keyset is an old copy, or another host publishes this set",
                advice: restore + "; if another host changes the keyset now, remove it here" + raising(set))
        } else if !foreign.isEmpty {
            add(
                .error, "served-conflict", PublishedKeyset.unknownKeys(foreign, of: set),
                advice:
                    "if another host changes the keyset now, remove it here; if the key is lost, move the set away, and publish "
                    + "again: \(PublishedKeyset.moveAway(set.path)) && " + publish(set))
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

    /// `keys publish` doesn't replace a set by one of an earlier epoch.
    private mutating func examineEpoch(_ set: ServedSet, _ metadata: KeysetMetadata) {
        guard let epoch = set.publication?.epoch, let own = metadata.publication?.epoch, own < epoch else { return }
        add(
            .error, "served-newer",
            "\(set.path) has epoch \(epoch), and the keyset has epoch \(own): the keyset is an old copy",
            advice: restore + "; if it is restored: "
                + PublishedKeyset.raiseCommand(snapshot.path, toEpoch: epoch, secretArguments))
    }

    /// A web server runs as another user, and only the one that publishes may change what is served.
    private mutating func examineMode(_ set: ServedSet) {
        let folder = FileSystem.parent(of: set.path)
        for path in [set.path, folder] {
            guard let mode = FileStatus(path, followingLinks: true)?.access.mode, mode & 0o002 != 0 else { continue }
            add(
                .warning, "served-mode", "every user can change \(path), and so the keys that are fetched",
                advice: "chmod o-w \(ShellArgument.quoted(path))")
        }
        for (path, bits, mode) in [(set.path, 0o004, "644"), (folder, 0o001, "755")] {
            guard let status = FileStatus(path, followingLinks: true), status.access.mode & UInt32(bits) == 0 else {
                continue
            }
            let quoted = ShellArgument.quoted(path)
            add(
                .warning, "served-mode", "other users can't read \(path), and a web server runs as another user",
                advice:
                    "chmod \(mode) \(quoted)  # if the server runs as this user or in its group: status --ignore served-mode"
            )
        }
    }

    /// Whether apps accept the set that have fetched an earlier one.
    private mutating func examineAcceptance(_ set: ServedSet, _ history: ServedHistory?) {
        guard let refusal = set.publication.flatMap({ history?.refusal(of: $0) }) else { return }
        add(
            .warning, "served-refused", refusal,
            advice:
                "pin a higher epoch with the next update of the app, and publish it; apps without the update need the set of their "
                + "epoch, too: `keys publish --epoch N --as NAME`; then: status --ignore served-refused")
    }

    private mutating func examineValidity(_ set: ServedSet) {
        guard let publication = set.publication else { return }
        if publication.issuedAt > now + PublishedSet.clockTolerance {
            add(
                .error, "served-future",
                "\(set.path) was issued at \(publication.issuedAt), later than now, under a wrong clock: apps that fetch it refuse every "
                    + "set that ends before then",
                advice:
                    "if this clock is right, take the set away from the web server at once, then docs/runbooks/wrong-clock.md: "
                    + PublishedKeyset.moveAway(set.path))
        }
        let end = publication.validUntil
        guard end <= now else { return }
        add(
            .error, "served-expired", "\(set.path) was valid until \(end): apps verify nothing with it",
            advice: publish(set))
    }

    /// Apps verify the signature. An attacker who can write into the folder can't make one.
    private mutating func examineSignature(_ set: ServedSet, _ metadata: KeysetMetadata) {
        guard set.isSigned, !context.publishers.isEmpty, let document = context.served?.bytes(of: set) else { return }
        let kids = Set(context.publishers.flatMap { $0.keyset.timeline.keys.map(\.kid) })
        for publisher in context.publishers {
            guard let difference = publisher.keyset.difference(from: set, others: kids) else { continue }
            add(.error, "served-signature", difference.reason, advice: advice(difference, metadata))
        }
        // Under a clock that is behind its last change, the keyset signs nothing.
        for publisher in context.publishers where publisher.keyset.timeline.clockIsBehind(at: now) == nil {
            guard let change = publisher.keyset.unpublishedChange(since: set) else { continue }
            add(.warning, "served-signature", change, advice: publish(set))
        }
        guard (try? SignedSenderSet.verify(document, publishers: context.publishers.flatMap(\.records))) == nil else {
            return
        }
        let paths = Set(context.publishers.map(\.keyset.path)).sorted().joined(separator: ", ")
        // A key that was destroyed since can't verify any more.
        guard kids.isDisjoint(with: set.signers) || context.publishers.contains(where: { $0.keyset.hasSigner(of: set) })
        else { return }
        if let publisher = context.publishers.first?.keyset, kids.isDisjoint(with: set.signers) {
            // An old copy, which examineOldPublishers reports.
            guard context.served?.refusal(of: publisher) == nil else { return }
            return add(
                .error, "served-signature",
                "\(PublisherKeyset.foreignSigners(of: set, paths)): apps that pin only these publishers refuse it",
                advice:
                    "restore the newest backup of \(publisher.path), if it is an old copy: \(publisher.restore); or name the publisher "
                    + "keyset that has this key with --signed-by, too; or, if the apps also pin \(publisher.pinned), publish with it: "
                    + publish(set, by: publisher, options: " --new-publisher"))
        }
        add(
            .error, "served-signature",
            "\(set.path) has no valid signature of \(paths), so it is damaged: apps that pin these publishers refuse it",
            advice: PublishedKeyset.moveAway(set.path) + " && " + publish(set))
    }
}
