package import PushCryptCore
import PushCryptFiles
package import PushCryptKeysets
import PushCryptPrimitives

/// A folder from which a web server serves public sets.
///
/// ```
/// NAME.json              the signed set of a sender keyset       NAME.SEQ.json         the same, and its predecessors
/// NAME.jwks.json         the public keys of any keyset           NAME.SEQ.jwks.json
/// ```
/// A file is replaced atomically, readable for every user, and only if its bytes change: its time of modification and what
/// a server derives of it, such as an ETag, stay the same otherwise.
package struct PublicationFolder {
    private let folder: Folder

    /// Opens the folder, follows a link to it, and locks it until this value is released.
    ///
    /// - Throws: `KeystoreError` with `notFound`, `noPermission`, and `changedMeanwhile` if another process publishes there.
    package init(_ path: String) throws {
        guard try !Self.hasKeysets(path) else {
            throw KeystoreError(
                .notPublished, "\(path) has private keys, which a web server must never serve: name another folder")
        }
        guard FileSystem.exists(path) else {
            throw KeystoreError(
                .notFound, "\(path): there is no such folder; create it: `mkdir -p \(ShellArgument.quoted(path))`")
        }
        folder = try KeystoreError.converting { () throws(FileError) in try Folder(path, followingLinks: true) }
        do throws(FileError) {
            // A user who can open the folder could hold the lock for ever.
            try folder.lock(.exclusive, .until(.now + .seconds(10)))
        } catch {
            guard error.code == .busy else { throw KeystoreError(error) }
            throw KeystoreError(.changedMeanwhile, "\(error.reason), perhaps to publish; try again")
        }
    }

    /// Whether a folder is that of a keyset, or a keystore.
    private static func hasKeysets(_ path: String) throws -> Bool {
        if try KeysetFolder(path).exists { return true }
        return ((try? Keystore(path).everyKeyset()) ?? []).isEmpty == false
    }

    package struct Publication {
        /// The file that apps and recipients fetch, and its copy with the number.
        package let file, copy: String
        package let sequence: Int64
        package let isChanged: Bool
        /// What an operator must know beside; nil if nothing.
        package var notice: String?
    }

    /// Writes the signed set of a sender keyset, and verifies the written file as an app does.
    ///
    /// - Parameters:
    ///   - epoch: as for ``PublishedSet/document(epoch:at:)``.
    ///   - keyset: whose set it is.
    ///   - givenName: without the suffix; nil for the keyset's name.
    ///   - isNewPublisher: whether apps also pin the publisher keyset if only others have signed the last set of this name.
    /// - Throws: `KeyError`; `KeystoreError` with `notPublished` if the folder has a later set, or another one.
    package func publish(
        _ set: PublishedSet, epoch: Int64?, of keyset: PublishedKeyset, as givenName: String?,
        isNewPublisher: Bool = false,
        at time: UnixTime
    ) throws -> Publication {
        let name = givenName ?? keyset.name
        let document = try set.document(epoch: epoch, at: time)
        // Before an app can fetch it.
        let new = try set.verified(document, epoch: epoch, at: time)
        let names = Names(name, isSigned: true, sequence: new.publication.sequence)
        var notice: String?
        let bytes = try current(names.file)
        let old = try bytes.map { try served($0, names.file) }
        let (history, neighbours) = try checkedHistory(as: givenName, isSigned: true, keyset, set.metadata, at: time)
        // Under any name: a renamed copy of a keyset is an old one, too.
        if let newest = history.newest(of: new.publication), newest.sequence > new.publication.sequence {
            throw keyset.newer(newest, than: set.metadata)
        }
        let ownHistory = history.of(name, isSigned: true)
        if let epochs = ownHistory.otherEpochs { throw keyset.misplaced(epochs) }
        if let old, let bytes {
            if old.publication?.set != new.publication.set,
                let owner = neighbours.first(where: { old.belongs(to: $0.metadata) })
            {
                throw keyset.notOwn(old, owner, history, set.metadata)
            }
            try old.requireReplaceable(by: new, keyset, set.metadata)
            guard !set.publisher.hasSigner(of: old) || set.hasSigned(bytes) else {
                throw keyset.damagedSignature(old.path)
            }
            try set.publisher.requireSigned(old, keyset, set.metadata)
            notice = try keyset.lostKeys(of: old, set.metadata.timeline)
        }
        if history.newest(of: new.publication) == nil, set.isOld(at: time) {
            notice =
                "the folder had no set of the keyset, so nothing showed whether the keyset or \(set.publisher.path) is an old copy: check "
                + "with `pushcrypt keys list` that no key is in use which was revoked or destroyed"
        }
        notice = history.refusal(of: new.publication) ?? notice
        if let difference = history.refusal(of: set.publisher) {
            throw PublisherKeyset.refusal(difference, keyset.raise(from: difference.sequence, set.metadata))
        }
        let last = ownHistory.newest(of: new.publication)
        let isForeign = last.map(set.publisher.isForeign) ?? false
        if isForeign, !isNewPublisher, let last { throw keyset.otherPublisher(last, set.publisher) }
        // The set itself may have been lost.
        if let copy = ownHistory.newestCopy, copy.publication?.set == new.publication.set {
            try copy.requireReplaceable(by: new, keyset, set.metadata)
        }
        let signers = try SignedSenderSet.namedSigners(of: document)
        if let signed = ownHistory.signed(byOthersThan: signers, at: new.publication.sequence) {
            throw keyset.otherSigners(signed, set.publisher)
        }
        var publication = try write(document, names, of: keyset)
        publication.notice = publication.isChanged ? notice : nil
        if isNewPublisher, !isForeign {
            publication.notice =
                "--new-publisher has no effect: no other publisher keyset has signed the last set of \(name)"
        }
        _ = try set.verified(current(names.file) ?? [], epoch: epoch, at: time)
        return publication
    }

    /// Writes the public keys of a keyset.
    ///
    /// - Throws: `KeystoreError` with `notPublished` if the folder has a later set, or other keys.
    package func publish(
        keysOf keyset: StoredKeyset, of place: PublishedKeyset, as givenName: String?, at time: UnixTime
    ) throws -> Publication {
        let name = givenName ?? place.name
        guard keyset.metadata.kind != .publisher, let bytes = try keyset.published() else {
            throw KeyError(
                .wrongKind,
                "\(keyset.metadata.kind.rawValue) keys are not published: "
                    + (keyset.metadata.kind == .publisher
                        ? "apps bundle them (`keys export --pins-for`)"
                        : "each device gets its own (`keys export --device`)"))
        }
        try place.requirePublishable()
        if let changedAt = keyset.metadata.timeline.updatedAt, changedAt > time + PublishedSet.clockTolerance {
            throw PublishedSet.issuedInFuture(changedAt, time)
        }
        let (history, neighbours) = try checkedHistory(as: givenName, isSigned: false, place, keyset.metadata, at: time)
        if let newest = history.newestKeys(of: keyset.metadata), newest.sequence > keyset.metadata.sequence {
            throw place.newer(newest, than: keyset.metadata)
        }
        let names = Names(name, isSigned: false, sequence: keyset.metadata.sequence)
        let path = folder.path(of: names.file)
        var notice: String?
        if let current = try current(names.file) {
            let served = ServedSet(current, path: path, isSigned: false)
            if let served, !served.belongs(to: keyset.metadata),
                let owner = neighbours.first(where: { served.belongs(to: $0.metadata) })
            {
                throw place.notOwn(served, owner, history, keyset.metadata)
            }
            if let served, !served.keys.hasKind(of: keyset.metadata) {
                throw place.notOwn(path, "it has the keys of \(served.keys.areSenders ? "senders" : "recipients")")
            }
            switch PublicCondition(current, keyset.metadata, keyset.records) {
            case .newer:
                guard let served else { throw place.conflict(path, keyset.metadata.sequence) }
                throw place.newer(served, than: keyset.metadata)
            case .foreign(let flaw):
                // After a restored backup, earlier public keys can have a key that the keyset lost.
                guard let served, served.keys.hasKey(of: keyset.metadata.timeline) else {
                    throw place.notOwn(path, flaw)
                }
                guard served.sequence < keyset.metadata.sequence else { throw place.conflict(path, served.sequence) }
            default: break
            }
            notice = try served.flatMap { try place.lostKeys(of: $0, keyset.metadata.timeline) }
        }
        var publication = try write(bytes, names, of: place)
        publication.notice = notice
        _ = try Keyset(json: current(names.file) ?? [])
        return publication
    }

    /// The sets in the folder and the other keysets of the keystore, after the checks that hold for every publication.
    private func checkedHistory(
        as givenName: String?, isSigned: Bool, _ keyset: PublishedKeyset, _ metadata: KeysetMetadata,
        at time: UnixTime
    ) throws -> (ServedHistory, neighbours: [(path: String, metadata: KeysetMetadata)]) {
        let name = givenName ?? keyset.name
        let neighbours = keyset.neighbours
        let history = ServedHistory(in: folder).beside(neighbours.map(\.metadata))
        try keyset.requireOwnName(name, isSigned: isSigned, in: history, metadata, neighbours)
        try keyset.requireNoCopy(as: name, in: history, metadata, neighbours)
        if givenName == nil { try keyset.requireHome(in: history, metadata) }
        try keyset.requireNewest(among: history.damagedCopies(of: name), metadata)
        try keyset.requireRevocations(of: history, in: metadata, at: time)
        return (history, neighbours)
    }

    private func served(_ bytes: [UInt8], _ name: String) throws -> ServedSet {
        let path = folder.path(of: name)
        guard let set = ServedSet(bytes, path: path, isSigned: true) else {
            throw KeystoreError(
                .notPublished,
                "\(path) is not a signed sender set. If it is a damaged one of this keyset, move it away, and publish again: "
                    + "`\(PublishedKeyset.moveAway(path))`; otherwise publish under another name, with --as NAME")
        }
        return set
    }

    private func current(_ name: String) throws -> [UInt8]? {
        guard folder.has(name) else { return nil }
        return try KeystoreError.converting { () throws(FileError) in try folder.read(name).bytes }
    }

    /// Writes the copy first, so that no set is served that isn't kept. It doesn't overwrite another set with the same number.
    private func write(_ bytes: [UInt8], _ names: Names, of keyset: PublishedKeyset) throws -> Publication {
        if let kept = try current(names.copy), kept != bytes {
            throw keyset.conflict(folder.path(of: names.copy), names.sequence, ", and it isn't overwritten")
        }
        return try KeystoreError.convertingFileErrors {
            for name in try folder.leftovers() where names.hasLeftover(name) { try folder.remove(name) }
            let isCopied = try replace(names.copy, with: bytes)
            let isReplaced = try replace(names.file, with: bytes)
            return Publication(
                file: folder.path(of: names.file), copy: folder.path(of: names.copy), sequence: names.sequence,
                isChanged: isCopied || isReplaced)
        }
    }

    /// - Returns: whether the bytes were another file's.
    private func replace(_ name: String, with bytes: [UInt8]) throws -> Bool {
        guard folder.has(name), try folder.read(name).bytes == bytes else {
            try folder.replace(name, with: bytes, mode: 0o644) { FaultPoint.reach("publication-\($0)") }
            return true
        }
        if folder.status(of: name)?.access.mode != 0o644 { try folder.file(name).setMode(0o644) }
        return false
    }

    private struct Names {
        let file, copy: String
        let sequence: Int64

        init(_ name: String, isSigned: Bool, sequence: Int64) {
            let suffix = ServedSet.suffix(isSigned: isSigned)
            file = name + suffix
            copy = "\(name).\(sequence)\(suffix)"
            self.sequence = sequence
        }

        /// Whether an interrupted call left this file.
        func hasLeftover(_ name: String) -> Bool { name.hasPrefix(file + ".") || name.hasPrefix(copy + ".") }
    }
}

