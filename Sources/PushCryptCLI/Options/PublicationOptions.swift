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
            "Raise the keyset's seq to N after a backup was restored: the seq of the served set plus 1, or more. Also for "
                + "recipients and for senders without a signed set.", "N"))
    var sequence: Int64?

    var isEmpty: Bool { topics.isEmpty && epoch == nil && validFor == nil && sequence == nil }

    func publish(_ editor: inout KeysetEditor) throws {
        guard !isEmpty else { return }
        let names = topics.isEmpty ? nil : try topics.map { try Topic(option: $0, "--publish-topic") }
        try editor.publish(topics: names, epoch: epoch, validForInSeconds: validFor?.seconds, sequence: sequence)
    }
}

/// The publisher keyset that signs the set of a sender keyset, and its secret.
struct PublisherOptions: ParsableArguments {
    @Option(help: .init("Sign the set of a sender keyset with this publisher keyset.", "Keys/NAME"))
    var signedBy: String?
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

    func validate() throws {
        guard epoch == nil || signedBy != nil else { throw ValidationError("--epoch needs --signed-by.") }
        guard secretCount <= 1 else {
            throw ValidationError("Use only one of \(Self.secretNames).")
        }
    }

    static let secretNames = "--publisher-passphrase-file, --publisher-passphrase-fd and --publisher-wrap-command"

    private var secretCount: Int {
        [publisherPassphraseFile != nil, publisherPassphraseDescriptor != nil, publisherWrapCommand != nil]
            .count(where: \.self)
    }

    var hasSecret: Bool { secretCount > 0 }

    /// Calls `body` with the set of two keysets.
    ///
    /// - Parameters:
    ///   - secrets: the secret of both keysets, or of the sender keyset if the publisher's has its own.
    ///   - expectation: what one of the keysets must be at least.
    func withSet<Result>(
        of senders: String, by publishers: String, _ secrets: SecretOptions,
        _ expectation: (keyset: String, state: ExpectedState), _ body: (PublishedSet) throws -> Result
    ) throws -> Result {
        let own = publisherSecrets
        func unlocked(_ keyset: String, _ secrets: SecretOptions) throws -> StoredKeyset {
            let secret = secrets.source(of: keyset)
            let isExpected = keyset == expectation.keyset
            return try Self.namingSecrets(of: senders, publishers, isNeeded: !own.isNamed) {
                try Self.unlocked(keyset, isExpected ? secret.expecting(expectation.state) : secret)
            }
        }
        let signing = try unlocked(publishers, own.isNamed ? own : secrets)
        let published = try unlocked(senders, secrets)
        for (keyset, secrets) in [(publishers, own.isNamed ? own : secrets), (senders, secrets)] {
            try KeySource.naming(keyset) { try KeysetStore(keyset).requirePublishable(secrets.repeatedArguments) }
        }
        return try KeySource.naming("\(senders) with the publisher \(publishers)") {
            try body(PublishedSet(of: published, by: signing, at: publishers))
        }
    }

    /// Adds to an error about a missing or wrong secret which option is for which keyset.
    ///
    /// - Parameter isNeeded: whether the command doesn't name a secret of the publisher keyset.
    private static func namingSecrets<Result>(
        of senders: String, _ publishers: String, isNeeded: Bool, _ body: () throws -> Result
    ) throws -> Result {
        do {
            return try body()
        } catch {
            let codes: [KeystoreError.Code] = [.wrongSecret, .secretNeeded]
            let failure = Failure(error)
            let isAboutSecret = failure.status == .usage || codes.contains { $0 == (error as? KeystoreError)?.code }
            guard isNeeded, isAboutSecret else { throw error }
            throw Failure(
                failure.status,
                "\(failure.message). --passphrase-file is for \(senders); if \(publishers) has a secret of its own, add "
                    + "--publisher-passphrase-file FILE")
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
    static func unlocked(_ path: String, _ secret: SecretSource) throws -> StoredKeyset {
        try KeySource.requireKeyset(path, secret.arguments)
        return try KeySource.naming(path, secret.arguments) {
            try KeysetFolder(path).file(secret.arguments).unlocked(secret)
        }
    }
}
