import ArgumentParser
import PushCryptCore
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

/// How a command reads keys.
struct KeyAccess {
    let secrets: SecretOptions
    /// nil for the settings that are found without an option.
    var keystore: KeystoreOptions?
    let allowsDemoKeys: Bool
    /// Whether an operator has confirmed a clock that seems wrong.
    var confirmsClock = false
    /// Whether an operator allows a set whose newest key ranks below an older one.
    var allowsLowerSuite = false

    func host() throws -> HostKeysets { try HostKeysets(keystore, at: .now, secrets) }
}

/// The options that name the secret of an encrypted keyset. The secret itself is never an argument, because other users
/// can read the arguments of a process.
struct SecretOptions: ParsableArguments {
    @Option(help: .init("A file with the passphrase, which only its owner can read, or /dev/fd/N.", "FILE"))
    var passphraseFile: String?

    @Option(help: .init("A command that wraps and unwraps data keys (KMS, HSM, Vault); see Keys/README.md.", "COMMAND"))
    var wrapCommand: String?

    /// Remembered because a descriptor can be read once and a command may open several keysets.
    private let fromFile = Remembered<KeysetSecret>()

    private enum CodingKeys: CodingKey { case passphraseFile, wrapCommand }

    func validate() throws {
        guard passphraseFile == nil || wrapCommand == nil else {
            throw ValidationError("Use only one of --passphrase-file and --wrap-command.")
        }
    }

    var isGiven: Bool {
        isNamed || ProcessEnvironment.has("PUSHCRYPT_PASSPHRASE") || ProcessEnvironment.has("PUSHCRYPT_WRAP_COMMAND")
    }

    var isNamed: Bool { passphraseFile != nil || wrapCommand != nil }

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
        if wrapCommand != nil { return "--wrap-command" }
        return ProcessEnvironment.has("PUSHCRYPT_PASSPHRASE") ? "PUSHCRYPT_PASSPHRASE" : "PUSHCRYPT_WRAP_COMMAND"
    }

    func named() throws -> KeysetSecret? {
        if let passphraseFile { return try fromFile.value { try .passphrase(from: passphraseFile) } }
        return wrapCommand.map { .command($0) }
    }
}

extension KeysetSecret {
    /// - Parameter path: a file's, or `/dev/fd/N` for an inherited descriptor, which a shell makes of `<(COMMAND)`.
    static func passphrase(from path: String) throws -> KeysetSecret {
        let folder = "/dev/fd/"
        guard path.hasPrefix(folder), let descriptor = Int32(path.dropFirst(folder.count)), descriptor >= 0 else {
            return try passphraseFile(path)
        }
        return try passphraseDescriptor(descriptor)
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

/// `-q`, which every command accepts and the help of `pushcrypt` explains. ``StandardStreams`` reads it from the arguments.
struct MessageOptions: ParsableArguments {
    @Flag(name: [.customShort("q"), .customLong("no-notes")], help: .init("No notes on stderr.", visibility: .hidden))
    var isQuiet = false
}
