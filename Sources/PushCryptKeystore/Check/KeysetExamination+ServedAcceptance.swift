import PushCryptCore
import PushCryptFiles
import PushCryptKeysets

/// Whether apps can fetch a served set, and accept it: its mode, validity and signature.
extension KeysetExamination {
    /// A web server runs as another user, and only the one that publishes may change what is served.
    mutating func examineMode(_ set: ServedSet) {
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
    ///
    /// - Parameter isNewest: whether it is the set of the keyset. Apps refuse an earlier one in any case.
    mutating func examineAcceptance(_ set: ServedSet, _ history: ServedHistory?, isNewest: Bool) {
        guard isNewest, let refusal = set.publication.flatMap({ history?.refusal(of: $0) }) else { return }
        add(
            .warning, "served-refused", refusal,
            advice:
                "pin a higher epoch with the next update of the app, and publish it; apps without the update need the set of their "
                + "epoch, too: `keys publish --epoch N --as NAME`; then: status --ignore served-refused")
    }

    mutating func examineValidity(_ set: ServedSet) {
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
    mutating func examineSignature(_ set: ServedSet, _ metadata: KeysetMetadata) {
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
            advice: publish(set, movingAway: set.path))
    }
}
