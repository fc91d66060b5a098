import PushCryptFiles
package import PushCryptPrimitives

/// An external command that wraps and unwraps a data key: the client of a KMS, an HSM or Vault.
///
/// ```
/// COMMAND wrap     stdin: 32 bytes, the data key       stdout: 1 to 4,096 bytes, the wrapped data key
/// COMMAND unwrap   stdin: the wrapped data key         stdout: the 32 bytes
/// Exit status 0 is success. The command's stderr is that of this process.
/// ```
/// Input and output are raw bytes, through pipes. /bin/sh runs the command with the environment of this process except for
/// PUSHCRYPT_PASSPHRASE, and with no descriptors but the standard streams. After two minutes it is killed; without a
/// terminal, the processes that it started are killed too. The command is never read from a keyset's file, because a user
/// who can write the file could run any command.
///
/// Wrapping must require a secret of the operator. If it only required a public key, a user who can write the file could
/// replace the keys with their own.
package struct WrapCommand: Sendable {
    package static let maximumByteCount = 4_096
    private let command: String
    private let variables: [String: String]
    private let mayAsk: Bool
    private let now: @Sendable () -> ContinuousClock.Instant

    /// - Parameter variables: are added to the environment.
    package init(_ command: String, _ variables: [String: String] = [:]) {
        // A helper in the same process group can ask for a PIN on the terminal, and Ctrl-C ends both.
        self.init(command, variables, mayAsk: TerminalDevice() != nil) { ContinuousClock.now }
    }

    init(
        _ command: String, _ variables: [String: String] = [:], mayAsk: Bool,
        now: @escaping @Sendable () -> ContinuousClock.Instant
    ) {
        self.command = command
        self.variables = variables
        self.mayAsk = mayAsk
        self.now = now
    }

    /// Wraps the data key, and unwraps it again, because a command that can't do both would lose the keys.
    ///
    /// - Throws: `KeystoreError` with `wrapCommandFailed`, `inputOutput` if the system can't start or read it.
    package func wrap(_ dataKey: SecretBytes) throws -> [UInt8] {
        var input = Array(dataKey.bytes)
        defer { wipe(&input) }
        var wrapped = try run("wrap", input)
        guard !wrapped.isEmpty else { throw failure("wrap", "it printed nothing") }
        guard !Self.contains(wrapped, input) else {
            wipe(&wrapped)
            throw failure("wrap", "it printed the data key unwrapped")
        }
        guard try unwrap(wrapped, count: dataKey.count) == dataKey else {
            throw failure("unwrap", "the wrapped data key unwraps to another key; nothing was written")
        }
        return wrapped
    }

    /// - Throws: `KeystoreError` with `wrapCommandFailed`, `inputOutput` if the system can't start or read it.
    package func unwrap(_ wrapped: [UInt8], count: Int) throws -> SecretBytes {
        var key = try run("unwrap", wrapped)
        defer { wipe(&key) }
        guard key.count == count else { throw failure("unwrap", "it printed \(key.count) bytes, not \(count)") }
        return SecretBytes(copying: key.bytes)
    }

    private func run(_ verb: String, _ input: [UInt8]) throws -> [UInt8] {
        guard command.contains(where: { !$0.isWhitespace }) else { throw failure(verb, "its name is empty") }
        do throws(FileError) {
            return try HelperProcess.run(
                "\(command) \(verb)", stdin: input, limit: Self.maximumByteCount, seconds: Self.timeLimit,
                mayAsk: mayAsk, variables: variables, now: now)
        } catch {
            // A lack of descriptors or processes is no fault of the command.
            throw failure(verb, error.reason, error.code == .helperFailed ? .wrapCommandFailed : .inputOutput)
        }
    }

    private static func contains(_ bytes: [UInt8], _ part: [UInt8]) -> Bool {
        bytes.indices.contains { bytes[$0...].starts(with: part) }
    }

    /// In seconds. A person may have to find and touch a hardware token first.
    private static let timeLimit = 120

    private func failure(
        _ verb: String, _ reason: String, _ code: KeystoreError.Code = .wrapCommandFailed
    ) -> KeystoreError {
        KeystoreError(code, "the command that wraps data keys failed to \(verb): \(reason)")
    }
}
