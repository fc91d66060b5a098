import PushCryptCore
import PushCryptFiles
import PushCryptKeysets

/// Tells which of several keysets with the same keys is used, and what the others have that it lacks.
extension KeysetExamination {
    mutating func examineCopies(_ metadata: KeysetMetadata) {
        guard !context.copies.isEmpty else { return }
        let fault = KeysetCopies.fault(metadata, context.copies)
        refusal = refusal ?? Refusal(reason: fault, host: nil)
        let lost = revocationsLost(by: KeysetCopies.Copy(metadata, at: snapshot.path), metadata)
        guard lost.isEmpty else {
            let kids = lost.map(\.description).joined(separator: ", ")
            let paths = context.copies.filter { !$0.givenUp.isDisjoint(with: lost) }.map(\.path).joined(separator: ", ")
            return add(
                .error, "copied-keyset",
                "\(fault). This one still uses key \(kids), which was revoked or destroyed in \(paths)",
                advice: lost.map { PublishedKeyset.revokeCommand(snapshot.path, $0, secretArguments) }
                    .joined(separator: " && ") + "  # before you move a keyset away")
        }
        let incomplete = context.copies.filter { !revocationsLost(by: $0, metadata).isEmpty }.map(\.path)
        let commands = publicationLost(metadata)
        guard commands.isEmpty || !incomplete.isEmpty else {
            return add(
                .error, "copied-keyset", "\(fault). Another one has a later epoch or more topics of the signed set",
                advice: commands.joined(separator: " && ")
                    + "  # before you move a keyset away, if they are still right")
        }
        add(
            .error, "copied-keyset", fault,
            advice: incomplete.isEmpty
                ? separation(metadata)
                : "move none of them away before you have revoked in \(incomplete.joined(separator: ", ")) what the others revoked, as "
                    + "advised there; then check again")
    }

    /// The keys that one of the keysets with the same keys, which may be the one that is used, uses although another one has given them
    /// up. When that one is moved away, nothing shows that they were revoked.
    private func revocationsLost(by keyset: KeysetCopies.Copy, _ metadata: KeysetMetadata) -> [KeyID] {
        guard isPerhapsUsed(keyset, metadata) else { return [] }
        return withSameKeys(metadata).reduce(into: Set()) { $0.formUnion($1.givenUp) }.intersection(keyset.inUse)
            .sorted()
    }

    /// The commands that give this keyset, if it may be the one that is used, the epoch and the topics that another one has.
    private func publicationLost(_ metadata: KeysetMetadata) -> [String] {
        let own = KeysetCopies.Copy(metadata, at: snapshot.path)
        guard isPerhapsUsed(own, metadata), let policy = own.publication else { return [] }
        let others = context.copies.compactMap(\.publication).filter { $0.set == policy.set }
        let epoch = others.map(\.epoch).max().flatMap { $0 > policy.epoch ? $0 : nil }
        let topics = Set(others.flatMap(\.topics).map(\.description)).subtracting(policy.topics.map(\.description))
        let all = policy.topics.map(\.description) + topics.sorted()
        let raise = epoch.map { PublishedKeyset.raiseCommand(snapshot.path, toEpoch: $0, secretArguments) }
        let add = command("keys policy") + all.map { " --publish-topic \($0)" }.joined() + secretArguments
        return [raise, topics.isEmpty ? nil : add].compactMap(\.self)
    }

    /// This keyset and its copies.
    private func withSameKeys(_ metadata: KeysetMetadata) -> [KeysetCopies.Copy] {
        context.copies + [KeysetCopies.Copy(metadata, at: snapshot.path)]
    }

    /// Which of the keysets with the same keys is used: the only one with keys of its own in a served set, otherwise the one with the
    /// highest `seq`. nil if nothing tells: several have such keys or the highest `seq`, the last change was made under a wrong clock, or
    /// the served folder has a set with the name of another one.
    func used(_ metadata: KeysetMetadata) -> KeysetCopies.Copy? {
        let all = withSameKeys(metadata)
        let published = all.filter { hasPublishedKey($0, all) }
        guard published.isEmpty else { return published.count == 1 ? published[0] : nil }
        guard let newest = all.max(by: { $0.sequence < $1.sequence }) else { return nil }
        let others = all.filter { $0.path != newest.path }
        func isServed(_ copy: KeysetCopies.Copy) -> Bool {
            context.served?.hasSet(named: FileSystem.name(of: copy.path)) ?? false
        }
        let tells =
            others.allSatisfy { $0.sequence < newest.sequence }
            && newest.updatedAt.map { $0 <= now + PublishedSet.clockTolerance } ?? true
            && !others.contains(where: isServed)
        return tells ? newest : nil
    }

    /// Whether a served set has a key that only this one of the keysets has.
    private func hasPublishedKey(_ keyset: KeysetCopies.Copy, _ all: [KeysetCopies.Copy]) -> Bool {
        let others = all.filter { $0.path != keyset.path }.reduce(into: Set()) { $0.formUnion($1.kids) }
        return context.served?.hasKey(keyset.kids.subtracting(others)) ?? false
    }

    /// Whether one of the keysets with the same keys may be the one that is used.
    private func isPerhapsUsed(_ keyset: KeysetCopies.Copy, _ metadata: KeysetMetadata) -> Bool {
        used(metadata).map { $0.path == keyset.path } ?? true
    }

    /// Only a keyset that isn't the one which is used is advised to be moved.
    private func separation(_ metadata: KeysetMetadata) -> String {
        let all = withSameKeys(metadata)
        guard let used = used(metadata) else {
            let served = all.map(\.path).filter { context.served?.hasSet(named: FileSystem.name(of: $0)) == true }
            return command("keys list")
                + "  # the seq doesn't tell which one is the copy: look which one your programs use, and move the other one out of the "
                + "keystore" + (served.count == 1 ? "; the served folder has a set with the name of \(served[0])" : "")
        }
        let isPublished = hasPublishedKey(used, all)
        guard used.path != snapshot.path else {
            return command("keys list")
                + "  # keep this one, which has \(isPublished ? "keys in the served folder that no other has" : "the highest seq")"
        }
        let (own, other) = (ShellArgument.quoted(snapshot.path), ShellArgument.quoted(used.path))
        let reason = isPublished ? "the served folder has keys of \(used.path) only" : "its seq is lower"
        let isReplaced =
            context.served?.hasSet(named: FileSystem.name(of: snapshot.path)) == true
            && context.served?.hasSet(named: FileSystem.name(of: used.path)) == false
        return "mv \(own) FOLDER" + (isReplaced ? " && mv \(other) \(own)" : "")
            + "  # \(reason); FOLDER is a new name outside the keystore"
            + (isReplaced ? "" : "; if your programs use this path, then: mv \(other) \(own)")
    }
}
