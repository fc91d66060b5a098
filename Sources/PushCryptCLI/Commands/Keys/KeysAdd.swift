import ArgumentParser
import PushCryptCore
import PushCryptKeysets
import PushCryptKeystore

struct KeysAdd: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Make the next key of a keyset, of the same sort as its newest.",
        discussion: """
            It is published now and seals after the policy's publishLead; then the key before it retires. `pushcrypt \
            rotate` does this by itself when it is due.
            """)

    @Argument(help: ArgumentHelp("The keyset.", valueName: "Keys/NAME"))
    var path: String

    @Option(help: ArgumentHelp("When it begins to seal; now + publishLead unless given.", valueName: "TIME"))
    var activatesAt: UnixTime?

    @Flag(help: "Although another key is pending, or before it was published for publishLead.")
    var force = false

    @OptionGroup var clock: ClockOptions
    @OptionGroup var options: ChangeOptions
    @OptionGroup(title: "Encrypted keysets") var secrets: SecretOptions

    func run() throws {
        let change = try KeysetChange(path, options, secrets)
        try change.checkClock(clock)
        try change.make { editor in
            try editor.add(activatesAt: try activation(editor))
        }
    }

    private func activation(_ editor: KeysetEditor) throws -> UnixTime? {
        let (policy, timeline) = (editor.metadata.policy, editor.metadata.timeline)
        if let pending = timeline.keys(in: .pending, at: editor.now).first, !force {
            throw Failure(.temporary, "\(path): key \(pending.kid) is pending already; say --force for one more")
        }
        let earliest = editor.now + policy.publishLeadInSeconds
        guard let activatesAt else { return policy.requiredCoverage == nil ? earliest : nil }
        guard activatesAt >= editor.now else {
            throw Failure(.usage, "--activates-at \(activatesAt) is past; it is \(editor.now)")
        }
        if let required = policy.requiredCoverage, !force {
            throw Failure(
                .temporary,
                "\(path): \(required) of the devices must hold a key before it seals: leave out --activates-at and promote "
                    + "it with their reports, or say --force")
        }
        guard activatesAt >= earliest || force else {
            throw Failure(
                .temporary,
                "\(path): a key that seals before \(earliest) reaches devices that haven't fetched it, and they show a "
                    + "placeholder; say --force to do it")
        }
        return activatesAt
    }
}
