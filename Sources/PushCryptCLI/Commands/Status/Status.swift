import ArgumentParser
import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptKeystore

struct Status: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show whether keysets need an operator, for a monitor: one line first.",
        discussion: """
            The first line is that of a plugin of Nagios, Icinga or a similar monitor. Below it is each finding, the worst first, and \
            one command that helps. It changes nothing and needs no secret. A keyset that another user owns is examined as that user.

            --prometheus writes metrics for the textfile collector of the node exporter.

            Exit status, unlike that of other commands: 0 ok, 1 warning, 2 critical, 3 unknown: there are no settings, or the metrics \
            can't be written. Bad usage is 64.

            Example: pushcrypt status --prometheus /var/lib/node_exporter/pushcrypt.prom
            """)

    @Flag(
        name: .customLong("long"),
        help: "Also unlock the keysets with the secrets of the settings, and name unknown files. It takes time.")
    var isLong = false
    @Flag(
        name: .customLong("codes"), help: "Print the code, severity and meaning of each finding, and examine nothing.")
    var listsCodes = false
    @Option(help: .init("Write metrics to this file, FILE.prom in the folder of the textfile collector.", "FILE"))
    var prometheus: String?
    @Flag(help: "Print JSON, as docs/cli.md describes it.") var json = false
    @OptionGroup var keystores: KeystoreOptions
    @OptionGroup var times: TimeOptions
    @OptionGroup var messages: MessageOptions

    func run() throws {
        guard !listsCodes else {
            let lines = StatusFinding.Code.allCases.map { "\($0.rawValue)\t\($0.rule.severity)\t\($0.meaning)\n" }
            return try StandardStreams.write(lines.joined())
        }
        var report = StatusReport(time: times.time)
        do {
            report.status = try examine()
            if let prometheus {
                try FileSystem.replace(prometheus, with: Array(report.metrics.utf8), mode: 0o644)
            }
        } catch { report.problem = Failure(error, of: prometheus ?? "status").message }
        try StandardStreams.write(report.json, asJSON: json, text: report.text)
        if report.level != .ok { throw ExitCode(report.level.rawValue) }
    }

    private func examine() throws -> KeystoreStatus {
        let secrets = try SecretOptions.parse([])
        let keysets = try HostKeysets(keystores, at: times.time, secrets)
        guard let settings = keysets.settings else {
            throw Failure(.usage, "there are no settings: `pushcrypt init` makes them, --settings FILE names them")
        }
        let history = HistoryFolder.standard(given: settings.history)
        let storage = FileStorage(histories: history, servedFolder: settings.publishTo) { _, _ in nil }
        let host = try KeystoreHost(storage, name: Writer.ofThisHost(), who: "", clock: times.time)
        let places = KeystoreStatus.Places(
            keystores: settings.keystores, history: history, served: settings.publishTo, expected: settings.expected,
            devices: settings.devices, secrets: settings.secrets.keys.sorted())
        return KeystoreStatus(host, places, isLong: isLong) { keyset in
            if let given = try secrets.given() { return given }
            guard let location = keyset.location, let id = keyset.id else { return nil }
            do { return try settings.secret(for: location, id: id) } catch let error as SettingsError {
                throw KeystoreError(.secretNeeded, Failure(error, of: location.path).message)
            }
        }
    }
}

struct StatusReport {
    /// The raw value is the exit status.
    enum Level: Int32 { case ok, warning, critical, unknown }

    let time: UnixTime
    var status: KeystoreStatus?
    /// What couldn't be done.
    var problem: String?

    var level: Level {
        switch status?.severity {
        case .critical?: .critical
        case _ where problem != nil: .unknown
        case .warning?: .warning
        case .notice?, nil: .ok
        }
    }

    private func count(_ severity: StatusFinding.Severity) -> Int {
        status?.findings.count { $0.severity == severity } ?? 0
    }

    private var summary: String {
        let findings = (status?.findings ?? []).filter { $0.severity != .notice }
        let texts = level == .unknown ? [problem ?? ""] : findings.map { "\($0.place): \($0.code.meaning)" }
        guard let first = texts.first else {
            let run = status?.lastRun.map { ", rotate ran \(TimeDistance.text($0, from: time))" } ?? ""
            return NumberText.counted(status?.keysets.count ?? 0, "keyset") + run
        }
        return first + (texts.count > 1 ? " (and \(texts.count - 1) more)" : "")
    }

    /// The first line begins with the status, and a bar separates what a monitor may plot.
    func text(_ terminal: TerminalText) -> String {
        let line = TerminalText.harmless(summary.utf8).replacing("|", with: "/")
        let numbers = "critical=\(count(.critical)) warnings=\(count(.warning)) notices=\(count(.notice))"
        let name = terminal.styled("PUSHCRYPT \("\(level)".uppercased())", level.style)
        let width = StandardStreams.wrappingColumns
        let findings = (status?.findings ?? []).flatMap { finding in
            terminal.wrapped(
                "", "\(finding.severity) \(finding.code) \(finding.place): \(finding.what)", indent: 0, width: width)
                + terminal.wrapped("    ", finding.advice, indent: 4, width: width)
        }
        let problem = status == nil ? nil : problem.map { TerminalText.harmless($0.utf8) }
        let first = "\(name): \(line) | keysets=\(status?.keysets.count ?? 0) \(numbers)"
        return ([first] + findings + [problem].compactMap(\.self)).map { $0 + "\n" }.joined()
    }

