import ArgumentParser
import PushCryptKeyFiles
import PushCryptPrimitives

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Which keys a command accepts, and what opens encrypted ones.
struct KeyOptions: ParsableArguments {
    @Flag(name: .customLong("allow-demo-keys"), help: "Accept the published demo keys, which protect nothing.")
    var allowsDemoKeys = false

    @OptionGroup(title: "Encrypted keysets") var secrets: SecretOptions
}

/// Where the secret of an encrypted keyset comes from. Never from an argument: others can read those.
struct SecretOptions: ParsableArguments {
    @Option(help: ArgumentHelp("A file with the passphrase, readable by its owner only.", valueName: "FILE"))
    var passphraseFile: String?

    @Option(name: .customLong("passphrase-fd"), help: ArgumentHelp("An inherited descriptor with it.", valueName: "N"))
    var passphraseDescriptor: Int32?

    @Option(
        help: ArgumentHelp(
            "A command that wraps and unwraps data keys (KMS, HSM, Vault); see Keys/README.md.", valueName: "COMMAND"))
    var wrapCommand: String?

    func validate() throws {
        guard [passphraseFile != nil, passphraseDescriptor != nil, wrapCommand != nil].filter(\.self).count <= 1 else {
            throw ValidationError("Say one of --passphrase-file, --passphrase-fd and --wrap-command.")
        }
    }

    /// What was named by an option or an environment variable; nil for neither.
    func given() throws -> KeysetSecret? {
        if let named = try named() { return named }
        if let command = unsafe getenv("PUSHCRYPT_WRAP_COMMAND") { return .command(unsafe String(cString: command)) }
        return try .environment("PUSHCRYPT_PASSPHRASE")
    }

    /// What was named by an option.
    func named() throws -> KeysetSecret? {
        if let passphraseFile { return try .passphraseFile(passphraseFile) }
        if let passphraseDescriptor { return try .passphraseDescriptor(passphraseDescriptor) }
        return wrapCommand.map { .command($0) }
    }

    /// What opens `path`: what was named or else what the terminal answers.
    func secret(of path: String) throws -> KeysetSecret {
        if let given = try given() { return given }
        guard let terminal = Terminal() else {
            throw Failure(
                .usage,
                "\(path) is encrypted: say --passphrase-file, --passphrase-fd or --wrap-command, or set "
                    + "PUSHCRYPT_PASSPHRASE or PUSHCRYPT_WRAP_COMMAND")
        }
        return try terminal.passphrase("Passphrase of \(path): ")
    }
}

/// How a keyset is encrypted from now on.
struct NewSecretOptions {
    let options: SecretOptions
    let allowsPlaintext: Bool
    /// Whether the environment names the old secret.
    var ignoresEnvironment = false

    func protection() throws -> (Protection, KeysetSecret?) {
        if allowsPlaintext { return (.plaintext, nil) }
        if let given = try ignoresEnvironment ? options.named() : options.given() {
            return (given.isCommand ? .command : .passphrase(.standard), given)
        }
        guard let terminal = Terminal() else {
            throw Failure(
                .usage,
                "private keys are written encrypted: say --passphrase-file, --passphrase-fd or --wrap-command, set "
                    + "PUSHCRYPT_PASSPHRASE or PUSHCRYPT_WRAP_COMMAND, or accept plain text with --insecure-plaintext")
        }
        return (.passphrase(.standard), try terminal.newPassphrase())
    }
}
