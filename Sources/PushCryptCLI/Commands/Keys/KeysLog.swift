import ArgumentParser
import PushCryptCore
import PushCryptKeysets
import PushCryptKeystore

struct KeysLog: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log", abstract: "Show a keyset's audit log: who did what, when and why.",
        discussion: """
            Each line contains the hash of the previous line, and the keyset contains the hash of the last line. They \
            reveal a log that was cut, edited or replaced. An attacker who can write the keystore can forge both unless \
            the keys are encrypted.

            Exit status: 0 the log was shown. With --verify: 0 the log is intact, perhaps without the last lines, which \
            an interrupted change didn't write; 65 the log is broken; 75 the keyset is older than the log. --start-new sets \
            a broken log aside and starts a new one.

            Example: pushcrypt keys log Keys/backend --verify
            """)

    @Argument(help: .init("The keyset.", "Keys/NAME")) var path: String
    @Flag(help: "Check the log instead of showing it.") var verify = false
    @Flag(name: .customLong("start-new"), help: "Set a broken log aside and start a new one; needs --reason.")
    var startsNew = false
    @OptionGroup var agreement: AgreementOptions
    @OptionGroup var clock: ClockOptions
    @OptionGroup var options: ChangeOptions
    @OptionGroup var messages: MessageOptions
    @OptionGroup(title: "Encrypted keysets") var secrets: SecretOptions

    func validate() throws {
        guard !(verify && startsNew) else { throw ValidationError("Give --verify or --start-new, not both.") }
        guard !startsNew || options.reason?.isEmpty == false else {
            throw ValidationError("--start-new needs --reason: the new log starts with it.")
        }
        guard options.reason != AuditLog.placeholderReason else {
            throw ValidationError(
                "--reason \(AuditLog.placeholderReason) is the placeholder of the advice: write in its place why the log was "
                    + "broken, as in --reason 'the disk was full'.")
        }
        guard startsNew || options.reason == nil else { throw ValidationError("--reason needs --start-new.") }
        guard startsNew || options.execOnChange == nil else {
            throw ValidationError("--exec-on-change needs --start-new: nothing else changes the keyset.")
        }
    }

    func run() throws {
        try KeySource.requireKeyset(path, secrets.repeatedArguments)
        let found = try KeySource.naming(path, secrets.repeatedArguments) {
            try KeysetStore(path).log(secrets.source(of: path))
        }
        let (log, condition) = (found.log, found.condition)
        if startsNew { return try startNew(condition) }
        if verify { return try report(log, condition, found.metadata) }
        if case .broken(let flaw) = condition { StandardStreams.writeNote("\(path): the audit log is broken: \(flaw)") }
        if case .interrupted(let missing) = condition { StandardStreams.writeNote("\(path): \(Self.text(missing))") }
        let rows = try log.lines.map(LogRow.init(line:))
        try StandardStreams.write(rows.map(\.json), asJSON: options.json) { terminal in
            rows.flatMap { $0.lines(terminal) }.map { $0 + "\n" }.joined()
        }
    }

    private func report(_ log: AuditLog, _ condition: AuditLog.Condition, _ metadata: KeysetMetadata) throws {
        let lines = NumberText.counted(log.lines.count, "line")
        let (name, message, failure): (String, String, Failure?) =
            switch condition {
            case .whole: ("whole", "\(lines), as the keyset records", nil)
            case .interrupted(let missing): ("interrupted", Self.text(missing), nil)
            case .newer(let later):
                (
                    "newer", "\(later)",
                    Failure(.temporary, "\(path): \(later). Restore it: \(restoreCommand)")
                )
            case .broken(let flaw):
                ("broken", flaw, Failure(.dataError, "\(path): the audit log is broken: \(flaw); \(restart)"))
            }
        if options.json || failure == nil {
            let (sequence, head) = (metadata.sequence, AuditChain.text(metadata.audit.hash))
            let json: JSONObject = [
                "condition": name, "lines": log.lines.count, "message": message, "seq": sequence, "head": head,
            ]
            try StandardStreams.write(json, asJSON: options.json) { _ in
                "\(name): \(message); seq \(sequence), head \(head)\n"
            }
        }
        if let failure { throw failure }
    }

    private var restoreCommand: String { "`\(LaterChanges.restoreCommand(path, secrets.repeatedArguments))`" }

    private var restart: String { AuditLog.restartAdvice(path, secrets.repeatedArguments) }

    private static func text(_ missing: [String]) -> String {
        let lines = "the last \(missing.count == 1 ? "line" : "\(missing.count) lines")"
        return
            "an interrupted change didn't write \(lines) of the audit log; the next change or `keys verify` writes \(missing.count == 1 ? "it" : "them")"
    }

    private func startNew(_ condition: AuditLog.Condition) throws {
        if case .newer(let later) = condition {
            throw Failure(
                .temporary,
                "\(path): \(later); a new log would forget these changes. Restore the keyset: "
                    + restoreCommand
            )
        }
        guard case .broken(let flaw) = condition else {
            throw Failure(.dataError, "\(path): the audit log is not broken; nothing was changed")
        }
        let change = try KeysetChange(path, options, clock, secrets)
        try agreement.confirm("\(path): \(flaw);", ["the old log is set aside, and nothing authenticates it any more"])
        let oldName = try KeysetStore(path).restartLog(
            at: change.time, confirmsClock: change.confirmsClock, by: change.actor,
            change.answerSecret(evenIfOlder: true))
        guard let oldName else {
            throw Failure(.temporary, "\(path): another process has repaired the audit log in the meantime")
        }
        try StandardStreams.write(["keyset": path, "oldLog": oldName], asJSON: options.json) { _ in
            "started a new audit log; the old one is \(path)/\(oldName)\n"
        }
        try change.runHook(after: KeysetFolder(path).file().metadata)
    }
}

/// One line of an audit log as `keys log` shows it. Its content is not trusted: a missing or invalid member is nil.
private struct LogRow {
    private let number: Int64?
    private let texts: [String?]
    private let hash: String

    private static let names = ["at", "who", "what", "kid", "detail", "why"]

    init(line: String) throws {
        hash = AuditChain.text(try AuditChain.hash(Array(line.utf8)))
        let root = (try? JSONText(Array(line.utf8)))?.root
        number = root?["n"]?.protocolInteger
        texts = Self.names.map { root?[$0]?.string }
    }

    var json: JSONObject { JSONObject(Array(zip(Self.names, texts))).adding(["n": number, "hash": hash]) }

    /// ```
    /// 2  2026-03-01T09:00:00Z  added AVvUe-T2G40, by root
    ///    seals from 2026-03-08T09:00:00Z
    ///    reason: a drill
    /// ```
    func lines(_ terminal: TerminalText) -> [String] {
        let (at, who, what, kid) = (texts[0] ?? "-", texts[1] ?? "-", texts[2] ?? "-", texts[3])
        let action = AuditEvent.Action(rawValue: what)?.text ?? what
        let label = (number.map(String.init) ?? "-").leftPadded(to: 3) + "  "
        let heading = "\(at)  \([action, kid].compactMap(\.self).joined(separator: " ")), by \(who)"
        let details = [texts[4].map(AuditEvent.text(ofDetail:)), texts[5].map { "reason: " + $0 }].compactMap(\.self)
        return ([(label, heading)] + details.map { (String(repeating: " ", count: 5), $0) }).flatMap { label, text in
            terminal.wrapped(label, text, indent: 5, width: StandardStreams.wrappingColumns)
        }
    }
}
