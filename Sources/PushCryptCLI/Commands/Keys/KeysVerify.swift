import ArgumentParser
import PushCryptKeysets
import PushCryptKeystore

struct KeysVerify: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Check that the files of a keyset are intact and consistent.",
        discussion: """
            Prints one line for each check. Finishes or discards what an interrupted change left and reports it; in a \
            keystore that can't be written it only reports it. It never asks for the secret of an encrypted keyset: \
            without the secret some checks are not made. With a secret, keys in plain text are refused.

            Exit status: 0 every check that was made passed; 65 a check failed; anything else: see pushcrypt --help.

            Example: pushcrypt keys verify Keys/backend
            """)

    @Argument(help: .init("The keyset.", "Keys/NAME")) var path: String
    @Flag(help: "Print JSON: an array of objects.") var json = false
    @OptionGroup var timeOptions: TimeOptions
    @OptionGroup var messages: MessageOptions
    @OptionGroup(title: "Encrypted keysets") var secrets: SecretOptions

    func run() throws {
        try KeySource.requireKeyset(path, secrets.repeatedArguments)
        let secret = secrets.isGiven ? secrets.source(of: path) : .none
        let verification = try KeysetStore(path).verify(secret, at: timeOptions.time)
        try StandardStreams.write(verification.checks, asJSON: json) { terminal in
            verification.checks.map { Self.text($0, terminal) }.joined()
        }
        let count = verification.findings.count
        guard count == 0 else { throw Failure(.dataError, "\(path): \(NumberText.counted(count, "finding"))") }
    }

    private static func text(_ check: Verification.Check, _ terminal: TerminalText) -> String {
        let label =
            terminal.label(check.outcome.rawValue, check.outcome.style, width: 11) + check.check.padded(to: 11)
        let lines =
            terminal.wrapped(label, check.message, indent: 22, width: StandardStreams.wrappingColumns)
            + (check.advice.map { terminal.advice($0, indent: 22) } ?? [])
        return lines.map { $0 + "\n" }.joined()
    }
}

extension Verification.Check.Outcome {
    fileprivate var style: TerminalText.Style {
        switch self {
        case .ok: .good
        case .repaired, .unchecked: .warning
        case .bad: .bad
        }
    }
}
