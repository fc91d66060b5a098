import ArgumentParser
import PushCryptFiles
import PushCryptKeysets
import PushCryptKeystore

struct KeysPasswd: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "passwd", abstract: "Encrypt a keyset's private keys with another passphrase or command.",
        discussion: """
            Give the old secret as for other commands, and the new one with a --new option or on the terminal. A new \
            passphrase gets the current scrypt parameters. Copies of the old file still open with the old secret. If the \
            keyset has several secrets, the new one replaces all of them, and the command asks first; to replace one, use \
            keys secrets.

            Example: pushcrypt keys passwd Keys/backend --passphrase-file old --new-passphrase-file new
            """)

    @Argument(help: .init("The keyset.", "Keys/NAME")) var path: String
    @OptionGroup(title: "The new secret") var new: NewSecretArguments
    @Flag(name: .customLong("insecure-plaintext"), help: "Write the private keys unencrypted from now on.")
    var allowsPlaintext = false
    @OptionGroup var agreement: AgreementOptions
    @OptionGroup var clock: ClockOptions
    @OptionGroup var options: ChangeOptions
    @OptionGroup(title: "Restored copies") var expected: ExpectationOptions
    @OptionGroup var messages: MessageOptions
    @OptionGroup(title: "Encrypted keysets") var secrets: SecretOptions

    func validate() throws {
        guard !(allowsPlaintext && new.isGiven) else {
            throw ValidationError("--insecure-plaintext can't be combined with \(NewSecretArguments.names).")
        }
    }

    func run() throws {
        let change = try KeysetChange(path, options, clock, secrets, expected.state)
        try change.answerSecret()
        let old = try change.protection()
        try confirmReplacement(of: old)
        let (protection, secret) = try NewSecretOptions(
            options: new.options, allowsPlaintext: allowsPlaintext, replaces: true
        ).protection()
        var isSame = false
        try change.make { editor in
            guard editor.stored.protection == old else {
                throw Failure(
                    .temporary,
                    "\(path): another command has changed its secrets since this one began; nothing was changed. Look at "
                        + "them with `pushcrypt keys secrets list \(ShellArgument.quoted(path))`, and run this one again"
                )
            }
            isSame = secret.flatMap { editor.stored.secret?.hasSamePassphrase(as: $0) } ?? false
            editor.protect(protection, secret)
        }
        if isSame {
            StandardStreams.writeNote(
                "\(path): the new passphrase is the old one. A person who knows it can still open the keyset")
        }
    }

    /// Asks before several secrets stop working.
    private func confirmReplacement(of old: Protection) throws {
        guard case .several(let secrets) = old else {
            if agreement.isAgreed {
                StandardStreams.writeNote(
                    "--yes has no effect: keys passwd asks only about a keyset with several secrets")
            }
            return
        }
        try agreement.confirm(
            "replacing all \(secrets.count) secrets of \(path):",
            [
                "these no longer open it: \(secrets.map(\.text).joined(separator: ", "))",
                "to have a second one again: `pushcrypt keys secrets add \(ShellArgument.quoted(path)) --name NAME`",
            ])
    }
}
