public import ArgumentParser
public import PushCryptCore
import PushCryptFiles
public import PushCryptPrimitives

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
