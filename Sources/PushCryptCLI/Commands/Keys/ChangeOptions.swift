public import ArgumentParser
public import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptKeystore
public import PushCryptPrimitives

struct ChangeOptions: ParsableArguments {
    @Option(help: .init("The reason, for the audit log.", "TEXT")) var reason: String?
    @Flag(help: "Print JSON: what was done.") var json = false
    @Option(name: .customLong("at"), help: TimeOptions.help) var givenTime: UnixTime?
    @Option(
        help: .init("A program, by its path, that runs after a change, until it succeeds; see Keys/README.md.", "PATH"))
    var execOnChange: String?
    @Option(
        name: .customLong("exec-argument"), parsing: .unconditionalSingleValue,
        help: .init("An argument of that program; may be repeated.", "ARGUMENT"))
    var execArguments: [String] = []

    func validate() throws {
        guard execOnChange?.contains("/") ?? true else {
            throw ValidationError(
                "--exec-on-change takes the path of a program, with a slash: ./publish or /etc/push/publish.")
        }
        guard execArguments.isEmpty || execOnChange != nil else {
            throw ValidationError("--exec-argument needs --exec-on-change.")
        }
    }

    /// The program that runs after a change; nil if none is given.
    ///
    /// - Throws: `KeystoreError` if there is no such program: before the change, and not after it.
    func hook() throws -> ChangeHook? { try execOnChange.map { try ChangeHook($0, execArguments) } }

    var time: UnixTime { givenTime ?? .now }

    /// The account that runs the command and, with sudo, the account that called it; the host.
    ///
    /// - Parameter secrets: those of the keyset.
    func actor(_ secrets: SecretOptions) throws -> Actor {
        let caller = ProcessEnvironment.variable("SUDO_USER").map { " (sudo by \($0))" } ?? ""
        var actor = Actor(
            name: ProcessEnvironment.accountName + caller, reason: reason, writer: try Writer.ofThisHost())
        actor.secretArguments = secrets.repeatedArguments
        return actor
    }

    /// What to say about a keystore that `create` will make, which may be misspelt; nil for the default one and for one that exists.
    private static func newKeystore(of store: KeysetStore, _ kind: KeyKind) -> String? {
        let keystore = Keystore(FileSystem.parent(of: store.folder.path)).path
        guard !keystore.isEmpty, !FileSystem.isFolder(keystore), keystore != Defaults.keystore else { return nil }
        var missing = keystore
        while case let parent = FileSystem.parent(of: missing), !parent.isEmpty, !FileSystem.exists(parent) {
            missing = parent
        }
        let note = "\(keystore) is a new keystore: there was no folder \(missing)"
        // Publisher keys are never rotated, and their keystore is kept apart.
        guard kind != .publisher else { return note }
        return "\(note). Name it in commands for all keysets, as in `pushcrypt rotate --all "
            + "\(ShellArgument.quoted(keystore))`"
    }

    /// Makes a keyset of one key and prints the key's id.
    func create(
        _ store: KeysetStore, _ record: KeyRecord, _ policy: RotationPolicy, _ protection: Protection,
        _ secret: KeysetSecret?, _ secrets: SecretOptions, as action: AuditEvent.Action
    ) throws {
        let hook = try hook()
        let newKeystore = Self.newKeystore(of: store, record.kind)
        let notices = try store.create(record, policy, protection, secret, at: time, by: actor(secrets), as: action)
        for notice in notices { StandardStreams.writeNote(notice) }
        if let newKeystore { StandardStreams.writeNote(newKeystore) }
        try StandardStreams.write(["keyset": store.folder.path, "kid": "\(record.kid)"], asJSON: json) { _ in
            "\(record.kid)\n"
        }
        if let hook { try store.run(hook, after: store.folder.file().metadata, secrets.repeatedArguments) }
    }
}

/// The options of a command that may lose pushes and asks before it does.
struct ConfirmationOptions: ParsableArguments {
    @Flag(name: .customLong("yes"), help: AgreementOptions.help) var isAgreed = false
    @Flag(help: "Skip the check and the question; prints what is lost.") var force = false

    var skipsQuestion: Bool { isAgreed || force }

    func confirm(_ what: String, _ losses: [String]) throws {
        var agreement = AgreementOptions()
        agreement.isAgreed = skipsQuestion
        try agreement.confirm(what, losses)
    }
}

struct AgreementOptions: ParsableArguments {
    static let help: ArgumentHelp = "Don't ask."

    @Flag(name: .customLong("yes"), help: help) var isAgreed = false

    /// Prints the losses and asks for agreement, unless `--yes` was given.
    ///
    /// - Throws: `Failure` without agreement.
    func confirm(_ what: String, _ losses: [String]) throws {
        let text = ([what] + losses).joined(separator: "\n  - ")
        guard !isAgreed else { return StandardStreams.writeNote(text) }
        guard let terminal = Terminal(), StandardStreams.isInteractive else {
            throw Failure(
                .usage, "\(what) \(losses.joined(separator: "; ")). Nothing was changed; to confirm, add --yes")
        }
        let question = TerminalText.wrap(
            lines: TerminalText.inLocale(TerminalText.harmless(lines: text)), width: StandardStreams.messageColumns)
        guard terminal.agrees(question + "\n") else {
            throw Failure(.usage, "not confirmed; nothing was changed")
        }
    }
}

struct ClockOptions: ParsableArguments {
    @Flag(name: .customLong("confirm-clock"), help: "Trust the clock, although its time is far from the last change.")
    var isConfirmed = false
}

struct KeyIDArgument: ParsableArguments {
    @Argument(
        help: .init(
            "The key's id, or its first 4 or more characters; with --yes or --force the whole id. An id that begins with a dash "
                + "is the last argument, after --.", "KID"))
    var prefix: KeyIDPrefix

    /// - Parameter mustBeWhole: whether the command makes its change without a question.
    func kid(in change: KeysetChange, mustBeWhole: Bool) throws -> KeyID {
        try prefix.kid(in: change, mustBeWhole: mustBeWhole)
    }
}

extension KeyID: ExpressibleByArgument {
    public init?(argument: String) { self.init(argument) }
}

extension KeyKind: ExpressibleByArgument {
    public init?(argument: String) { self.init(rawValue: argument) }
}

extension KeyPairType: ExpressibleByArgument {
    public init?(argument: String) {
        switch argument {
        case "p256": self = .p256
        case "x25519": self = .x25519
        case "xwing": self = .xWing
        default: return nil
        }
    }

    /// The values in the help and the completions. By default they would be the cases' descriptions.
    public static var allValueStrings: [String] { ["p256", "x25519", "xwing"] }
}
