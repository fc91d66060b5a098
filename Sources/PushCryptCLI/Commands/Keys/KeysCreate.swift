public import ArgumentParser
public import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptKeystore
import PushCryptPrimitives

struct KeysCreate: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Make a keyset with one key, primary at once; prints its kid.",
        discussion: """
            The private keys are encrypted with a passphrase, asked for on the terminal unless it is named, or by a \
            command that wraps data keys. The policy says when `pushcrypt rotate` adds and erases keys.
            """)

    @Argument(help: ArgumentHelp("The new keyset's folder.", valueName: "Keys/NAME"))
    var path: String

    @Option(help: ArgumentHelp("What the keys are for.", valueName: "recipient|sender|shared"))
    var kind: KeyKind

    @Option(help: ArgumentHelp("The curve of a recipient's keys. (default: p256)", valueName: "p256|x25519"))
    var suite: SuiteArgument?

    @Flag(help: "Give the recipient's key a pre-shared key: who knows only the public key can't send.")
    var psk = false

    @Flag(name: .customLong("insecure-plaintext"), help: "Write the private keys unencrypted.")
    var allowsPlaintext = false

    @OptionGroup(title: "Policy") var policyOptions: PolicyOptions
    @OptionGroup var change: ChangeOptions
    @OptionGroup(title: "Encrypted keysets") var secrets: SecretOptions

    func validate() throws {
        guard !path.isEmpty else { throw ValidationError("Keys/NAME is empty.") }
        guard kind == .recipient || (suite == nil && !psk) else {
            throw ValidationError("--suite and --psk belong to recipient keys.")
        }
    }

    func run() throws {
        let policy = try policyOptions.policy(over: .standard)
        let store = KeysetStore(path)
        guard !FileSystem.exists(store.folder.path) else {
            throw Failure(.cannotCreate, "\(store.folder.path) exists already")
        }
        let (protection, secret) = try NewSecretOptions(options: secrets, allowsPlaintext: allowsPlaintext)
            .protection()
        let record = try KeyRecord.generate(
            kind, group: (suite ?? .p256).group, psk: psk, backend: DefaultBackend.shared)
        let notices = try store.create(
            record, policy, protection, secret, at: change.time, by: change.actor)
        for notice in notices { StandardStreams.note(notice) }
        if change.json {
            try StandardStreams.writeJSON(["keyset": store.folder.path, "kid": "\(record.kid)"])
        } else {
            try StandardStreams.write("\(record.kid)\n")
        }
    }
}

extension KeyKind: ExpressibleByArgument {
    public init?(argument: String) {
        self.init(rawValue: argument)
    }
}

enum SuiteArgument: String, ExpressibleByArgument {
    case p256, x25519

    var group: DHGroup { self == .p256 ? .p256 : .x25519 }
}
