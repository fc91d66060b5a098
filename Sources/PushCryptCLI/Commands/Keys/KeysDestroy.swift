import ArgumentParser
import PushCryptCore
import PushCryptKeysets
import PushCryptKeystore

struct KeysDestroy: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "destroy", abstract: "Erase a key's material for good; its id can't be used again.",
        discussion: """
            Refused while the key may still open a push, unless forced. The primary key is never destroyed, except that of \
            a publisher keyset with other keys.
            """)

    @Argument(help: .init("The keyset.", "Keys/NAME")) var path: String
    @OptionGroup var key: KeyIDArgument
    @OptionGroup var confirmation: ConfirmationOptions
    @OptionGroup var clock: ClockOptions
    @OptionGroup var options: ChangeOptions
    @OptionGroup(title: "Encrypted keysets") var secrets: SecretOptions

    func run() throws {
        let change = try KeysetChange(path, options, secrets)
        try change.checkClock(clock)
        let nothing = ["nothing: no push that is still on its way needs the key"]
        try change.make("destroying key \(key.kid) loses:", orNothing: nothing, confirmation.confirm) {
            try $0.destroy(key.kid, force: confirmation.force)
        }
    }
}

struct KeysPrune: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prune", abstract: "Erase the material of every key that no push needs any more.")

    @Argument(help: .init("The keyset.", "Keys/NAME")) var path: String
    @OptionGroup var agreement: AgreementOptions
    @OptionGroup var clock: ClockOptions
    @OptionGroup var options: ChangeOptions
    @OptionGroup(title: "Encrypted keysets") var secrets: SecretOptions

    func run() throws {
        let change = try KeysetChange(path, options, secrets)
        let kids = Self.prunable(try change.metadata(), at: change.time)
        guard !kids.isEmpty else {
            try change.make { _ in }
            return
        }
        try change.checkClock(clock)
        try agreement.confirm("erasing for good:", kids.map { "key \($0), which opens nothing any more" })
        try change.make { editor in
            for kid in Self.prunable(editor.metadata, at: editor.now) { try editor.destroy(kid, force: false) }
        }
    }

    private static func prunable(_ keyset: KeysetMetadata, at time: UnixTime) -> [KeyID] {
        keyset.plan(at: time, confirmsClock: true).due.compactMap { step in
            if case .destroy(let kid) = step.action { kid } else { nil }
        }
    }
}
