import ArgumentParser
import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptKeystore

struct KeysRevoke: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke", abstract: "Revoke a key: from now on it neither seals nor opens.",
        discussion: """
            If the key is the primary one, a new key becomes primary in the same step. The revoked key's material \
            stays for `pushcrypt reseal` until it is destroyed.

            Example: pushcrypt keys revoke Keys/backend qi99zniTdWc --reason "the server was broken into"
            """)

    @Argument(help: .init("The keyset.", "Keys/NAME")) var path: String
    @OptionGroup var key: KeyIDArgument
    @Option(parsing: .unconditional, help: .init("Promote this pending key instead of generating a new one.", "KID"))
    var promote: KeyIDPrefix?
    @OptionGroup var confirmation: ConfirmationOptions
    @OptionGroup var clock: ClockOptions
    @OptionGroup var options: ChangeOptions
    @OptionGroup(title: "Restored copies") var expected: ExpectationOptions
    @OptionGroup var messages: MessageOptions
    @OptionGroup(title: "Encrypted keysets") var secrets: SecretOptions

    /// The command as a person pastes it.
    static func command(_ path: String, _ kid: KeyID, _ secrets: SecretOptions) -> String {
        PublishedKeyset.revokeCommand(path, kid, secrets.repeatedArguments)
    }

    func run() throws {
        let change = try KeysetChange(path, options, clock, secrets, expected.state)
        let kid = try key.kid(in: change, mustBeWhole: confirmation.skipsQuestion)
        let promote = try promote?.kid(in: change, mustBeWhole: confirmation.skipsQuestion)
        try change.revoke(kid, successor: promote, confirmation.confirm)
    }
}

struct KeysRetire: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retire",
        abstract: "Retire a pending key: it never seals, and it opens until its overlap has ended.",
        discussion: """
            The primary key can't be retired: add another key and promote it.

            Example: pushcrypt keys retire Keys/backend AVvUe-T2G40
            """)

    @Argument(help: .init("The keyset.", "Keys/NAME")) var path: String
    @OptionGroup var key: KeyIDArgument
    @OptionGroup var confirmation: ConfirmationOptions
    @OptionGroup var clock: ClockOptions
    @OptionGroup var options: ChangeOptions
    @OptionGroup(title: "Restored copies") var expected: ExpectationOptions
    @OptionGroup var messages: MessageOptions
    @OptionGroup(title: "Encrypted keysets") var secrets: SecretOptions

    func run() throws {
        let change = try KeysetChange(path, options, clock, secrets, expected.state)
        let kid = try key.kid(in: change, mustBeWhole: confirmation.skipsQuestion)
        try change.make("retiring key \(kid):", confirmation.confirm) { try $0.retire(kid) }
    }
}
