import ArgumentParser
import PushCryptCore
import PushCryptKeystore

struct KeysRevoke: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke", abstract: "Revoke a key: from now on it neither seals nor opens.",
        discussion: """
            If the key is the primary one, a new key becomes primary in the same step. The revoked key's material \
            stays for `pushcrypt reseal` until it is destroyed.
            """)

    @Argument(help: .init("The keyset.", valueName: "Keys/NAME")) var path: String

    @OptionGroup var key: KeyIDArgument

    @Option(help: .init("Promote this pending key instead of generating a new one.", valueName: "KID"))
    var promote: KeyID?

    @OptionGroup var confirmation: ConfirmationOptions
    @OptionGroup var options: ChangeOptions
    @OptionGroup(title: "Encrypted keysets") var secrets: SecretOptions

    func run() throws {
        try Revocation(kid: key.kid, successor: promote, confirm: confirmation.confirm)
            .run(KeysetChange(path, options, secrets))
    }
}

struct KeysRetire: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retire",
        abstract: "Retire a pending key: it never seals, and it opens until its overlap has ended.",
        discussion: "The primary key can't be retired: add another key and promote it.")

    @Argument(help: .init("The keyset.", valueName: "Keys/NAME")) var path: String

    @OptionGroup var key: KeyIDArgument
    @OptionGroup var confirmation: ConfirmationOptions
    @OptionGroup var options: ChangeOptions
    @OptionGroup(title: "Encrypted keysets") var secrets: SecretOptions

    func run() throws {
        let change = try KeysetChange(path, options, secrets)
        let losses = try change.losses { try $0.retire(key.kid) }
        try confirmation.confirm("retiring key \(key.kid):", losses)
        try change.make { try $0.retire(key.kid) }
    }
}

/// Revokes a key for `keys revoke` and `rotate --emergency`.
struct Revocation {
    let kid: KeyID
    let successor: KeyID?
    let confirm: (String, [String]) throws -> Void

    func run(_ change: KeysetChange) throws {
        let losses = try change.losses { try $0.revoke(kid, successor: successor) }
        try confirm("revoking key \(kid) of \(change.path):", losses.isEmpty ? ["no push is lost"] : losses)
        try change.make { try $0.revoke(kid, successor: successor) }
    }
}
