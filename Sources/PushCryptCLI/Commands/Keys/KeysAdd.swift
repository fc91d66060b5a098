import ArgumentParser
import PushCryptCore
import PushCryptKeysets
import PushCryptKeystore
import PushCryptPrimitives

struct KeysAdd: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Generate the next key of a keyset, of the same kind and, by default, suite as the newest.",
        discussion: """
            The key is published now. It seals after the policy's publishLead, and then the previous key retires. \
            `pushcrypt rotate` does this when it is due. A publisher key signs at once, beside the others. With --suite, the \
            keys that follow have that suite too, so that a fleet changes over: devices open with both keys in the overlap. \
            A keyset with an xwing key never goes back to another suite.

            Example: pushcrypt keys add Keys/backend --reason "planned change"
            """)

    @Argument(help: .init("The keyset.", "Keys/NAME")) var path: String
    @Option(help: .init("When the key begins to seal. (default: now + publishLead)", "TIME")) var activatesAt: UnixTime?
    @Flag(help: "Add the key even if another one is pending or it would seal before publishLead has passed.")
    var force = false
    @Option(
        help: .init(
            "The suite of the recipient's key. xwing resists quantum computers. (default: that of the newest key)",
            "p256|x25519|xwing"))
    var suite: KeyPairType?
    @OptionGroup var clock: ClockOptions
    @OptionGroup var options: ChangeOptions
    @OptionGroup(title: "Restored copies") var expected: ExpectationOptions
    @OptionGroup var messages: MessageOptions
    @OptionGroup(title: "Encrypted keysets") var secrets: SecretOptions

    func run() throws {
        let change = try KeysetChange(path, options, clock, secrets, expected.state)
        try change.checkClock()
        try change.make { editor in try editor.add(activatesAt: try activation(editor), suite: suite) }
    }

    private func activation(_ editor: KeysetEditor) throws -> UnixTime? {
        let (policy, timeline) = (editor.metadata.policy, editor.metadata.timeline)
        // Publisher keys sign beside each other.
        if editor.metadata.kind == .publisher { return activatesAt }
        if let pending = timeline.keys(in: .pending, at: editor.now).first, !force {
            throw Failure(.temporary, "\(path): key \(pending.kid) is already pending; to add another one, use --force")
        }
        let earliest = editor.now + policy.publishLeadInSeconds
        guard let activatesAt else { return editor.metadata.nextActivation(at: editor.now) }
        guard activatesAt >= editor.now else {
            throw Failure(.usage, "--activates-at \(activatesAt) is in the past; it is \(editor.now)")
        }
        if let required = policy.requiredCoverage, !force {
            throw Failure(
                .temporary,
                "\(path): \(required) of the devices must hold a key before it seals: promote it with their reports "
                    + "instead of --activates-at, or use --force")
        }
        guard activatesAt >= earliest || force else {
            throw Failure(
                .temporary,
                "\(path): the key would seal before \(earliest), and devices that haven't fetched it by then show a "
                    + "placeholder; to add it anyway, use --force")
        }
        return activatesAt
    }
}
