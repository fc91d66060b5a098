import ArgumentParser
import PushCryptCore
import PushCryptKeystore

struct KeysLog: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log",
        abstract: "Show a keyset's audit log: who did what, when and why.",
        discussion: """
            Each line holds the hash of the one before, and the keyset the hash of the last: a log that was cut, edited \
            or exchanged shows. Whoever can write the keystore can make both anew, unless the keys are encrypted.

            Exit status: 0 shown; with --verify 0 for a whole log, also for one whose last lines an interrupted change \
            kept back, and 65 for a broken one. --begin-anew sets a broken log aside and begins another.
            """)

    @Argument(help: ArgumentHelp("The keyset.", valueName: "Keys/NAME"))
    var path: String

    @Flag(help: "Check the log and don't show it.")
    var verify = false

    @Flag(name: .customLong("begin-anew"), help: "Set a broken log aside and begin another; with --reason.")
    var beginsAnew = false

    @OptionGroup var agreement: AgreementOptions
    @OptionGroup var options: ChangeOptions
    @OptionGroup(title: "Encrypted keysets") var secrets: SecretOptions

    func validate() throws {
        guard !(verify && beginsAnew) else { throw ValidationError("Say --verify or --begin-anew.") }
        guard !beginsAnew || options.reason?.isEmpty == false else {
            throw ValidationError("--begin-anew needs a --reason: the new log begins with it.")
        }
        guard beginsAnew || options.reason == nil else { throw ValidationError("--reason belongs to --begin-anew.") }
    }

    func run() throws {
        try KeySource.requireKeyset(path)
        let (log, condition) = try KeySource.naming(path) {
            try KeysetStore(path).log(secrets.source(of: path))
        }
        if beginsAnew { return try beginAnew(condition) }
        if verify { return try tell(log, condition) }
        if case .broken(let flaw) = condition { StandardStreams.note("\(path): the audit log is broken: \(flaw)") }
        if case .interrupted(let missing) = condition { StandardStreams.note("\(path): \(Self.words(missing))") }
        let rows = log.lines.map(LogRow.init(line:))
        if options.json {
            try StandardStreams.writeJSON(rows)
        } else {
            let terminal = TerminalText(isColourful: StandardStreams.isColourful)
            let lines = TextTable(rows).lines(terminal, width: .max)
            try StandardStreams.write(lines.map { $0 + "\n" }.joined())
        }
    }

    private func tell(_ log: AuditLog, _ condition: AuditLog.Condition) throws {
        let lines = "\(log.lines.count) line\(log.lines.count == 1 ? "" : "s")"
        let (name, message, failure): (String, String, Failure?) =
            switch condition {
            case .whole: ("whole", "\(lines), to the keyset's own head", nil)
            case .interrupted(let missing): ("interrupted", Self.words(missing), nil)
            case .broken(let flaw): ("broken", flaw, Failure(.dataError, "\(path): the audit log is broken: \(flaw)"))
            }
        if options.json {
            try StandardStreams.writeJSON(Report(condition: name, lines: log.lines.count, message: message))
        } else if failure == nil {
            try StandardStreams.write("\(name): \(message)\n")
        }
        if let failure { throw failure }
    }

    private static func words(_ missing: [String]) -> String {
        let lines = "the last \(missing.count == 1 ? "line" : "\(missing.count) lines")"
        return "an interrupted change kept \(lines) from the audit log; the next change or `keys verify` adds it"
    }

    private struct Report: Encodable {
        let condition: String
        let lines: Int
        let message: String
    }

    private func beginAnew(_ condition: AuditLog.Condition) throws {
        guard case .broken(let flaw) = condition else {
            throw Failure(.dataError, "\(path): the audit log is not broken; nothing was changed")
        }
        let change = try KeysetChange(path, options, secrets)
        try agreement.confirm(
            "\(path): \(flaw);", ["the log so far is set aside, and nothing vouches for it any more"])
        let oldName = try KeysetStore(path).restartLog(at: change.time, by: options.actor, change.answerSecret())
        guard let oldName else { throw Failure(.temporary, "\(path): somebody else mended the audit log meanwhile") }
        if options.json {
            try StandardStreams.writeJSON(["keyset": path, "oldLog": oldName])
        } else {
            try StandardStreams.write("began the audit log anew; the old one is \(path)/\(oldName)\n")
        }
    }
}

/// One line of an audit log as `keys log` shows it. Its content is not trusted.
struct LogRow: Encodable {
    /// The line's own number; null where the line isn't what a line is.
    let n: Int64?
    let at: String?
    let who: String?
    let what: String?
    let kid: String?
    let detail: String?
    let why: String?

    init(line: String) {
        let root = (try? JSONText(Array(line.utf8)))?.root
        n = root?["n"]?.protocolInteger
        at = root?["at"]?.string
        who = root?["who"]?.string
        what = root?["what"]?.string
        kid = root?["kid"]?.string
        detail = root?["detail"]?.string
        why = root?["why"]?.string
    }

    enum CodingKeys: CodingKey {
        case n, at, who, what, kid, detail, why
    }

    /// What isn't there is null, not absent.
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(n, forKey: .n)
        try container.encode(at, forKey: .at)
        try container.encode(who, forKey: .who)
        try container.encode(what, forKey: .what)
        try container.encode(kid, forKey: .kid)
        try container.encode(detail, forKey: .detail)
        try container.encode(why, forKey: .why)
    }
}

extension TextTable {
    init(_ rows: [LogRow]) {
        self.init(
            ["N", "AT", "WHO", "WHAT", "KID", "DETAIL", "WHY"].map { heading in Column(heading) },
            rows.map { row in
                [row.n.map(String.init), row.at, row.who, row.what, row.kid, row.detail, row.why]
                    .map { cell in Cell(text: TerminalText.harmless((cell ?? "-").utf8)) }
            })
    }
}
