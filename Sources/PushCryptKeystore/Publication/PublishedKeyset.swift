package import PushCryptCore
package import PushCryptFiles
import PushCryptKeysets

/// The keyset whose set is published, as commands name it. It compares the new set with the served one.
package struct PublishedKeyset: Sendable {
    private let path: String
    private let secretArguments: String

    /// - Parameter secretArguments: as in `SecretSource.arguments`.
    package init(_ path: String, _ secretArguments: String) {
        (self.path, self.secretArguments) = (path, secretArguments)
    }

    /// The name of its sets, unless a command gives another one.
    package var name: String { FileSystem.name(of: KeysetFolder(path).path) }

    /// - Parameter secretArguments: as in `SecretSource.arguments`.
    package static func revokeCommand(_ path: String, _ kid: KeyID, _ secretArguments: String) -> String {
        "pushcrypt keys revoke \(ShellArgument.quoted(path))\(secretArguments) \(ShellArgument.last(kid))"
    }

    /// The command that raises the `seq` of a keyset.
    ///
    /// - Parameter secretArguments: as in `SecretSource.arguments`.
    static func raiseCommand(_ path: String, above sequence: Int64, _ secretArguments: String) -> String {
        "pushcrypt keys policy \(ShellArgument.quoted(path)) --publish-seq \(sequence + 1)\(secretArguments)"
    }

    /// The command that raises the epoch of a keyset's signed set.
    ///
    /// - Parameter secretArguments: as in `SecretSource.arguments`.
    static func raiseCommand(_ path: String, toEpoch epoch: Int64, _ secretArguments: String) -> String {
        "pushcrypt keys policy \(ShellArgument.quoted(path)) --publish-epoch \(epoch)\(secretArguments)"
    }

    /// The keyset is an old copy from before its epoch was raised.
    func earlierEpoch(_ served: ServedSet, _ epoch: Int64, _ own: Int64) -> KeystoreError {
        KeystoreError(
            .notPublished,
            "\(served.path) has epoch \(epoch), and the keyset has epoch \(own): it is an old copy. If there is a newer backup, restore "
                + "it: `\(KeysetFolder(path).restoreCommand(secretArguments))`. Otherwise raise the epoch again: "
                + "`\(Self.raiseCommand(path, toEpoch: epoch, secretArguments))`")
    }

    /// Sets of a name are those of another name.
    func misplaced(_ epochs: ServedHistory.OtherEpochs) -> KeystoreError {
        KeystoreError(
            .notPublished,
            "\(epochs.fault). Move what has another epoch away, and publish the set of epoch \(epochs.epoch) under this name, with "
                + "--epoch \(epochs.epoch): `\(epochs.moveAway)`")
    }

    /// A publisher key was added or destroyed after the set was signed. New signatures under the same number would replace the record of
    /// the earlier ones. `keys publish` recognises an old copy of the publisher keyset by this record.
    func otherSigners(_ served: ServedSet, _ publisher: PublisherKeyset) -> KeystoreError {
        KeystoreError(
            .notPublished,
            "\(served.path) was signed by publisher key \(PublisherKeyset.list(served.signers.sorted())), and \(publisher.path) has "
                + "\(publisher.signingKeys). A set that was published isn't signed again, because it is the record of the publisher "
                + "keys: raise the seq of the keyset, then publish: `\(raise(above: served.sequence))`")
    }

    /// The command that raises the `seq`, with `&&` behind it, if the keyset has the number of a set that was published.
    func raise(from sequence: Int64, _ metadata: KeysetMetadata) -> String {
        sequence == metadata.sequence ? raise(above: sequence) + " && " : ""
    }

    /// The other keysets of the keystore that can be read.
    var neighbours: [(path: String, metadata: KeysetMetadata)] {
        let keystore = FileSystem.parent(of: KeysetFolder(path).path)
        let own = Keystore.identity(of: path)
        let paths = (try? Keystore(keystore.isEmpty ? "." : keystore).everyKeyset()) ?? []
        return paths.filter { Keystore.identity(of: $0) != own }.compactMap { path in
            (try? KeysetFolder(path).file()).map { (path, $0.metadata) }
        }
    }

    func raise(above sequence: Int64) -> String { Self.raiseCommand(path, above: sequence, secretArguments) }

    /// A numbered copy of a later set shows that the keyset is an old copy, also if it can't be read.
    ///
    /// - Throws: `KeystoreError` with `notPublished`.
    func requireNewest(among copies: [(path: String, sequence: Int64)], _ metadata: KeysetMetadata) throws {
        guard let copy = copies.first(where: { $0.sequence > metadata.sequence }) else { return }
        throw KeystoreError(
            .notPublished,
            "\(copy.path) is the damaged copy of a later set, seq \(copy.sequence), and the keyset has seq "
                + "\(metadata.sequence): it is an old copy. If there is a newer backup, restore it: "
                + "`\(KeysetFolder(path).restoreCommand(secretArguments))`. Otherwise revoke again what was revoked since, "
                + "then raise its seq: `\(raise(above: copy.sequence))`")
    }

    /// A key that a served set revokes must stay revoked, also if it was destroyed since: a keyset from before would bring it into
    /// use again.
    ///
    /// - Parameter history: the sets in the folder, also those of other names, and their numbered copies.
    /// - Throws: `KeystoreError` with `notPublished`.
    func requireRevocations(of history: ServedHistory, in metadata: KeysetMetadata, at time: UnixTime) throws {
        let keys = history.givenUp(by: metadata, at: time)
        guard !keys.isEmpty else { return }
        if let key = keys.first(where: { $0.otherSet != nil }), let path = key.otherSet {
            throw KeystoreError(
                .notPublished,
                "\(path) has no key of the keyset. If it is another keyset's set, move it away, and publish again: "
                    + "`\(Self.moveAway(path))`. Otherwise the keyset is a copy from before key \(key.kid) was destroyed: restore the "
                    + "newest backup: `\(KeysetFolder(self.path).restoreCommand(secretArguments))`. Without a backup, revoke the "
                    + "key: `\(Self.revokeCommand(self.path, key.kid, secretArguments))`")
        }
        let commands = keys.map { "`\(Self.revokeCommand(path, $0.kid, secretArguments))`" }.joined(separator: ", ")
        throw KeystoreError(
            .notPublished,
            keys.map(\.reason).joined(separator: ", ")
                + ": the keyset is a copy from before, and the key would be used again. If another host changes the keyset now, "
                + "remove this copy. If there is a newer backup, restore it: "
                + "`\(KeysetFolder(path).restoreCommand(secretArguments))`. Otherwise revoke the key here, too: "
                + commands)
    }

    /// What is lost with a served set that has keys which the keyset doesn't have; nil without such keys.
    ///
    /// - Throws: `KeystoreError` with `notPublished` for a key that another host may use.
    func lostKeys(of served: ServedSet, _ timeline: KeyTimeline) throws -> String? {
        let unknown = served.keys.unknown(to: timeline)
        guard !unknown.isEmpty else { return nil }
        let foreign = try served.foreignKeys(timeline, KeysetStore(path).auditLog())
        guard foreign.isEmpty else {
            throw KeystoreError(
                .notPublished,
                "\(Self.unknownKeys(foreign, of: served)). If another host changes the keyset now, remove this copy. If there is a "
                    + "newer backup, restore it: `\(KeysetFolder(path).restoreCommand(secretArguments))`. If the key is lost, pushes "
                    + "with it show placeholders: move the set away, and publish again: `\(Self.moveAway(served.path))`"
            )
        }
        return
            "\(served.path) had key \(unknown.map(\.description).joined(separator: ", ")), which a restoration lost: pushes with it show "
            + "placeholders"
    }

    static func unknownKeys(_ kids: [KeyID], of served: ServedSet) -> String {
        "\(served.path) has key \(kids.map(\.description).joined(separator: ", ")), which the keyset has never had: another host uses "
            + "it, or it was lost with a backup"
    }

    /// Only other publishers have signed the last set.
    func otherPublisher(_ last: ServedSet, _ publisher: PublisherKeyset) -> KeystoreError {
        KeystoreError(
            .notPublished,
            "\(PublisherKeyset.foreignSigners(of: last, publisher.path)): apps that pin only that key would refuse the new set. If "
                + "\(publisher.path) is an old copy, restore its newest backup: `\(publisher.restore)`. If another publisher keyset "
                + "has the key, sign with it. If the apps also pin \(publisher.pinned), add --new-publisher"
        )
    }

    /// The set names a key of the publisher keyset, and has no valid signature of it.
    func damagedSignature(_ servedPath: String) -> KeystoreError {
        KeystoreError(
            .notPublished,
            "\(servedPath) is damaged: none of its signatures is valid. Move it away, and publish again: "
                + "`\(Self.moveAway(servedPath))`")
    }

    /// The served set is that of another keyset of the keystore. Without numbered copies nothing tells what was exchanged.
    func notOwn(
        _ served: ServedSet, _ owner: (path: String, metadata: KeysetMetadata), _ history: ServedHistory,
        _ metadata: KeysetMetadata
    ) -> KeystoreError {
        let theirs = history.of(FileSystem.name(of: owner.path), isSigned: served.isSigned).served.first
        let exchange =
            "If the folders were exchanged: `\(Self.exchange(KeysetFolder(path).path, owner.path))`. If not, and "
        return notOwn(
            served.path, "it is the set of \(owner.path)",
            theirs?.belongs(to: metadata) == true ? exchange : "If ",
            first: served.isSigned || served.sequence < metadata.sequence ? "" : raise(above: served.sequence) + " && ")
    }

    /// The served public keys are another keyset's.
    func notOwn(
        _ servedPath: String, _ flaw: String, _ condition: String = "If ", first command: String = ""
    ) -> KeystoreError {
        KeystoreError(
            .notPublished,
            "\(servedPath) doesn't belong to the keyset: \(flaw). \(condition)it lies in the wrong place, or nothing fetches it, move "
                + "it away, and publish again: `\(command)\(Self.moveAway(servedPath))`; otherwise check that this is the right folder, and publish "
                + "under another name, with --as NAME")
    }

    /// A name keeps its keyset: apps that have fetched a set of it refuse another keyset's, and senders would seal to other devices.
    ///
    /// - Throws: `KeystoreError` with `notPublished` for a name whose numbered copies are another keyset's.
    func requireOwnName(
        _ name: String, isSigned: Bool, in history: ServedHistory, _ metadata: KeysetMetadata,
        _ others: [(path: String, metadata: KeysetMetadata)]
    ) throws {
        let log = try? KeysetStore(path).auditLog()
        guard let other = history.otherKeyset(of: name, isSigned: isSigned, metadata, log, others) else { return }
        throw KeystoreError(.notPublished, "\(Self.fault(other)): \(remedy(other))")
    }

    static func fault(_ other: ServedHistory.OtherKeyset) -> String {
        "\(other.copy.path), a numbered copy of this name, is a set of \(other.path ?? "another keyset"), and not of this keyset"
    }

    /// What to do about a name whose numbered copies are another keyset's.
    private func remedy(_ other: ServedHistory.OtherKeyset) -> String {
        let command = moveHome(other)
        if let command, other.home != nil {
            return
                "the folders were exchanged or renamed, unless all files of the names were. To put the folders back: `\(command)`"
        }
        let away =
            "what fetches this name would get the keys of another keyset. Publish under another name, with --as NAME. If nothing "
            + "fetches this name any more, move its sets and their numbered copies out of the folder, and publish again"
        return command.map { "if the folder was renamed, put it back: `\($0)`. If it wasn't, " + away } ?? away
    }

    /// The command that gives the folders the names of their numbered copies; nil if this keyset has none, and the other one has its own
    /// name.
    func moveHome(_ other: ServedHistory.OtherKeyset) -> String? {
        let own = KeysetFolder(path).path
        guard let home = other.home.map(sibling) else {
            guard other.isRenamed, let path = other.path, FileSystem.name(of: own) == other.name else { return nil }
            return
                "mv \(ShellArgument.quoted(own)) FOLDER && mv \(ShellArgument.quoted(path)) \(ShellArgument.quoted(own))"
        }
        guard home != own else { return nil }
        guard !FileSystem.exists(home) else { return Self.exchange(own, home) }
        return "mv \(ShellArgument.quoted(own)) \(ShellArgument.quoted(home))"
            + (other.path.map { " && mv \(ShellArgument.quoted($0)) \(ShellArgument.quoted(own))" } ?? "")
    }

    /// A keyset keeps its name: what fetches the earlier one gets no later keys, and a keyset that takes the earlier name is taken for this
    /// one. A command with `--as` may give it a further name.
    ///
    /// - Throws: `KeystoreError` with `notPublished` for a folder with a new name.
    func requireHome(in history: ServedHistory, _ metadata: KeysetMetadata) throws {
        guard !history.of(name).hasSet(of: metadata), let home = history.home(of: metadata) else { return }
        let (own, former, quoted) = (KeysetFolder(path).path, sibling(home), ShellArgument.quoted(home))
        let back =
            (FileSystem.exists(former) ? "mv \(ShellArgument.quoted(former)) FOLDER && " : "")
            + "mv \(ShellArgument.quoted(own)) \(ShellArgument.quoted(former))"
        throw KeystoreError(
            .notPublished,
            "the folder has the sets of this keyset under the name \(home), and nothing fetches the name \(name) yet. If the keyset was "
                + "renamed, put it back: `\(back)`. To publish for those that fetch \(home), add --as \(quoted). For another name as well, "
                + "add --as \(ShellArgument.quoted(name))")
    }

    /// The path of a name in the same keystore.
    func sibling(_ name: String) -> String {
        let keystore = FileSystem.parent(of: KeysetFolder(path).path)
        return keystore.isEmpty ? name : "\(keystore)/\(name)"
    }

    /// The command that exchanges two folders or files.
    static func exchange(_ path: String, _ other: String) -> String {
        let (own, theirs) = (ShellArgument.quoted(path), ShellArgument.quoted(other))
        let between = ShellArgument.quoted(path + ".exchanged")
        return "mv \(own) \(between) && mv \(theirs) \(own) && mv \(between) \(theirs)"
    }

    /// Nothing fetches the name of a copy, and its set would be a later one than that of the keyset that is used.
    ///
    /// - Throws: `KeystoreError` with `notPublished` for a new name, if the folder has the sets of a keyset with the same keys.
    func requireNoCopy(
        as name: String, in history: ServedHistory, _ metadata: KeysetMetadata,
        _ others: [(path: String, metadata: KeysetMetadata)]
    ) throws {
        guard history.of(name).isEmpty else { return }
        let copy = others.first { other in
            KeysetCopies.haveSameKeys(metadata, other.metadata) && !history.of(FileSystem.name(of: other.path)).isEmpty
        }
        guard let copy else { return }
        throw KeystoreError(
            .notPublished,
            "\(copy.path) has the same keys, and the folder has its sets: one of the two keysets is a copy, and nothing fetches the name "
                + "\(name) yet. `pushcrypt status` says which one to keep. To publish this one for those that fetch the other one's set, "
                + "add --as \(ShellArgument.quoted(FileSystem.name(of: copy.path)))")
    }

    static func moveAway(_ path: String) -> String {
        "mv \(ShellArgument.quoted(path)) \(ShellArgument.quoted(path + ".old"))"
    }

    /// - Throws: `KeystoreError` with `unconfirmedRestoration`, `olderThanLog`.
    func requirePublishable() throws { try KeysetStore(path).requirePublishable(secretArguments) }

    /// - Parameter effect: of the other set.
    func conflict(_ servedPath: String, _ sequence: Int64, _ effect: String = "") -> KeystoreError {
        KeystoreError(
            .notPublished,
            "\(servedPath) is another set with the same seq \(sequence)\(effect). If another host publishes it, stop one of the "
                + "two. After a restored backup, raise the keyset's seq: `\(raise(above: sequence))`")
    }

    /// The keyset is an old copy of the one that published a set.
    func newer(_ served: ServedSet, than metadata: KeysetMetadata) -> KeystoreError {
        func list(_ kids: [KeyID], _ word: String, _ reason: String) -> String? {
            kids.isEmpty ? nil : " \(word) key \(kids.map(\.description).joined(separator: ", ")) (\(reason))"
        }
        let keys = [
            list(
                served.keys.unknown(to: metadata.timeline), "without", "another host uses it, or it was lost"),
            list(
                served.lacking(metadata.timeline).map(\.kid), "with", "destroyed since, or not published yet"),
        ].compactMap(\.self).map { "," + $0 }.joined()
        return KeystoreError(
            .notPublished,
            "\(served.path) has seq \(served.sequence), and the keyset has seq \(metadata.sequence): it is an old copy"
                + keys
                + ". If another host changes the keyset now, remove this copy. If there is a newer backup, restore it: "
                + "`\(KeysetFolder(path).restoreCommand(secretArguments))`. Otherwise, or if you have just restored the newest one, "
                + "revoke again what was revoked or destroyed after it, then raise its seq: `\(raise(above: served.sequence))`"
        )
    }
}

extension ShellArgument {
    /// A key's id as the last argument of a command: one that begins with a dash follows `--`.
    package static func last(_ kid: KeyID) -> String {
        let text = kid.description
        return text.hasPrefix("-") ? "-- " + text : text
    }
}
