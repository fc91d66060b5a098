import ArgumentParser
import PushCryptKeystore

struct KeysRetire: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retire",
        abstract: "Take a pending key back: it will never seal, and opens until its overlap is over.",
        discussion: "The key that seals can't be retired by itself: adding and promoting another one retires it.")

    @Argument(help: ArgumentHelp("The keyset.", valueName: "Keys/NAME"))
    var path: String

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
