import ArgumentParser
import PushCryptKeystore

struct KeysDoctor: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Everything wrong with a keystore in one look.",
        discussion: """
            Errors are what commands refuse and what lies open to others, warnings what should not stay so, notes are \
            worth knowing. With each comes what to do. Nothing is changed, and no secret is needed; `keys verify` \
            checks one keyset with its secret.

            Exit status: 0 no errors, though there may be warnings, 65 errors; anything else: see pushcrypt --help.
            """)

    @Argument(help: ArgumentHelp("A keystore, or one keyset.", valueName: "Keys"))
    var path = "Keys"

    @Flag(help: "An array of objects, for machines.")
    var json = false

    @OptionGroup var timeOptions: TimeOptions

    func run() throws {
        let found = try KeystoreExamination(path, at: timeOptions.time)
        if json {
            try StandardStreams.writeJSON(found.findings)
        } else {
            let terminal = TerminalText(isColourful: StandardStreams.isColourful)
            let lines = found.findings.map { Self.text($0, terminal) } + [Self.summary(found) + "\n"]
            try StandardStreams.write(lines.joined())
        }
        let errors = found.count(of: .error)
        guard errors == 0 else { throw Failure(.dataError, "\(path): \(errors) error\(errors == 1 ? "" : "s")") }
    }

    private static func text(_ finding: Finding, _ terminal: TerminalText) -> String {
        let name = finding.severity.rawValue
        let label = terminal.styled(name, finding.severity.style) + String(repeating: " ", count: 9 - name.count)
        let (keyset, message) = (
            TerminalText.harmless(finding.keyset.utf8), TerminalText.harmless(finding.message.utf8)
        )
        return "\(label)\(keyset): \(message)\n         \(TerminalText.harmless(finding.advice.utf8))\n"
    }

    private static func summary(_ found: KeystoreExamination) -> String {
        let keysets = "\(found.keysetCount) keyset\(found.keysetCount == 1 ? "" : "s")"
        let counts = Finding.Severity.allCases.compactMap { severity -> String? in
            let count = found.count(of: severity)
            return count == 0 ? nil : "\(count) \(severity.rawValue)\(count == 1 ? "" : "s")"
        }
        return "\(keysets): " + (counts.isEmpty ? "nothing to say" : counts.joined(separator: ", "))
    }
}

extension KeystoreExamination {
    fileprivate func count(of severity: Finding.Severity) -> Int {
        findings.count { $0.severity == severity }
    }
}

extension Finding.Severity {
    fileprivate var style: TerminalText.Style {
        switch self {
        case .error: .bad
        case .warning: .warning
        case .note: .faint
        }
    }
}
