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
            an interrupted change didn't write; 65 the log is broken. --start-new sets a broken log aside and starts \
            a new one.
            """)

    @Argument(help: .init("The keyset.", "Keys/NAME")) var path: String
    @Flag(help: "Check the log instead of showing it.") var verify = false
    @Flag(name: .customLong("start-new"), help: "Set a broken log aside and start a new one; needs --reason.")
    var startsNew = false
    @OptionGroup var agreement: AgreementOptions
    @OptionGroup var clock: ClockOptions
    @OptionGroup var options: ChangeOptions
    @OptionGroup(title: "Encrypted keysets") var secrets: SecretOptions

    func validate() throws {
        guard !(verify && startsNew) else { throw ValidationError("Give --verify or --start-new, not both.") }
        guard !startsNew || options.reason?.isEmpty == false else {
            throw ValidationError("--start-new needs --reason: the new log starts with it.")
        }
        guard startsNew || options.reason == nil else { throw ValidationError("--reason needs --start-new.") }
        guard startsNew || options.execOnChange == nil else {
            throw ValidationError("--exec-on-change needs --start-new: nothing else changes the keyset.")
        }
    }

    func run() throws {
        try KeySource.requireKeyset(path)
        let (log, condition) = try KeySource.naming(path) { try KeysetStore(path).log(secrets.source(of: path)) }
        if startsNew { return try startNew(condition) }
        if verify { return try report(log, condition) }
        if case .broken(let flaw) = condition { StandardStreams.writeNote("\(path): the audit log is broken: \(flaw)") }
        if case .interrupted(let missing) = condition { StandardStreams.writeNote("\(path): \(Self.text(missing))") }
        let rows = log.lines.map(LogRow.init(line:))
        try StandardStreams.write(rows.map(\.json), asJSON: options.json) { terminal in
            TextTable(LogRow.headings, rows.map(\.cells)).lines(terminal, width: .max).map { $0 + "\n" }.joined()
        }
    }

    private func report(_ log: AuditLog, _ condition: AuditLog.Condition) throws {
        let lines = NumberText.counted(log.lines.count, "line")
        let (name, message, failure): (String, String, Failure?) =
            switch condition {
            case .whole: ("whole", "\(lines), as the keyset records", nil)
            case .interrupted(let missing): ("interrupted", Self.text(missing), nil)
            case .broken(let flaw): ("broken", flaw, Failure(.dataError, "\(path): the audit log is broken: \(flaw)"))
            }
        if options.json || failure == nil {
            let json: JSONObject = ["condition": name, "lines": log.lines.count, "message": message]
            try StandardStreams.write(json, asJSON: options.json) { _ in "\(name): \(message)\n" }
        }
        if let failure { throw failure }
    }

    private static func text(_ missing: [String]) -> String {
        let lines = "the last \(missing.count == 1 ? "line" : "\(missing.count) lines")"
        return
            "an interrupted change didn't write \(lines) of the audit log; the next change or `keys verify` writes \(missing.count == 1 ? "it" : "them")"
    }

    private func startNew(_ condition: AuditLog.Condition) throws {
        guard case .broken(let flaw) = condition else {
            throw Failure(.dataError, "\(path): the audit log is not broken; nothing was changed")
        }
        let change = try KeysetChange(path, options, clock, secrets)
        try agreement.confirm("\(path): \(flaw);", ["the old log is set aside, and nothing authenticates it any more"])
        let oldName = try KeysetStore(path).restartLog(
            at: change.time, confirmsClock: change.confirmsClock, by: options.actor, change.answerSecret())
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

    private static let names = ["at", "who", "what", "kid", "detail", "why"]
    static let headings = (["n"] + names).map { TextTable.Column($0.uppercased()) }

    init(line: String) {
        let root = (try? JSONText(Array(line.utf8)))?.root
        number = root?["n"]?.protocolInteger
        texts = Self.names.map { root?[$0]?.string }
    }

    var json: JSONObject { JSONObject(Array(zip(Self.names, texts))).adding(["n": number]) }

    var cells: [TextTable.Cell] {
        ([number.map(String.init)] + texts).map { .init(text: TerminalText.harmless(($0 ?? "-").utf8)) }
    }
}