    /// ```
    /// {"status", "at", "summary", "lastRun", "findings": [{"code", "severity", "keysets": [TEXT], "what", "advice"}],
    ///  "keysets": [{"keyset", "id", "kind", "line", "primary", "pending": [KID], "retiring": [KID], "setsEnd": {EPOCH: TIME},
    ///  "lastRun", "lastStatus"}]}
    /// ```
    var json: JSONObject {
        let findings = (status?.findings ?? []).map { finding -> JSONObject in
            [
                "code": finding.code.rawValue, "severity": "\(finding.severity)",
                "keysets": finding.keysets.map(\.place), "what": finding.what, "advice": finding.advice,
            ]
        }
        let keysets = (status?.keysets ?? []).map { keyset -> JSONObject in
            [
                "keyset": keyset.reference.place, "id": keyset.reference.id?.description, "kind": keyset.kind.rawValue,
                "line": keyset.head.number, "primary": keyset.primary?.description,
                "pending": keyset.pending.map(\.kid.description), "retiring": keyset.retiring.map(\.kid.description),
                "setsEnd": Dictionary(uniqueKeysWithValues: keyset.setsEnd.map { ("\($0)", "\($1)") }),
                "lastRun": keyset.lastRun?.description, "lastStatus": keyset.lastStatus,
            ]
        }
        return [
            "status": "\(level)", "at": "\(time)", "summary": summary, "lastRun": status?.lastRun?.description,
            "findings": findings, "keysets": keysets,
        ]
    }
}

extension StatusReport.Level {
    fileprivate var style: TerminalText.Style {
        [.ok: .good, .warning: .warning, .critical: .bad][self] ?? .placeholder
    }
}

/// Metrics in the text format of Prometheus, version 0.0.4.
extension StatusReport {
    /// ```
    /// # HELP NAME TEXT
    /// # TYPE NAME gauge
    /// NAME{LABEL="VALUE",...} NUMBER
    /// ```
    var metrics: String {
        let (findings, keysets) = (status?.findings ?? [], status?.keysets ?? [])
        typealias Sample = (labels: [(String, String)], value: Int64?)
        func family(_ name: String, _ help: String, _ samples: [Sample]) -> String {
            let lines = samples.compactMap { labels, value in
                value.map { value in
                    // The format escapes only these three characters.
                    let list = labels.map { name, text in
                        "\(name)=\"\(text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n"))\""
                    }
                    return "pushcrypt_\(name)\(list.isEmpty ? "" : "{\(list.joined(separator: ","))}") \(value)\n"
                }
            }
            guard !lines.isEmpty else { return "" }
            return "# HELP pushcrypt_\(name) \(help)\n# TYPE pushcrypt_\(name) gauge\n" + lines.joined()
        }
        func family(_ name: String, _ help: String, _ value: (KeystoreStatus.Keyset) -> Int64?) -> String {
            family(name, help, keysets.map { ([("keyset", $0.reference.place)], value($0)) })
        }
        let codes = StatusFinding.Code.allCases.map { code -> Sample in
            let labels = [("code", code.rawValue), ("severity", "\(code.rule.severity)")]
            return (labels, Int64(findings.count { $0.code == code }))
        }
        let ends = keysets.flatMap { keyset in
            keyset.setsEnd.sorted { $0.key < $1.key }.map { epoch, end -> Sample in
                ([("keyset", keyset.reference.place), ("epoch", "\(epoch)")], end.seconds)
            }
        }
        return [
            family("status", "0 ok, 1 warning, 2 critical, 3 unknown.", [([], Int64(level.rawValue))]),
            family("status_timestamp_seconds", "When the status was determined.", [([], time.seconds)]),
            family("last_run_timestamp_seconds", "The last run of rotate.", [([], status?.lastRun?.seconds)]),
            family("findings", "Findings by their code.", codes),
            family("keyset_last_run_timestamp_seconds", "The last run of rotate.") { $0.lastRun?.seconds },
            family("keyset_last_run_status", "The exit status of the last run.") { $0.lastStatus.map(Int64.init) },
            family("keyset_line", "The number of the last line of the log.") { $0.head.number },
            family("keyset_pending_keys", "Keys that will seal.") { Int64($0.pending.count) },
            family("keyset_retiring_keys", "Keys that only open.") { Int64($0.retiring.count) },
            family("keyset_set_valid_until_timestamp_seconds", "The end of the signed set.", ends),
        ].joined()
    }
}
