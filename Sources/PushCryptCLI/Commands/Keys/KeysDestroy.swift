import ArgumentParser
import PushCryptCore
import PushCryptKeysets
import PushCryptKeystore

struct KeysDestroy: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "destroy", abstract: "Erase a key's material for good; its id can't be used again.",
        discussion: """
            Without --force a key is refused that may still open a push, and every publisher key. The primary key is refused \
            even with --force. In a publisher keyset it is refused only if it is the only key that isn't destroyed; \
            otherwise the oldest other key becomes the primary.

            Example: pushcrypt keys destroy Keys/backend qi99zniTdWc
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
        try change.checkClock()
        let kid = try key.kid(in: change, mustBeWhole: confirmation.skipsQuestion)
        let nothing = ["no push that is still on its way needs the key"]
        try change.make("destroying key \(kid) for good:", orNothing: nothing, confirmation.confirm) {
            try $0.destroy(kid, force: confirmation.force)
        }
        guard try change.metadata().kind == .publisher else { return }
        StandardStreams.writeNote(
            "publish every set again that the key has signed: until then a served set doesn't show that the key was destroyed"
        )
    }
}

struct KeysPrune: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prune", abstract: "Erase the material of every key that no push needs any more.",
        discussion: "Example: pushcrypt keys prune Keys/backend")

    @Argument(help: .init("The keyset.", "Keys/NAME")) var path: String
    @OptionGroup var agreement: AgreementOptions
    @OptionGroup var clock: ClockOptions
    @OptionGroup var options: ChangeOptions
    @OptionGroup(title: "Restored copies") var expected: ExpectationOptions
    @OptionGroup var messages: MessageOptions
    @OptionGroup(title: "Encrypted keysets") var secrets: SecretOptions

    func run() throws {
        let change = try KeysetChange(path, options, clock, secrets, expected.state)
        let kids = Self.prunable(try change.metadata(), at: change.time)
        guard !kids.isEmpty else {
            try change.make { _ in }
            return
        }
        try change.checkClock()
        try agreement.confirm("keys prune erases for good:", kids.map { "key \($0), which opens nothing any more" })
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
