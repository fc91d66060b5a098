import ArgumentParser
import PushCryptFiles
import PushCryptKeysets
import PushCryptKeystore
import PushCryptPrimitives

// No option group contains another one: in a debug build, the parser validates a nested group three times for each
// validation of the outer one, which took most of a command's time.

struct DemoKeyOptions: ParsableArguments {
    @Flag(name: .customLong("allow-demo-keys"), help: "Accept the published demo keys, which protect nothing.")
    var isAllowed = false
}

/// How a command reads keys: the secret of encrypted keysets, whether it accepts the published demo keys, and what it expects of
/// a keyset.
struct KeyAccess {
    let secrets: SecretOptions
    let allowsDemoKeys: Bool
    /// Whether an operator has confirmed a clock that seems wrong.
    var confirmsClock = false
    /// Whether an operator allows a set whose newest key ranks below an older one.
    var allowsLowerSuite = false
    var expected = ExpectedState.anything
}

/// The options that name the secret of an encrypted keyset. The secret itself is never an argument, because other users
/// can read the arguments of a process.
struct SecretOptions: ParsableArguments {
    @Option(help: .init("A file with the passphrase, which only its owner can read.", "FILE"))
    var passphraseFile: String?

    @Option(
        name: .customLong("passphrase-fd"),
        help: .init("An inherited file descriptor to read the passphrase from.", "N"))
    var passphraseDescriptor: Int32?

    @Option(help: .init("A command that wraps and unwraps data keys (KMS, HSM, Vault); see Keys/README.md.", "COMMAND"))
    var wrapCommand: String?

    /// Remembered because a descriptor can be read once and a command may open several keysets.
    private let fromDescriptor = Remembered<KeysetSecret>()

    private enum CodingKeys: CodingKey { case passphraseFile, passphraseDescriptor, wrapCommand }

    func validate() throws {
        guard [passphraseFile != nil, passphraseDescriptor != nil, wrapCommand != nil].filter(\.self).count <= 1 else {
            throw ValidationError("Use only one of --passphrase-file, --passphrase-fd and --wrap-command.")
        }
    }

    var isGiven: Bool {
        isNamed || ProcessEnvironment.has("PUSHCRYPT_PASSPHRASE") || ProcessEnvironment.has("PUSHCRYPT_WRAP_COMMAND")
    }

    var isNamed: Bool { passphraseFile != nil || passphraseDescriptor != nil || wrapCommand != nil }

    /// The options as they are repeated in a command that reads the same keyset. A descriptor can't be read again.
    var repeatedArguments: String {
        let file = passphraseFile.map { " --passphrase-file " + ShellArgument.quoted($0) }
        return file ?? wrapCommand.map { " --wrap-command " + ShellArgument.quoted($0) } ?? ""
    }

    func given() throws -> KeysetSecret? {
        if let named = try named() { return named }
        guard let command = ProcessEnvironment.variable("PUSHCRYPT_WRAP_COMMAND") else {
            return ProcessEnvironment.has("PUSHCRYPT_PASSPHRASE") ? try .environment("PUSHCRYPT_PASSPHRASE") : nil
        }
        guard !ProcessEnvironment.has("PUSHCRYPT_PASSPHRASE") else {
            throw Failure(.usage, "PUSHCRYPT_PASSPHRASE and PUSHCRYPT_WRAP_COMMAND are both set; unset one of them")
        }
        return .command(command)
    }

    /// The option or variable that names the secret.
    var name: String {
        if passphraseFile != nil { return "--passphrase-file" }
        if passphraseDescriptor != nil { return "--passphrase-fd" }
        if wrapCommand != nil { return "--wrap-command" }
        return ProcessEnvironment.has("PUSHCRYPT_PASSPHRASE") ? "PUSHCRYPT_PASSPHRASE" : "PUSHCRYPT_WRAP_COMMAND"
    }

    func named() throws -> KeysetSecret? {
        if let passphraseFile { return try .passphraseFile(passphraseFile) }
        if let passphraseDescriptor {
            return try fromDescriptor.value { try .passphraseDescriptor(passphraseDescriptor) }
        }
        return wrapCommand.map { .command($0) }
    }

