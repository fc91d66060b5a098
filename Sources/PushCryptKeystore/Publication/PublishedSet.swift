package import PushCryptCore
import PushCryptFiles
package import PushCryptKeysets

/// The files of a signed sender set (PROTOCOL section 10), made of a sender keyset and a publisher keyset.
package struct PublishedSet {
    /// The public keys.
    private let keyset: Keyset
    private let publication: SenderSetPublication
    /// Of the sender keyset.
    let metadata: KeysetMetadata
    /// Every key that isn't destroyed signs. A file that was written by hand may have revoked ones, too.
    private let publishers: [KeyRecord]
    let publisher: PublisherKeyset
    /// How far the clocks of two hosts may differ, in seconds.
    static let clockTolerance: Int64 = 600

    /// - Parameter path: of the publisher keyset, for commands that errors advise.
    /// - Throws: `KeyError` with `wrongKind` for keysets of other kinds or a sender key that is or was a publisher,
    ///   `invalidPolicy` if the senders have no set to publish.
    package init(of senders: StoredKeyset, by publishers: StoredKeyset, at path: String) throws {
        try Self.require(senders, .sender, "the keyset whose set is signed")
        try Self.require(publishers, .publisher, "the keyset that signs")
        guard let policy = senders.metadata.publication, let issuedAt = senders.metadata.timeline.updatedAt else {
            throw KeyError(
                .invalidPolicy,
                "the sender keyset has no signed set: name the apps that it is for with `pushcrypt keys policy Keys/NAME --publish-topic "
                    + "com.example.app`, then publish again")
        }
        metadata = senders.metadata
        let publisherTimeline = publishers.metadata.timeline
        publisher = PublisherKeyset(path: path, timeline: publisherTimeline)
        self.publishers = try publishers.keyset().entries.map(\.record).filter { record in
            publisherTimeline.updatedAt.flatMap { publisherTimeline.state(of: record.kid, at: $0)?.opens } ?? true
        }
        keyset = try senders.keyset().publicKeyset(keepingPSK: false)
        // Apps may still pin a publisher that was destroyed here.
        try keyset.requirePublishable(without: publisherTimeline.keys.map(\.kid))
        publication = try policy.publication(sequence: senders.metadata.sequence, issuedAt: issuedAt)
    }

    /// The command that publishes the set of a sender keyset, with the places to fill in in capitals. The publisher keyset has a
    /// secret of its own where the sender keyset has one.
    ///
    /// - Parameters:
    ///   - secretArguments: as in `SecretSource.arguments`.
    ///   - folder: quoted for a shell.
    ///   - publisher: the path of the publisher keyset.
    package static func command(
        _ path: String, _ secretArguments: String, to folder: String = "FOLDER", by publisher: String = anyPublisher
    ) -> String {
        "pushcrypt keys publish \(ShellArgument.quoted(path)) --to \(folder) --signed-by \(ShellArgument.quoted(publisher))"
            + secretArguments
            + (secretArguments.isEmpty ? "" : " --publisher-passphrase-file FILE")
    }

    /// A name to fill in.
    package static let anyPublisher = "Publisher/NAME"

    private static func require(_ keyset: StoredKeyset, _ kind: KeyKind, _ role: String) throws(KeyError) {
        let found = keyset.metadata.kind
        guard found != kind else { return }
        throw KeyError(
            .wrongKind,
            "\(role) contains \(found.rawValue) keys; \(kind.rawValue) keys are needed, as `pushcrypt keys create --kind "
                + "\(kind.rawValue)` makes them"
                + (kind == .publisher
                    ? ", and apps trust only those whose pins they contain (`keys export --pins-for`)" : ""))
    }

    /// The signed document. It depends only on the two keysets: it was issued at the sender keyset's last change.
    ///
    /// - Parameters:
    ///   - epoch: an earlier epoch, which apps without the update pin; nil for the current one.
    ///   - time: the clock's time.
    /// - Throws: `KeyError` with `expired` for a document that apps would refuse, `issuedInFuture` if the keyset was changed
    ///   under a wrong clock, `invalidPolicy` for a later epoch, `tooLarge`.
    package func document(epoch: Int64? = nil, at time: UnixTime) throws -> [UInt8] {
        let publication = try publication.with(epoch: epoch)
        // Apps would count its validity from then, and accept no set that was issued before.
        guard publication.issuedAt <= time + Self.clockTolerance else {
            throw Self.issuedInFuture(publication.issuedAt, time)
        }
        if let changedAt = publisher.timeline.updatedAt, changedAt > time + Self.clockTolerance {
            throw KeyError(
                .issuedInFuture,
                "\(publisher.path) was changed at \(changedAt), but it is \(time) now: correct the clock, or restore the publisher "
                    + "keyset as it was before the clock was wrong: docs/runbooks/wrong-clock.md")
        }
        guard time < publication.validUntil else {
            throw KeyError(
                .expired,
                "the set was issued at \(publication.issuedAt) and was valid until \(publication.validUntil): `rotate` issues it again"
            )
        }
        return try SignedSenderSet.sign(keyset, publication, by: publishers)
    }

    static func issuedInFuture(_ issuedAt: UnixTime, _ time: UnixTime) -> KeyError {
        KeyError(
            .issuedInFuture,
            "the set was issued at \(issuedAt), but it is \(time) now: correct the clock, or restore the keyset as it was before "
                + "the clock was wrong: docs/runbooks/wrong-clock.md")
    }

    /// The text that the app bundles. It contains no secret.
    ///
    /// - Throws: `KeyError` with `tooLarge` for more than 4 publishers.
    package func pins() throws -> [UInt8] { try appPins(epoch: nil).json }

    private func appPins(epoch: Int64?) throws -> SenderSetPins {
        let records = publishers.map { $0.publicRecord(keepingPSK: false) }
        return try SenderSetPins(publishers: records, set: publication.set, epoch: epoch ?? publication.epoch)
    }

    /// Whether the senders have had keys for more than a day, so that a set has probably been published before.
    func isOld(at time: UnixTime) -> Bool {
        let createdAt = metadata.timeline.keys.compactMap(\.lifecycle.createdAt).min()
        return createdAt.map { $0 + KeysetExamination.graceInSeconds < time } ?? true
    }

    /// Whether one of these publishers has signed a document.
    func hasSigned(_ document: [UInt8]) -> Bool {
        let records = publishers.map { $0.publicRecord(keepingPSK: false) }
        return (try? SignedSenderSet.verify(document, publishers: records)) != nil
    }

    /// Verifies a document as an app of each topic does that has accepted no set yet.
    ///
    /// - Throws: `KeyError`.
    func verified(_ document: [UInt8], epoch: Int64?, at time: UnixTime) throws -> SignedSenderSet {
        let pins = try appPins(epoch: epoch)
        let set = try SignedSenderSet.verify(document, publishers: pins.publishers)
        for topic in set.publication.topics {
            _ = try SenderSetState(accepting: set, pins: pins, topic: topic, stored: nil, at: time)
        }
        return set
    }
}
