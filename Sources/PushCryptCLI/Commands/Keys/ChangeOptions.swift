public import ArgumentParser
public import PushCryptCore
import PushCryptKeystore

/// What every command that changes a keyset takes.
struct ChangeOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Why, for the audit log.", valueName: "TEXT"))
    var reason: String?

    @Flag(help: "What was done, for machines.")
    var json = false

    @Option(name: .customLong("at"), help: TimeOptions.help) var givenTime: UnixTime?

    var time: UnixTime { givenTime ?? .now }

    var actor: Actor { Actor(name: Environment.userName, reason: reason) }
}

/// What a command takes that can lose something.
struct ConfirmationOptions: ParsableArguments {
    @Flag(name: .customLong("yes"), help: AgreementOptions.help)
    var isAgreed = false

    @Flag(help: "Do it, without a question, although it loses something; what, is said.")
    var force = false

    func confirm(_ what: String, _ losses: [String]) throws {
        var agreement = AgreementOptions()
        agreement.isAgreed = isAgreed || force
        try agreement.confirm(what, losses)
    }
}

struct AgreementOptions: ParsableArguments {
    static let help: ArgumentHelp = "Don't ask."

    @Flag(name: .customLong("yes"), help: help)
    var isAgreed = false

    /// Names what will be lost and asks, where nobody has agreed yet.
    func confirm(_ what: String, _ losses: [String]) throws {
        let words = ([what] + losses).joined(separator: "\n  - ")
        guard !isAgreed else { return StandardStreams.note(words) }
        guard let terminal = Terminal(), StandardStreams.isInteractive else {
            throw Failure(.usage, "\(what) \(losses.joined(separator: "; ")); say --yes to do it")
        }
        guard try terminal.agrees(TerminalText.harmless(lines: words) + "\n") else {
            throw Failure(.usage, "not agreed; nothing was changed")
        }
    }
}

struct ClockOptions: ParsableArguments {
    @Flag(name: .customLong("confirm-clock"), help: "The clock is right, though it is far from the last change.")
    var isConfirmed = false
}

struct KeyIDArgument: ParsableArguments {
    @Argument(help: ArgumentHelp("The key's id.", valueName: "KID"))
    var kid: KeyID
}

extension KeyID: ExpressibleByArgument {
    public init?(argument: String) {
        self.init(argument)
    }
}
