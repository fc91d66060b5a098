import ArgumentParser
import PushCryptFiles
import PushCryptKeysets
import PushCryptKeystore

struct KeysSecrets: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "secrets", abstract: "Show, add and remove the secrets of a keyset, each of which opens its keys.",
        discussion: """
            A second secret is a second way to the keys: a passphrase in a safe beside the command of a KMS, or the \
            passphrases of two operators. A keyset has up to 8 secrets.
            """,
        subcommands: [KeysSecretsList.self, KeysSecretsAdd.self, KeysSecretsRemove.self])
}

/// ```
/// {"secrets": [{"name": NAME | null, "protection": TEXT}, ...]}
/// ```
/// The only secret of a keyset has no name.
struct KeysSecretsList: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Show the names of a keyset's secrets. No secret is needed.",
        discussion: "Example: pushcrypt keys secrets list Keys/backend")

    @Argument(help: .init("The keyset.", "Keys/NAME")) var path: String
    @Flag(help: "Print JSON.") var json = false
    @OptionGroup var messages: MessageOptions

    func run() throws {
        try KeySource.requireKeyset(path)
        let secrets = try KeySource.naming(path) { try KeysetFolder(path).file().protection.secrets }
        let rows = secrets.map { secret -> JSONObject in
            ["name": secret.name?.description, "protection": secret.protection.name]
        }
        let list: JSONObject = ["secrets": rows]
        try StandardStreams.write(list, asJSON: json) { _ in
            guard !secrets.isEmpty else { return "the keys are not encrypted\n" }
            let names = secrets.map { $0.name?.description ?? "-" }
            let width = names.map(\.count).max() ?? 0
            return zip(names, secrets).map { "\($0.padded(to: width))  \($1.protection.name)\n" }.joined()
        }
    }
}

struct KeysSecretsAdd: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Add a secret that opens the keys like the others.",
        discussion: """
            Give one of the secrets as for other commands, and the new one with a --new option or on the terminal. \
            Versions of pushcrypt without this command refuse a keyset with several secrets.

            Example: pushcrypt keys secrets add Keys/backend --name safe --new-passphrase-file safe.pass
            """)

    @Argument(help: .init("The keyset.", "Keys/NAME")) var path: String
    @Option(help: .init("The name of the new secret: letters, digits, \".\", \"_\" and \"-\".", "NAME"))
    var name: SecretName
    @Option(help: .init("A name for the secret that was the only one until now.", "NAME"))
    var firstName = SecretName("first")!
    @OptionGroup(title: "The new secret") var new: NewSecretArguments
    @OptionGroup var clock: ClockOptions
    @OptionGroup var options: ChangeOptions
    @OptionGroup(title: "Restored copies") var expected: ExpectationOptions
    @OptionGroup var messages: MessageOptions
    @OptionGroup(title: "Encrypted keysets") var secrets: SecretOptions

    func run() throws {
        let change = try KeysetChange(path, options, clock, secrets, expected.state)
        try change.answerSecret()
        let (_, secret) = try NewSecretOptions(
            options: new.options, allowsPlaintext: false, replaces: true
        ).protection()
        guard let secret else { return }
        try change.make { try $0.addSecret(name, secret, namingFirst: firstName) }
    }
}

struct KeysSecretsRemove: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove a secret: from now on it doesn't open the keyset.",
        discussion: """
            The keyset gets a new key that the removed secret doesn't open, and each remaining secret has to wrap it: \
            give one of them as for other commands, and the others with --remaining-passphrase-file and \
            --remaining-wrap-command. Copies of the old file still open with the removed secret. If it leaked, rotate the keys too.

            Example: pushcrypt keys secrets remove Keys/backend --name kms --passphrase-file safe.pass
            """)

    @Argument(help: .init("The keyset.", "Keys/NAME")) var path: String
    @Option(help: .init("The name of the secret, as keys secrets list shows it.", "NAME")) var name: SecretName
    @Option(help: .init("A file with the passphrase of another secret that remains; may be repeated.", "FILE"))
    var remainingPassphraseFile: [String] = []
    @Option(help: .init("The command of another secret that remains; may be repeated.", "COMMAND"))
    var remainingWrapCommand: [String] = []
    @OptionGroup var clock: ClockOptions
    @OptionGroup var options: ChangeOptions
    @OptionGroup(title: "Restored copies") var expected: ExpectationOptions
    @OptionGroup var messages: MessageOptions
    @OptionGroup(title: "Encrypted keysets") var secrets: SecretOptions

    func run() throws {
        let change = try KeysetChange(path, options, clock, secrets, expected.state)
        let others =
            try remainingPassphraseFile.map { try KeysetSecret.passphraseFile($0) }
            + remainingWrapCommand.map { .command($0) }
        try change.answerSecret()
        try change.make { try $0.removeSecret(name, others: others, of: path, command: command) }
    }

    /// The command without options for further secrets.
    private var command: String {
        let remaining =
            remainingPassphraseFile.map { " --remaining-passphrase-file \(ShellArgument.quoted($0))" }
            + remainingWrapCommand.map { " --remaining-wrap-command \(ShellArgument.quotedValue($0))" }
        return "pushcrypt keys secrets remove \(ShellArgument.quoted(path)) --name \(name)\(secrets.repeatedArguments)"
            + remaining.joined()
    }
}

/// The options that name a new secret, beside those that name the secret of the keyset.
struct NewSecretArguments: ParsableArguments {
    @Option(help: .init("A file with the new passphrase, which only its owner can read.", "FILE"))
    var newPassphraseFile: String?

    @Option(
        name: .customLong("new-passphrase-fd"),
        help: .init("An inherited file descriptor to read the new passphrase from.", "N"))
    var newPassphraseDescriptor: Int32?

    @Option(help: .init("The new command that wraps and unwraps data keys.", "COMMAND")) var newWrapCommand: String?

    var isGiven: Bool { options.isNamed }

    var options: SecretOptions {
        var options = SecretOptions()
        (options.passphraseFile, options.passphraseDescriptor) = (newPassphraseFile, newPassphraseDescriptor)
        options.wrapCommand = newWrapCommand
        return options
    }

    func validate() throws {
        let given = [newPassphraseFile != nil, newPassphraseDescriptor != nil, newWrapCommand != nil]
        guard given.filter(\.self).count <= 1 else {
            throw ValidationError("Give only one new secret: \(Self.names).")
        }
    }

    static let names = "--new-passphrase-file, --new-passphrase-fd or --new-wrap-command"
}

extension SecretName: ExpressibleByArgument {
    init?(argument: String) { self.init(argument) }
}
