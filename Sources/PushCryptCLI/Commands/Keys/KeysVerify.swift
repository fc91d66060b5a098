import ArgumentParser
import PushCryptKeysets
import PushCryptKeystore

struct KeysVerify: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Check that the files of a keyset are whole and fit together.",
        discussion: """
            One line for each check. What an interrupted change left is finished or discarded, which is said; where the \
            keystore can't be written it is only said. Without the secret of an encrypted keyset, which is never asked \
            for, some checks are not made; with a secret, keys in plain text are refused.

            Exit status: 0 nothing is wrong with what could be checked, 65 something is; anything else: see \
            pushcrypt --help.
            """)

    @Argument(help: ArgumentHelp("The keyset.", valueName: "Keys/NAME"))
    var path: String

    @Flag(help: "An array of objects, for machines.")
    var json = false

    @OptionGroup var timeOptions: TimeOptions
    @OptionGroup(title: "Encrypted keysets") var secrets: SecretOptions

    func run() throws {
        try KeySource.requireKeyset(path)
        let secret = secrets.isGiven ? secrets.source(of: path) : .none
        let verification = try KeysetStore(path).verify(secret, at: timeOptions.time)
        if json {
            try StandardStreams.writeJSON(verification.checks)
        } else {
            let terminal = TerminalText(isColourful: StandardStreams.isColourful)
            try StandardStreams.write(verification.checks.map { Self.text($0, terminal) }.joined())
        }
        let count = verification.findings.count
        guard count == 0 else {
            throw Failure(.dataError, "\(path): \(count) finding\(count == 1 ? "" : "s")")
        }
    }

    private static func text(_ check: Verification.Check, _ terminal: TerminalText) -> String {
        let label = terminal.styled(check.outcome.rawValue, check.outcome.style)
        let space = String(repeating: " ", count: 11 - check.outcome.rawValue.count)
        let message = TerminalText.harmless(check.message.utf8)
        let advice = check.advice.map { String(repeating: " ", count: 22) + TerminalText.harmless($0.utf8) + "\n" }
        return "\(label)\(space)\(check.check.padded(to: 11))\(message)\n" + (advice ?? "")
    }
}

extension Verification.Check.Outcome {
    fileprivate var style: TerminalText.Style {
        switch self {
        case .ok: .good
        case .mended, .unchecked: .warning
        case .bad: .bad
        }
    }
}
