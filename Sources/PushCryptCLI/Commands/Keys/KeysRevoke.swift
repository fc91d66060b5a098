import ArgumentParser
import PushCryptCore
import PushCryptKeystore

struct KeysRevoke: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Withdraw a key at once: it neither seals nor opens any more.",
        discussion: """
            Where it is the key that seals, a new one takes its place in the same step. Its material stays for \
            `pushcrypt reseal` until it is destroyed.
            """)

    @Argument(help: ArgumentHelp("The keyset.", valueName: "Keys/NAME"))
    var path: String

    @OptionGroup var key: KeyIDArgument

    @Option(help: ArgumentHelp("Promote this pending key at once in place of making a new one.", valueName: "KID"))
    var promote: KeyID?

    @OptionGroup var confirmation: ConfirmationOptions
    @OptionGroup var options: ChangeOptions
    @OptionGroup(title: "Encrypted keysets") var secrets: SecretOptions

    func run() throws {
        try Revocation(kid: key.kid, successor: promote, confirm: confirmation.confirm)
            .run(KeysetChange(path, options, secrets))
    }
}

/// What `keys revoke` and `rotate --emergency` do.
struct Revocation {
    let kid: KeyID
    let successor: KeyID?
    let confirm: (String, [String]) throws -> Void

    func run(_ change: KeysetChange) throws {
        let losses = try change.losses { try $0.revoke(kid, successor: successor) }
        try confirm("revoking key \(kid) of \(change.path):", losses)
        try change.make { try $0.revoke(kid, successor: successor) }
    }
}
