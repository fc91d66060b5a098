import ArgumentParser
import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptKeystore

struct KeysPublish: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "publish", abstract: "Write a keyset's public set into a folder that a web server serves.",
        discussion: """
            With --signed-by it writes the signed set of a sender keyset, NAME.json, which apps with pins fetch. Without it \
            writes the public keys of recipients or senders, NAME.jwks.json. A copy with the number of the set, \
            NAME.SEQ.json or NAME.SEQ.jwks.json, stays when a later set replaces NAME.json.

            Every user may read the files. They are replaced atomically, and only if their content changes: otherwise even \
            their time of modification stays. A signed set is verified as an app does, before and after it is written.

            Exit status: 0 the folder has the set, perhaps already before; 65 the folder has a later set, or one of another \
            keyset or epoch, or with keys or signatures that this host doesn't know, or this set can't be signed; anything else: \
            see pushcrypt --help.

            Example: pushcrypt keys publish Keys/senders --to /srv/www --signed-by Publisher/app
            """)

    @Argument(help: .init("The keyset.", "Keys/NAME")) var path: String
    @Option(name: .customLong("to"), help: .init("The folder to write into. It must exist.", "FOLDER"))
    var folder: String
    @Option(name: .customLong("as"), help: .init("The files' name, without suffix. (default: the keyset's)", "NAME"))
    var name: String?
    @Flag(help: "Print JSON: one object.") var json = false
    @OptionGroup var timeOptions: TimeOptions
    @OptionGroup(title: "Signed sender sets") var publisher: PublisherOptions
    @Flag(
        help: .init(
            "Also replace a set that only other publisher keysets have signed: the apps pin this one, too."))
    var newPublisher = false
    @OptionGroup(title: "Restored copies") var expected: ExpectationOptions
    @OptionGroup var messages: MessageOptions
    @OptionGroup(title: "Encrypted keysets") var secrets: SecretOptions

    func validate() throws {
        if let name, name.hasPrefix(".") || name.contains("/") {
            throw ValidationError("--as takes a name, such as senders: no path, and no dot at its beginning.")
        }
        if let name, let last = name.split(separator: ".").dropFirst().last, last == "json" || Int64(last) != nil {
            throw ValidationError(
                "--as takes a name without suffix and number, such as senders: the numbered copies are NAME.SEQ.json.")
        }
        guard publisher.signedBy != nil || !newPublisher else {
            throw ValidationError("--new-publisher needs --signed-by.")
        }
        guard publisher.signedBy != nil || !publisher.hasSecret else {
            throw ValidationError("\(PublisherOptions.secretNames) need --signed-by.")
        }
    }

    func run() throws {
        let place = PublishedKeyset(path, secrets.repeatedArguments)
        let publication = try publication(of: place)
        let result: JSONObject = [
            "keyset": path, "file": publication.file, "copy": publication.copy, "seq": publication.sequence,
            "changed": publication.isChanged,
        ]
        try noteUnsignedSet(name ?? place.name, isNew: publication.isChanged)
        if let notice = publication.notice { StandardStreams.writeNote(notice) }
        try StandardStreams.write(result, asJSON: self.json) { _ in
            TerminalText.harmless(
                publication.isChanged
                    ? "wrote \(publication.file), seq \(publication.sequence), and its copy \(publication.copy)".utf8
                    : "\(publication.file) is up to date, seq \(publication.sequence)".utf8) + "\n"
        }
    }

    /// Says that only the public keys of a sender keyset were published, and how its signed set is.
    private func noteUnsignedSet(_ name: String, isNew: Bool) throws {
        guard publisher.signedBy == nil else { return }
        let metadata = try KeysetFolder(path).file().metadata
        guard metadata.signedSet != nil else {
            guard isNew, metadata.kind == .sender else { return }
            return StandardStreams.writeNote(
                "\(path): the published set isn't signed, so apps can't verify it when they fetch it; they must bundle it. To sign it: "
                    + "`pushcrypt keys policy \(ShellArgument.quoted(path)) --publish-topic com.example.app`, then publish again with "
                    + "--signed-by Publisher/NAME, a keyset of the kind publisher that the apps trust (docs/rotation.md)"
            )
        }
        let file = KeysetFolder(folder).path + "/\(name).json"
        let state =
            FileSystem.exists(file) ? "its signed set \(file) stays as it is" : "its signed set was not published"
        StandardStreams.writeNote("\(path): \(state): to publish it, add --signed-by Publisher/NAME")
    }

    private func publication(of place: PublishedKeyset) throws -> PublicationFolder.Publication {
        guard let signedBy = publisher.signedBy else {
            let keyset = try PublisherOptions.unlocked(path, secrets.source(of: path).expecting(expected.state))
            return try KeySource.naming(path) {
                try PublicationFolder(folder).publish(keysOf: keyset, of: place, as: name, at: timeOptions.time)
            }
        }
        return try publisher.withSet(of: path, by: signedBy, secrets, (path, expected.state)) { set in
            try PublicationFolder(folder).publish(
                set, epoch: publisher.epoch, of: place, as: name, isNewPublisher: newPublisher, at: timeOptions.time)
        }
    }
}
