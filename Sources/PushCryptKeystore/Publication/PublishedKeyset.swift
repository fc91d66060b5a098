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

    /// The served set is that of another name: its numbered copies have another epoch.
    func misplaced(_ served: ServedSet, _ epoch: Int64, _ copy: ServedSet, _ copyEpoch: Int64) -> KeystoreError {
        KeystoreError(
            .notPublished,
            "\(Self.misplaced(served, epoch, copy, copyEpoch)). Move the set away, and publish that of epoch \(copyEpoch) under this "
                + "name, with --epoch \(copyEpoch): `\(Self.moveAway(served.path))`")
    }

    static func misplaced(_ served: ServedSet, _ epoch: Int64, _ copy: ServedSet, _ copyEpoch: Int64) -> String {
        "\(served.path) has epoch \(epoch), and \(copy.path), its newest copy, has epoch \(copyEpoch): apps that fetch this file "
            + "refuse the set"
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

    /// The served public keys are another keyset's.
    func notOwn(_ servedPath: String, _ flaw: String) -> KeystoreError {
        KeystoreError(
            .notPublished,
            "\(servedPath) doesn't belong to the keyset: \(flaw). If it lies in the wrong place, or nothing fetches it, move it "
                + "away, and publish again: `\(Self.moveAway(servedPath))`; otherwise check that this is the right folder, and publish "
                + "under another name, with --as NAME")
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
