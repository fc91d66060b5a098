public import ArgumentParser
public import PushCryptCore
import PushCryptKeyStore
import PushCryptPrimitives

struct KeysCreate: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create", abstract: "Make a keyset with one key, primary at once; prints its kid.")

    @Argument(help: ArgumentHelp("The new keyset's folder.", valueName: "Keys/NAME"))
    var path: String

    @Option(help: ArgumentHelp("What the keys are for.", valueName: "recipient|sender|shared"))
    var kind: KeyKind

    @Option(help: ArgumentHelp("The curve of a recipient's keys. (default: p256)", valueName: "p256|x25519"))
    var suite: SuiteArgument?

    @Flag(help: "Give the recipient's key a pre-shared key: who knows only the public key can't send.")
    var psk = false

    @Flag(name: .customLong("insecure-plaintext"), help: "Write the private keys unencrypted; needed for now.")
    var allowsPlaintext = false

    @OptionGroup var timeOptions: TimeOptions

    func validate() throws {
        guard !path.isEmpty else { throw ValidationError("Keys/NAME is empty.") }
        guard allowsPlaintext else {
            throw ValidationError(
                "Private keys are written unencrypted for now: say --insecure-plaintext to accept it.")
        }
        guard kind == .recipient || (suite == nil && !psk) else {
            throw ValidationError("--suite and --psk belong to recipient keys.")
        }
    }

    func run() throws {
        let time = timeOptions.time
        let record = try KeyRecord.generate(
            kind, group: (suite ?? .p256).group, psk: psk, backend: DefaultBackend.shared)
        let lifecycle = KeyLifecycle(createdAt: time, activatesAt: time)
        let keyset = try Keyset([.init(record, lifecycle)], sequence: 1, updatedAt: time)
        try KeysetFolder(path).create(keyset)
        try StandardStreams.write("\(record.kid)\n")
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
