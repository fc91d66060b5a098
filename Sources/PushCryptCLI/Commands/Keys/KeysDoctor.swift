import ArgumentParser
import PushCryptKeystore

struct KeysDoctor: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor", abstract: "Examine a keystore and print everything that is wrong with it.",
        discussion: """
            Errors are files that commands refuse or that others can read; warnings should be corrected; notes need no \
            action. Each finding says what to do. Nothing is changed, and no secret is needed. `keys verify` checks one \
            keyset with its secret.

            Exit status: 0 no errors, perhaps warnings; 65 errors; anything else: see pushcrypt --help.

            Example: pushcrypt keys doctor Keys
            """)

    @Argument(help: .init("A keystore or a keyset. (default: PUSHCRYPT_KEYS, else Keys)", "Keys")) var givenPath:
        String?
    @Flag(help: "Print JSON: an array of objects.") var json = false
    @OptionGroup var timeOptions: TimeOptions
    @OptionGroup var messages: MessageOptions

    private var path: String { givenPath ?? Defaults.keystore }

    func run() throws {
        let found = try KeystoreExamination(path, at: timeOptions.time, writer: Writer.ofThisHost())
        try StandardStreams.write(found.findings, asJSON: json) { terminal in
            found.findings.map { Self.text($0, terminal) }.joined() + Self.summary(found) + "\n"
        }
        let errors = found.findings.count { $0.severity == .error }
        guard errors == 0 else { throw Failure(.dataError, "\(path): \(NumberText.counted(errors, "error"))") }
    }

    private static func text(_ finding: Finding, _ terminal: TerminalText) -> String {
        let label = terminal.label(finding.severity.rawValue, finding.severity.style, width: 9)
        let lines =
            terminal.wrapped(
                label, "\(finding.keyset): \(finding.message)", indent: 9, width: StandardStreams.wrappingColumns)
            + terminal.advice(finding.advice, indent: 9)
        return lines.map { $0 + "\n" }.joined()
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

extension Finding.Severity {
    var style: TerminalText.Style {
        switch self {
        case .error: .bad
        case .warning: .warning
        case .note: .faint
        }
    }
}