    /// The source of the secret of a keyset: given if an option or an environment variable names it, even if it can't be
    /// read or isn't needed; otherwise asked for on the terminal.
    ///
    /// - Parameters:
    ///   - acceptsDemoKeys: whether the published demo keys are accepted although a secret is given.
    ///   - answer: remembers the typed secret for the next keyset.
    func source(
        of path: String, acceptingDemoKeys acceptsDemoKeys: Bool = false,
        remembering answer: Remembered<KeysetSecret> = Remembered()
    ) -> SecretSource {
        guard isGiven else { return .asked { try answer.value { try secret(of: path) } } }
        return .given(acceptingDemoKeys: acceptsDemoKeys) { try secret(of: path) }.named(by: repeatedArguments)
    }

    private func secret(of path: String) throws -> KeysetSecret {
        if let given = try given() {
            StandardStreams.writeDetail("\(path): its secret is that of \(name)")
            return given
        }
        guard let terminal = Terminal() else {
            throw Failure(
                .usage,
                "\(path) is encrypted: use --passphrase-file, --passphrase-fd or --wrap-command, or set "
                    + "PUSHCRYPT_PASSPHRASE or PUSHCRYPT_WRAP_COMMAND")
        }
        return try terminal.passphrase("Passphrase of \(TerminalText.harmless(path.utf8)): ")
    }
}

/// Whether a command checks a secret that it doesn't need.
struct SecretCheckOptions: ParsableArguments {
    @Flag(exclusivity: .exclusive) private var choice: Choice?

    private enum Choice: EnumerableFlag {
        case check, skip

        static func name(for value: Choice) -> NameSpecification {
            .customLong(value == .check ? "check-secret" : "no-check-secret")
        }

        static func help(for value: Choice) -> ArgumentHelp? {
            switch value {
            case .check:
                "Check the secret of encrypted keysets, even if nothing needs it. (default: if one is given; rotate without --dry-run: always)"
            case .skip: "Don't check a secret that nothing needs."
            }
        }
    }

    var isChecked: Bool? { choice.map { $0 == .check } }

    /// - Parameter isDryRun: whether the command needs no secret, even without a person who could type it.
    func check(_ secrets: SecretOptions, isDryRun: Bool) -> KeysetStore.SecretCheck {
        guard let isChecked else {
            // A cron job without a secret must fail before the day on which it needs one.
            return isDryRun || secrets.isGiven || Terminal() != nil ? .ifGiven : .always
        }
        return isChecked ? .always : .never
    }
}

struct NewSecretOptions {
    let options: SecretOptions
    let allowsPlaintext: Bool
    /// Whether the keyset has an old secret, which the environment may name.
    var replaces = false

    func protection() throws -> (Protection, KeysetSecret?) {
        if allowsPlaintext {
            try requireNoSecret()
            return (.plaintext, nil)
        }
        if let given = try (replaces ? options.named() : options.given())?.asNew() {
            return (given.isCommand ? .command : .passphrase(.standard), given)
        }
        guard let terminal = Terminal() else { throw Failure(.usage, advice) }
        return (.passphrase(.standard), try terminal.newPassphrase())
    }

    /// Refuses a secret that would not be used: the caller expects encryption.
    private func requireNoSecret() throws {
        guard replaces ? options.isNamed : options.isGiven else { return }
        throw Failure(
            .usage,
            "\(options.name) can't be combined with --insecure-plaintext, which would leave the secret unused")
    }

    private var advice: String {
        replaces
            ? "the new secret is missing: use --new-passphrase-file, --new-passphrase-fd or --new-wrap-command"
            : "private keys are written encrypted: use --passphrase-file, --passphrase-fd or --wrap-command, set "
                + "PUSHCRYPT_PASSPHRASE or PUSHCRYPT_WRAP_COMMAND, or accept plain text with --insecure-plaintext"
    }
}

/// A value that is computed once, at its first use.
final class Remembered<Value> {
    private var known: Value?

    func forget() { known = nil }

    func value(_ make: () throws -> Value) rethrows -> Value {
        if let known { return known }
        let value = try make()
        known = value
        return value
    }
}
