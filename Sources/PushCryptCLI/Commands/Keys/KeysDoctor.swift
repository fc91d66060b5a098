import ArgumentParser
import PushCryptCore
import PushCryptKeysets
import PushCryptKeystore

struct KeysDoctor: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor", abstract: "Examine a keystore and print everything that is wrong with it.",
        discussion: """
            Errors are files that commands refuse or that others can read; warnings should be corrected; notes need no \
            action. Each finding says what to do. Nothing is changed, and no secret is needed. A secret that is given is checked \
            with each encrypted keyset, and then a plain keyset is an error. `keys verify` checks one keyset with its secret. \
            After the findings the text names the keysets with a key of suite 3, which resists quantum computers.

            Exit status: 0 no errors, perhaps warnings; 65 errors; 66 there is no keyset; anything else: see pushcrypt --help.

            Example: pushcrypt keys doctor Keys
            """)

    @Argument(help: .init("A keystore or a keyset. (default: PUSHCRYPT_KEYS, else Keys)", "Keys")) var givenPath:
        String?
    @OptionGroup var served: ServedOption
    @Flag(help: "Print JSON: an array of objects.") var json = false
    @OptionGroup var secretCheck: SecretCheckOptions
    @OptionGroup var timeOptions: TimeOptions
    @OptionGroup var messages: MessageOptions
    @OptionGroup(title: "Encrypted keysets") var secrets: SecretOptions

    private var path: String { givenPath ?? Defaults.keystore }

    func run() throws {
        var context = try secretCheck.context(secrets, at: timeOptions.time)
        try served.add(to: &context, [path])
        let found = try KeystoreExamination(path, context)
        if secretCheck.isChecked == nil, let note = found.uncheckedSecrets { StandardStreams.writeNote(note) }
        try StandardStreams.write(found.findings, asJSON: json) { terminal in
            found.findings.map { $0.text(terminal) }.joined() + Self.summary(found) + "\n"
                + found.postQuantumLines(at: timeOptions.time).map { $0 + "\n" }.joined()
        }
        let errors = found.findings.count { $0.severity == .error }
        guard errors == 0 else { throw Failure(.dataError, "\(path): \(NumberText.counted(errors, "error"))") }
        try found.requireKeyset(in: path)
    }

    private static func summary(_ found: KeystoreExamination) -> String {
        let keysets = NumberText.counted(found.keysetCount, "keyset")
        let counts = Finding.Severity.allCases.compactMap { severity -> String? in
            let count = found.findings.count { $0.severity == severity }
            return count == 0 ? nil : NumberText.counted(count, severity.rawValue)
        }
        return "\(keysets): " + (counts.isEmpty ? "nothing found" : counts.joined(separator: ", "))
    }
}

struct ServedOption: ParsableArguments {
    @Option(
        help: .init(
            "Compare with the published sets in the folder that keys publish --to writes: their seq and their revocations.",
            "FOLDER"))
    var served: String?
    @Option(
        help: .init(
            "The publisher keyset that must have signed the published sets; repeat it for several. Its secret isn't needed.",
            "Keys/NAME"))
    var signedBy: [String] = []

    func validate() throws {
        guard signedBy.isEmpty || served != nil else { throw ValidationError("--signed-by needs --served.") }
    }

    /// Adds what the keysets at paths are compared with.
    func add(to context: inout KeysetExamination.Context, _ paths: [String]) throws {
        guard let served else { return }
        for path in signedBy {
            guard try KeySource.metadata(of: path).kind == .publisher else {
                throw Failure(.dataError, "--signed-by \(path): it isn't a publisher keyset")
            }
        }
        context.served = try ServedFolder(served)
        context.addPublishers(in: paths, areExamined: true)
        context.addPublishers(in: signedBy, areExamined: false)
    }
}

extension SecretCheckOptions {
    /// The examination of a keystore, with the secret if it is checked.
    func context(_ secrets: SecretOptions, at time: UnixTime) throws -> KeysetExamination.Context {
        var context = KeysetExamination.Context(at: time)
        context.writer = try Writer.ofThisHost()
        context.secretArguments = secrets.repeatedArguments
        guard isChecked ?? secrets.isGiven else { return context }
        let answer = Remembered<KeysetSecret>()
        context.secret = { secrets.source(of: $0, remembering: answer) }
        return context
    }
}

extension KeystoreExamination {
    /// A line about each keyset that has a key of suite 3 which opens.
    func postQuantumLines(at time: UnixTime) -> [String] {
        keysets.compactMap { keyset in
            guard let metadata = keyset.metadata else { return nil }
            let (timeline, path) = (metadata.timeline, TerminalText.harmless(keyset.snapshot.path.utf8))
            func isXWing(_ kid: KeyID) -> Bool { metadata.traits[kid]?.suite == .xWing }
            guard let primary = timeline.primary(at: time), isXWing(primary.kid) else {
                let next = timeline.keys.first { isXWing($0.kid) && timeline.state(of: $0.kid, at: time) == .pending }
                return next.map { "\(path): post-quantum from when key \($0.kid) of suite 3 seals" }
            }
            return "\(path): post-quantum, key \(primary.kid) of suite 3 seals"
        }
    }

    /// The sentence about secrets that weren't checked; nil if there are none.
    var uncheckedSecrets: String? {
        let count = keysets.count { $0.secret == .unchecked }
        guard count > 0 else { return nil }
        return "\(NumberText.counted(count, "secret")) of encrypted keysets not checked, because none was given; "
            + Verification.giveTheSecret
    }
}

extension Finding {
    /// The finding, and what to do.
    func text(_ terminal: TerminalText) -> String {
        let label = terminal.label(severity.rawValue, severity.style, width: 9)
        let lines =
            terminal.wrapped(label, "\(keyset): \(message)", indent: 9, width: StandardStreams.wrappingColumns)
            + terminal.advice(advice, indent: 9)
        return lines.map { $0 + "\n" }.joined()
    }
}

extension Finding.Severity {
    var style: TerminalText.Style {
        switch self {
        case .error: .bad
        case .warning: .warning
        case .note: .faint
        }
    }
}
