import PushCryptCore
import PushCryptFiles
import PushCryptKeysets

/// Whose the names in the served folder are: a name keeps its keyset, and a keyset its name.
extension KeysetExamination {
    /// The sets of a name that is now this keyset's were another keyset's. They may be of a kind that this one doesn't publish, unless it
    /// has sets of the other kind: a keyset may be published with `--as` and the name of one of another kind.
    mutating func examineName(
        _ name: String, _ sets: [ServedSet], _ folder: ServedFolder, _ metadata: KeysetMetadata
    ) {
        let hasOwn = [true, false].contains { folder.history(of: name, isSigned: $0).hasSet(of: metadata) }
        for isSigned in [true, false] {
            let publishes = metadata.hasSet(isSigned: isSigned)
            let set = sets.first { $0.name == name && $0.isSigned == isSigned }
            guard !publishes || set.map({ $0.belongs(to: metadata) }) ?? true,
                let other = otherKeyset(isSigned: isSigned, metadata),
                publishes || !hasOwn && hasPlace(of: other, metadata)
            else { continue }
            add(.error, "served-foreign", PublishedKeyset.fault(other), advice: moveHome(other, isSigned: isSigned))
        }
    }

    /// Whether this keyset has the name of a renamed one of its kind, or both have each other's name. A name of another kind's keyset may be
    /// given with `--as`.
    private func hasPlace(of other: ServedHistory.OtherKeyset, _ metadata: KeysetMetadata) -> Bool {
        guard other.isRenamed, let owner = context.others.first(where: { $0.path == other.path }) else { return false }
        return owner.metadata.kind == metadata.kind || other.home == FileSystem.name(of: owner.path)
    }

    /// The keyset whose sets had this keyset's name; nil if they were this one's.
    func otherKeyset(isSigned: Bool, _ metadata: KeysetMetadata) -> ServedHistory.OtherKeyset? {
        context.served?.otherKeyset(
            of: FileSystem.name(of: snapshot.path), isSigned: isSigned, metadata, try? snapshot.log.get(),
            context.others)
    }

    /// The command that gives the folders the names of their numbered copies.
    func moveHome(_ other: ServedHistory.OtherKeyset, isSigned: Bool) -> String {
        let keyset = PublishedKeyset(snapshot.path, secretArguments)
        guard let command = keyset.moveHome(other) else {
            let publishing = publish(isSigned: isSigned, as: "NAME")
            guard other.path == nil else {
                return publishing + "  # this keyset's name, unless its folder lies in the place of another one"
            }
            return "if this folder lies in the place of the keyset that has these sets, put that one back: mv "
                + "\(ShellArgument.quoted(snapshot.path)) FOLDER && "
                + "\(KeysetFolder(snapshot.path).restoreCommand(secretArguments)); if it doesn't: " + publishing
        }
        if let home = other.home.map(keyset.sibling), FileSystem.exists(home), snapshot.path >= home {
            return exchange(with: home)
        }
        return command
            + (other.home == nil
                ? "  # FOLDER is a new name outside the keystore; if \(other.path ?? "") was renamed on purpose: "
                    + publish(isSigned: isSigned, as: "NAME")
                : "  # as the numbered copies show, unless all files of the names were exchanged")
    }

    /// The keyset had another name, which another keyset of the keystore has now.
    ///
    /// - Returns: whether that is so.
    mutating func examineRenamed(_ folder: ServedFolder, _ metadata: KeysetMetadata) -> Bool {
        let keyset = PublishedKeyset(snapshot.path, secretArguments)
        guard let home = folder.home(of: metadata), home != keyset.name,
            let other = context.others.first(where: { FileSystem.name(of: $0.path) == home }),
            !context.copies.contains(where: { $0.path == other.path }),
            [true, false].contains(where: { isSigned in
                let own = [(path: snapshot.path, metadata: metadata)]
                return folder.otherKeyset(of: home, isSigned: isSigned, other.metadata, nil, own)?.isRenamed == true
            })
        else { return false }
        servedCount = 1
        add(
            .error, "served-unpublished",
            "the sets of the keyset have the name \(home) in \(folder.path), and \(other.path), another keyset, has that name now",
            advice: "first end the error about \(other.path), then check again")
        return true
    }

    /// What to do about a set of another keyset of the keystore in the place of this one's. The numbered copies tell whether the
    /// keysets or the served files were exchanged.
    func correction(
        of set: ServedSet, _ history: ServedHistory?, _ owner: (path: String, metadata: KeysetMetadata),
        _ metadata: KeysetMetadata
    ) -> String {
        if case .broken = logCondition { return "first end the error about the audit log, then check again" }
        let replace =
            publish(isSigned: set.isSigned, as: nil, movingAway: set.path)
            + "  # or, if this name is \(owner.path)'s, publish this keyset with --as NAME"
        if let other = otherKeyset(isSigned: set.isSigned, metadata) {
            return moveHome(other, isSigned: set.isSigned)
        }
        let hasOwn = history?.hasCopy(of: metadata) == true
        guard context.served?.hasSet(named: FileSystem.name(of: owner.path), ofOneOf: [metadata]) == true,
            hasOwn == (history?.hasCopy(of: owner.metadata) == true)
        else { return replace }
        return "if the folders \(snapshot.path) and \(owner.path) were exchanged: "
            + "\(PublishedKeyset.exchange(snapshot.path, owner.path)); if the served files were: " + replace
    }
}
