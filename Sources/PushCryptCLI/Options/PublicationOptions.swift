import ArgumentParser
import PushCryptCore
import PushCryptKeysets
import PushCryptKeystore

/// How the signed set of a sender keyset is published.
struct PublicationOptions: ParsableArguments {
    @Option(
        name: .customLong("publish-topic"),
        help: .init("An app that the signed set is for; repeat it for several apps. Replaces the former apps.", "TOPIC")
    )
    var topics: [String] = []
    @Option(
        name: .customLong("publish-epoch"),
        help: .init("The epoch that the apps pin. It never goes down. (default: 1)", "N"))
    var epoch: Int64?
    @Option(
        name: .customLong("publish-for"),
        help: .init("How long a signed set is valid, 2 to 90 days. (default: 60d)", "DURATION"))
    var validFor: DurationArgument?
    @Option(
        name: .customLong("publish-seq"),
        help: .init(
            "Raise the keyset's seq to N after a backup was restored: the seq of the served set plus 1, or more.", "N"))
    var sequence: Int64?

    var isEmpty: Bool { topics.isEmpty && epoch == nil && validFor == nil && sequence == nil }

    func publish(_ editor: inout KeysetEditor) throws {
        guard !isEmpty else { return }
        let names = topics.isEmpty ? nil : try topics.map { try Topic(option: $0) }
        try editor.publish(topics: names, epoch: epoch, validForInSeconds: validFor?.seconds, sequence: sequence)
    }
}

/// What `keys export` makes of a sender keyset and a publisher keyset, and the publisher's secret.
struct SignedSetOptions: ParsableArguments {
    @Option(help: .init("Print the signed set of a sender keyset, signed by this publisher keyset.", "Keys/NAME"))
    var signedBy: String?
    @Option(
        help: .init("Print what an app bundles to verify the signed set of this sender keyset.", "Keys/NAME"))
    var pinsFor: String?
    @Option(
        help: .init("Sign for the apps that pin this earlier epoch. (default: the keyset's epoch)", "N"))
    var epoch: Int64?
    @Option(help: .init("The passphrase of the publisher keyset, if it has its own.", "FILE"))
    var publisherPassphraseFile: String?
    @Option(
        name: .customLong("publisher-passphrase-fd"),
        help: .init("A file descriptor to read the publisher keyset's passphrase from.", "N"))
    var publisherPassphraseDescriptor: Int32?
    @Option(help: .init("The command that unwraps the publisher keyset's data key, if it has its own.", "COMMAND"))
    var publisherWrapCommand: String?

    var isGiven: Bool { signedBy != nil || pinsFor != nil }

    func validate() throws {
        guard signedBy == nil || pinsFor == nil else {
            throw ValidationError("Use only one of --signed-by and --pins-for.")
        }
        guard epoch == nil || signedBy != nil else { throw ValidationError("--epoch needs --signed-by.") }
        let secrets = [
            publisherPassphraseFile != nil, publisherPassphraseDescriptor != nil, publisherWrapCommand != nil,
        ]
        guard secrets.filter(\.self).count <= 1 else {
            throw ValidationError(
                "Use only one of --publisher-passphrase-file, --publisher-passphrase-fd and --publisher-wrap-command.")
        }
        guard isGiven || !secrets.contains(true) else {
            throw ValidationError("A secret of the publisher keyset needs --signed-by or --pins-for.")
        }
    }

    /// The signed document of `path` or the pins with the publishers of `path`.
    ///
    /// - Parameters:
    ///   - secrets: the secret of both keysets, or of the sender keyset if the publisher's has its own.
    ///   - expected: what the keyset `path` must be at least.
    func exported(
        _ path: String, _ secrets: SecretOptions, _ expected: ExpectedState, at time: UnixTime
    ) throws -> [UInt8] {
        let (senders, publishers) = (pinsFor ?? path, signedBy ?? path)
        let own = publisherSecrets
        func unlocked(_ keyset: String, _ secrets: SecretOptions) throws -> StoredKeyset {
            let secret = secrets.source(of: keyset)
            return try Self.unlocked(keyset, keyset == path ? secret.expecting(expected) : secret)
        }
        let signing = try unlocked(publishers, own.isNamed ? own : secrets)
        let published = try unlocked(senders, secrets)
        return try KeySource.naming("\(senders) with the publisher \(publishers)") {
            let set = try PublishedSet(of: published, by: signing)
            return try pinsFor == nil ? set.document(epoch: epoch, at: time) : set.pins()
        }
    }

    private var publisherSecrets: SecretOptions {
        var secrets = SecretOptions()
        (secrets.passphraseFile, secrets.passphraseDescriptor) = (
            publisherPassphraseFile, publisherPassphraseDescriptor
        )
        secrets.wrapCommand = publisherWrapCommand
        return secrets
    }

    /// A keyset of a keystore. A file has no publication.
    private static func unlocked(_ path: String, _ secret: SecretSource) throws -> StoredKeyset {
        try KeySource.requireKeyset(path)
        return try KeySource.naming(path) { try KeysetFolder(path).file().unlocked(secret) }
    }
}