extension KeystoreError.Code {
    /// The folder has a later set than the one to publish, or another set.
    package static let notPublished = KeystoreError.Code(name: "notPublished")
}

extension PublisherKeyset {
    /// - Throws: `KeystoreError` with `notPublished` for a set with other signatures than those of this keyset.
    fileprivate func requireSigned(
        _ set: ServedSet, _ keyset: PublishedKeyset, _ metadata: KeysetMetadata
    ) throws(KeystoreError) {
        guard let difference = difference(from: set) else { return }
        throw Self.refusal(difference, keyset.raise(from: set.sequence, metadata))
    }

    /// - Parameter raise: as for ``Difference/advice(_:)``.
    fileprivate static func refusal(_ difference: Difference, _ raise: String) -> KeystoreError {
        KeystoreError(.notPublished, "\(difference.reason). \(difference.advice(raise))")
    }
}

extension ServedSet {
    /// - Throws: `KeystoreError` with `notPublished` if apps that accepted this signed set would refuse the new one.
    fileprivate func requireReplaceable(
        by new: SignedSenderSet, _ keyset: PublishedKeyset, _ metadata: KeysetMetadata
    ) throws {
        guard let old = publication else { return }
        func refuse(_ reason: String) -> KeystoreError {
            KeystoreError(
                .notPublished,
                "\(path) \(reason): check that this is the right folder; if it is, publish under another name, with --as NAME"
            )
        }
        guard old.set == new.publication.set else { throw refuse("is the set of another keyset") }
        guard old.epoch == new.publication.epoch else {
            let epochs = "\(path) has epoch \(old.epoch), and this set has epoch \(new.publication.epoch)"
            if let own = metadata.publication?.epoch, own < old.epoch {
                throw keyset.earlierEpoch(self, old.epoch, own)
            }
            guard old.epoch < new.publication.epoch else {
                throw KeystoreError(.notPublished, "\(epochs); publish under another name, with --as NAME")
            }
            throw KeystoreError(
                .notPublished,
                "\(epochs), which the apps that fetch that file refuse. Publish theirs with --epoch \(old.epoch), and this one under another "
                    + "name, with --as NAME. If no app pins epoch \(old.epoch) any more, move the set of this name and its numbered copies "
                    + "out of the folder, and publish again")
        }
        guard sequence <= new.publication.sequence else {
            throw keyset.newer(self, than: metadata)
        }
        guard try sequence < new.publication.sequence || DefaultBackend.shared.sha256(payload.bytes) == new.digest
        else {
            throw keyset.conflict(path, sequence, ", so apps would refuse this one")
        }
    }
}
