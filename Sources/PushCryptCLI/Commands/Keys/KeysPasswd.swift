import ArgumentParser
import PushCryptKeystore

struct KeysPasswd: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "passwd", abstract: "Encrypt a keyset's private keys with another passphrase or command.",
        discussion: """
            Give the old secret as for other commands, and the new one with a --new option or on the terminal. A new \
            passphrase gets the current scrypt parameters. Copies of the old file still open with the old secret.
            """)

    @Argument(help: .init("The keyset.", "Keys/NAME")) var path: String
    @Option(help: .init("A file with the new passphrase, which only its owner can read.", "FILE"))
    var newPassphraseFile: String?

    @Option(
        name: .customLong("new-passphrase-fd"),
        help: .init("An inherited file descriptor to read the new passphrase from.", "N"))
    var newPassphraseDescriptor: Int32?

    @Option(help: .init("The new command that wraps and unwraps data keys.", "COMMAND")) var newWrapCommand: String?
    @Flag(name: .customLong("insecure-plaintext"), help: "Write the private keys unencrypted from now on.")
    var allowsPlaintext = false
    @OptionGroup var clock: ClockOptions
    @OptionGroup var options: ChangeOptions
    @OptionGroup(title: "Restored copies") var expected: ExpectationOptions
    @OptionGroup(title: "Encrypted keysets") var secrets: SecretOptions

    func validate() throws {
        let given = [newPassphraseFile != nil, newPassphraseDescriptor != nil, newWrapCommand != nil, allowsPlaintext]
        guard given.filter(\.self).count <= 1 else {
            throw ValidationError(
                "Give only one new protection: --new-passphrase-file, --new-passphrase-fd, --new-wrap-command or "
                    + "--insecure-plaintext.")
        }
    }

    func run() throws {
        let change = try KeysetChange(path, options, clock, secrets, expected.state)
        try change.answerSecret()
        var new = SecretOptions()
        (new.passphraseFile, new.passphraseDescriptor) = (newPassphraseFile, newPassphraseDescriptor)
        new.wrapCommand = newWrapCommand
        let (protection, secret) = try NewSecretOptions(options: new, allowsPlaintext: allowsPlaintext, replaces: true)
            .protection()
        try change.make { $0.protect(protection, secret) }
    }
}
