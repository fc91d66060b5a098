import ArgumentParser
import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptKeystore

struct KeysSecret: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "secret",
        abstract: "Add, replace, remove and show the secrets of keysets, each of which opens the keys.",
        discussion: """
            A second secret is a second way to the keys: a passphrase in a safe beside the command of a KMS, or the \
            passphrases of two operators. A keyset has up to 8 secrets. Copies of an older file still open with the secrets that \
            it had: if one leaked, rotate the keys too.
            """,
        subcommands: [KeysSecretAdd.self, KeysSecretSet.self, KeysSecretRemove.self, KeysSecretList.self])

    func run() throws { throw ValidationError("Name a command of keys secret.") }
}

struct KeysSecretAdd: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Add a secret that opens the keys like the others; the first one encrypts them.",
        discussion: """
            The keyset is opened as by other commands. The new secret is named by a --new option or typed on the terminal.

            Example: pushcrypt keys secret add Keys/backend --name safe --new-passphrase-file safe.pass
            """)

    @OptionGroup var targets: SecretTargets
    @Option(help: .init("The name of the new secret: letters, digits, \".\", \"_\" and \"-\".", "NAME"))
    var name: SecretName
    @OptionGroup(title: "The new secret") var new: NewSecretArguments
    @OptionGroup var options: HostOptions

    func run() throws {
        let keysets = try options.keysets()
        let secret = Remembered<KeysetSecret>()
        try keysets.changeSecrets(targets) { location, rows in
            .add(name, try secret.value(new.secret).of(location, rows.log.state.id))
        }
    }
}

struct KeysSecretSet: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Replace a secret; keys in clear are encrypted.",
        discussion: """
            The keyset is opened as by other commands. The new secret is named by a --new option or typed on the terminal. The \
            keyset gets a new key that the old secret doesn't open, and each remaining secret has to wrap it.

            Example: pushcrypt keys secret set Keys/backend --passphrase-file old --new-passphrase-file new
            """)

    @OptionGroup var targets: SecretTargets
    @Option(help: .init("The name of the secret. (default: that of the only one)", "NAME")) var name: SecretName?
    @Flag(name: .customLong("insecure-plaintext"), help: "Remove all secrets: the keys are in clear from now on.")
    var allowsPlaintext = false
    @OptionGroup(title: "The new secret") var new: NewSecretArguments
    @OptionGroup var remaining: RemainingSecrets
    @OptionGroup var options: HostOptions

    func validate() throws {
        guard !allowsPlaintext || (!new.isGiven && name == nil) else {
            throw ValidationError("--insecure-plaintext can't be combined with --name, \(NewSecretArguments.names).")
        }
    }

    func run() throws {
        let keysets = try options.keysets()
        let secret = Remembered<KeysetSecret>()
        try keysets.changeSecrets(targets, remaining) { location, rows in
            guard !allowsPlaintext else { return .removeAll }
            let names = rows.secrets
            guard names.count <= 1 || name != nil else {
                let all = names.map(\.description).joined(separator: ", ")
                throw Failure(.usage, "\(location) has several secrets: use --name with one of \(all)")
            }
            let new = try secret.value(new.secret).of(location, rows.log.state.id)
            return .set(name ?? names.first ?? SecretName.standard(for: new), new)
        }
    }
}

struct KeysSecretRemove: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove a secret: from now on it doesn't open the keyset.",
        discussion: """
            The keyset gets a new key that the removed secret doesn't open, and each remaining secret has to wrap it: \
            give one of them as for other commands, and the others with --remaining-passphrase-file and \
            --remaining-wrap-command.

            Example: pushcrypt keys secret remove Keys/backend --name kms --passphrase-file safe.pass
            """)

    @OptionGroup var targets: SecretTargets
    @Option(help: .init("The name of the secret, as keys secret list shows it.", "NAME")) var name: SecretName
    @OptionGroup var remaining: RemainingSecrets
    @OptionGroup var options: HostOptions

    func run() throws {
        let keysets = try options.keysets()
        try keysets.changeSecrets(targets, remaining) { _, _ in .remove(name) }
    }
}

/// ```
/// {"keyset": PATH, "id": ID, "secrets": [{"name": NAME, "protection": TEXT}, ...]}      one line per keyset
/// ```
struct KeysSecretList: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Show the names of the secrets of keysets. No secret is needed.",
        discussion: "Example: pushcrypt keys secret list Keys/backend")

    @OptionGroup var targets: SecretTargets
    @Flag(help: "Print JSON, as docs/cli.md describes it.") var json = false
    @OptionGroup var keystores: KeystoreOptions
    @OptionGroup var messages: MessageOptions

    func run() throws {
        let keysets = try HostKeysets(keystores, at: .now, SecretOptions())
        let locations = try targets.locations(keysets)
        for location in locations {
            do {
                let rows = try KeysetRows(at: location, .reading)
                let json: JSONObject = [
                    "keyset": location.path, "id": "\(rows.log.state.id)",
                    "secrets": rows.namedSecrets.map { secret -> JSONObject in
                        ["name": "\(secret.name)", "protection": secret.protection.name]
                    },
                ]
                guard !self.json else {
                    try StandardStreams.writeJSON(json, [])
                    continue
                }
                let names = rows.namedSecrets.map(\.text)
                let text = names.isEmpty ? "the keys are not encrypted" : names.joined(separator: ", ")
                let place = locations.count > 1 ? "\(location): " : ""
                try StandardStreams.write(TerminalText.harmless("\(place)\(text)".utf8) + "\n")
            } catch { throw Failure(error, of: location.path) }
        }
    }
}

