import ArgumentParser
import PushCryptKeystore

struct KeysDestroy: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "destroy",
        abstract: "Erase a key's material for good; its id stays taken.",
        discussion: "Refused while the key can open something, unless forced; the key that seals is never destroyed.")

    @Argument(help: ArgumentHelp("The keyset.", valueName: "Keys/NAME"))
    var path: String

    @OptionGroup var key: KeyIDArgument
    @OptionGroup var confirmation: ConfirmationOptions
    @OptionGroup var clock: ClockOptions
    @OptionGroup var options: ChangeOptions
    @OptionGroup(title: "Encrypted keysets") var secrets: SecretOptions

    func run() throws {
        let change = try KeysetChange(path, options, secrets)
        try change.checkClock(clock)
        let losses = try change.losses { try $0.destroy(key.kid, force: confirmation.force) }
        let nothing = ["nothing that a push on its way needs"]
        try confirmation.confirm("destroying key \(key.kid) loses:", losses.isEmpty ? nothing : losses)
        try change.make { try $0.destroy(key.kid, force: confirmation.force) }
    }
}
