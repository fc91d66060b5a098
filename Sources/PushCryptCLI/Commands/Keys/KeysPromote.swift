import ArgumentParser
import PushCryptCore
import PushCryptKeyStore

struct KeysPromote: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "promote",
        abstract: "Let a pending key seal from now on; the one that sealed retires.",
        discussion: "Refused before the key was published for the policy's publishLead, unless forced.")

    @Argument(help: ArgumentHelp("The keyset.", valueName: "Keys/NAME"))
    var path: String

    @OptionGroup var key: KeyIDArgument
    @OptionGroup var confirmation: ConfirmationOptions
    @OptionGroup var clock: ClockOptions
    @OptionGroup var options: ChangeOptions

    func run() throws {
        let change = try KeysetChange(path, options)
        try change.checkClock(clock)
        let losses = try change.losses { try $0.promote(key.kid, force: confirmation.force) }
        if !losses.isEmpty { try confirmation.confirm("promoting key \(key.kid) loses:", losses) }
        try change.make { try $0.promote(key.kid, force: confirmation.force) }
    }
}