struct SecretTargets: ParsableArguments {
    @Argument(help: .init("The keysets.", "KEYSET")) var paths: [String] = []
    @Flag(name: .customLong("all"), help: "All keysets whose secret is the common one of the settings.")
    var takesAll = false

    func validate() throws {
        guard paths.isEmpty == takesAll else { throw ValidationError("Give either keysets or --all.") }
    }

    func locations(_ keysets: HostKeysets) throws -> [KeysetLocation] {
        guard takesAll else { return paths.map(keysets.location) }
        let present = keysets.present()
        if let problem = present.problems.first { throw Failure(problem.error, of: problem.path) }
        let own = present.found.filter { keysets.settings?.secrets[$0.name] != nil }
        let common = present.found.filter { !own.contains($0) }
        guard !common.isEmpty else { throw Failure(.usage, "the settings have no such keysets: name them") }
        for location in own { StandardStreams.writeNote("\(location) has a secret of its own, which stays") }
        return common
    }
}

struct RemainingSecrets: ParsableArguments {
    @Option(help: .init("A file with the passphrase of another secret that remains; may be repeated.", "FILE"))
    var remainingPassphraseFile: [String] = []
    @Option(help: .init("The command of another secret that remains; may be repeated.", "COMMAND"))
    var remainingWrapCommand: [String] = []

    func secrets() throws -> [KeysetSecret] {
        try remainingPassphraseFile.map(KeysetSecret.passphrase) + remainingWrapCommand.map { .command($0) }
    }
}

extension HostKeysets {
    /// Changes the secrets of keysets, one after the other, and prints what was done. Nothing is published by it.
    fileprivate func changeSecrets(
        _ targets: SecretTargets, _ remaining: RemainingSecrets? = nil,
        _ change: (KeysetLocation, KeysetRows) throws -> SecretChange
    ) throws {
        let others = try remaining?.secrets() ?? []
        var statuses = [Int32]()
        for location in try targets.locations(self) {
            var outcome = KeysetOutcome(location)
            do {
                let rows = try KeysetRows(at: location, .changing)
                let (id, head) = (rows.log.state.id, rows.log.state.head)
                // A secret of the settings may be the one to come, for keys that are in clear now.
                let current = rows.isEncrypted || secrets.isNamed ? try secret(of: location, rows) : nil
                let host = try host(of: location) { _, _ in current }
                let all = ([current].compactMap(\.self) + others).map { $0.of(location, id) }
                outcome.id = id
                outcome.changes = try host.changeSecrets(location.path, change(location, rows), others: all).log
                    .deeds(after: head.number)
            } catch { outcome.fail(error) }
            try outcome.print(asJSON: false)
            statuses.append(outcome.status)
        }
        try Self.exit(statuses)
    }
}

/// The options that name a new secret, beside those that name the secret of the keyset.
struct NewSecretArguments: ParsableArguments {
    @Option(help: .init("A file with the new passphrase, which only its owner can read, or /dev/fd/N.", "FILE"))
    var newPassphraseFile: String?

    @Option(help: .init("The new command that wraps and unwraps data keys.", "COMMAND")) var newWrapCommand: String?

    static let names = "--new-passphrase-file or --new-wrap-command"
    static let advice =
        "private keys are written encrypted: use --passphrase-file or --wrap-command, set "
        + "PUSHCRYPT_PASSPHRASE or PUSHCRYPT_WRAP_COMMAND, or accept plain text with --insecure-plaintext"

    private var options: SecretOptions {
        var options = SecretOptions()
        (options.passphraseFile, options.wrapCommand) = (newPassphraseFile, newWrapCommand)
        return options
    }

    var isGiven: Bool { options.isNamed }

    func validate() throws {
        guard newPassphraseFile == nil || newWrapCommand == nil else {
            throw ValidationError("Give only one new secret: \(Self.names).")
        }
    }

    func secret() throws -> KeysetSecret {
        try options.named()?.asNew() ?? Self.typed("the new secret is missing: use \(Self.names)")
    }

    /// - Parameter advice: without a terminal.
    static func typed(_ advice: String) throws -> KeysetSecret {
        guard let terminal = Terminal() else { throw Failure(.usage, advice) }
        return try terminal.newPassphrase()
    }
}

extension SecretName: ExpressibleByArgument {
    init?(argument: String) { self.init(argument) }

    static func standard(for secret: KeysetSecret) -> SecretName {
        SecretName(secret.isCommand ? "command" : "passphrase")!
    }
}
