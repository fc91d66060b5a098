import ArgumentParser
import PushCryptCore
import PushCryptKeysets
import PushCryptPrimitives

struct KeysCreate: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create", abstract: "Create a keyset with one primary key; prints its kid.",
        discussion: """
            The private keys are encrypted with the secret of the settings, or with a passphrase or a command that wraps keys. \
            Without one you type a passphrase on the terminal. A new passphrase is one line of at least 8 characters without \
            control characters.

            The policy says when `pushcrypt rotate` adds and erases keys. Without its options a key seals for 90d, is published \
            7d before, and opens for at least 30d after it; 2 keys can open. Publisher keys have no policy.

            Example: pushcrypt keys create Keys/backend --kind sender --rotate-every 180d
            """)

    @Argument(help: .init("The new keyset; its folder is the keystore.", "Keys/NAME")) var path: String
    @Option(
        help: .init(
            "The kind of the keys: devices open with recipient keys, the backend signs with sender keys, both sides have "
                + "shared keys, and publisher keys sign the sets of sender keys that apps trust.",
            "recipient|sender|shared|publisher"))
    var kind: KeyKind
    @Option(
        help: .init(
            "The suite of a recipient's keys. xwing resists quantum computers and needs OpenSSL 3.5. (default: p256)",
            "p256|x25519|xwing"))
    var suite: KeyPairType?
    @Flag(help: "Add a pre-shared key: sending then needs it and the public key.") var psk = false
    @Flag(name: .customLong("insecure-plaintext"), help: "Write the private keys unencrypted.")
    var allowsPlaintext = false
    @OptionGroup(title: "Policy") var policyOptions: PolicyOptions
    @OptionGroup var keystores: KeystoreOptions
    @OptionGroup var times: TimeOptions
    @OptionGroup var messages: MessageOptions
    @OptionGroup(title: "Encrypted keysets") var secrets: SecretOptions

    func validate() throws {
        guard kind == .recipient || (suite == nil && !psk) else {
            throw ValidationError("--suite and --psk need --kind recipient.")
        }
        guard kind != .publisher || policyOptions.isEmpty else {
            throw ValidationError("Publisher keys have no policy, because they change with an app update.")
        }
    }

    func run() throws {
        let policy = policyOptions.isEmpty ? nil : try policyOptions.policy(over: .standard)
        if let policy { policyOptions.noteIdleOverlap(policy) }
        let keysets = try HostKeysets(keystores, at: times.time, secrets)
        let record = try KeyRecord.generate(kind, type: suite ?? .p256, psk: psk, backend: DefaultBackend.shared)
        try keysets.create(keysets.location(path), record, policy, allowsPlaintext: allowsPlaintext)
    }
}
