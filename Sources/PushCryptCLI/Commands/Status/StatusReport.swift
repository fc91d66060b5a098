import PushCryptCore
import PushCryptKeysets
import PushCryptKeystore

/// The result of `status`.
struct StatusReport {
    /// The raw value is the exit status.
    enum Level: Int32, Comparable, CaseIterable {
        case ok, warning, critical, unknown

        var name: String { "\(self)" }

        /// A known fault is more severe than one that couldn't be looked for.
        static func < (left: Level, right: Level) -> Bool { left.severity < right.severity }

        private var severity: Int { [Level.ok, .warning, .unknown, .critical].firstIndex(of: self)! }
    }

    let time: UnixTime
    private let ignored: Set<String>
    private(set) var keysets: [KeysetStatus] = []
    /// The warnings and errors that count, the most severe ones first.
    private(set) var problems: [Finding] = []
    private(set) var unknown: [String] = []
    /// A step that has been due for more days is critical.
    private static let toleranceInDays: Int64 = 7

    init(at time: UnixTime, ignoring codes: Set<String>) {
        self.time = time
        ignored = codes
    }

    /// Remembers an error as something that is unknown.
    mutating func attempt(_ body: (inout StatusReport) throws -> Void) {
        do { try body(&self) } catch { unknown.append(Failure(error).message) }
    }

    /// A keyset or a keystore that an argument names, and that isn't there.
    mutating func addMissing(_ path: String, _ error: any Error) {
        let finding = Finding.missing(path, error)
        let counted = ignored.contains(finding.code) ? [] : [finding]
        problems = (problems + counted).sorted()
        keysets.append(KeysetStatus(path, nil, unreadable: "\(error)", counted, nil, at: time))
    }

    mutating func add(_ found: KeystoreExamination, _ reports: DeviceReports?) {
        let demos = Set(found.keysets.filter(\.snapshot.isDemo).map(\.snapshot.path))
        let counted = found.findings.filter { finding in
            finding.severity != .note && !ignored.contains(finding.code) && !demos.contains(finding.keyset)
        }.map { $0.raised(afterDays: Self.toleranceInDays, at: time) }
        problems = (problems + counted).sorted()
        let examined: [(path: String, keyset: KeysetExamination?, reason: String?)] =
            found.keysets.map { ($0.snapshot.path, $0, nil) } + found.unreadable.map { ($0.path, nil, $0.reason) }
        let shown = examined.filter { !demos.contains($0.path) }.sorted { $0.path < $1.path }
        keysets += shown.map { path, keyset, reason in
            KeysetStatus(
                path, keyset, unreadable: reason, counted.filter { $0.keyset == path }, reports, at: time)
        }
    }

    var level: Level {
        let levels = keysets.map(\.level) + problems.map(KeysetStatus.level) + unknown.map { _ in .unknown }
        return levels.max() ?? .ok
    }

    /// ```
    /// {"status", "at", "summary", "keysets": [KEYSET], "problems": [FINDING], "unknown": [TEXT]}
    /// ```
    var json: JSONObject {
        [
            "status": level.name, "at": "\(time)", "summary": summary, "keysets": keysets.map(\.json),
            "problems": problems, "unknown": unknown,
        ]
    }

    /// The first line begins with the status, and a bar separates what a monitor may plot.
    func text(_ terminal: TerminalText, width: Int) -> String {
        let numbers = [
            "keysets=\(keysets.count)", "due=\(keysets.reduce(0) { $0 + $1.due.count })",
            "blocked=\(keysets.reduce(0) { $0 + $1.blockedCount })",
            "overdue=\(keysets.map(\.overdueInSeconds).max() ?? 0)s",
            "warnings=\(problems.count { $0.severity == .warning })",
            "errors=\(problems.count { $0.severity == .error })",
        ]
        let name = terminal.styled("PUSHCRYPT \(level.name.uppercased())", level.style)
        let line = TerminalText.harmless(summary.utf8).replacing("|", with: "/")
        let table = keysets.isEmpty ? [] : KeysetStatus.table(keysets, terminal).lines(terminal, width: width)
        return "\(name): \(line) | \(numbers.joined(separator: " "))\n" + table.map { $0 + "\n" }.joined()
            + unknown.map { "unknown  \(TerminalText.harmless($0.utf8))\n" }.joined()
            + keysets.compactMap(\.blockedText).map { "blocked  \(TerminalText.harmless($0.utf8))\n" }.joined()
            + problems.map { $0.text(terminal) }.joined()
    }

    private func first(_ steps: [(path: String, step: RotationPlan.Step)]) -> (path: String, step: RotationPlan.Step)? {
        steps.min { $0.step.dueAt < $1.step.dueAt }
    }

    private var summary: String {
        let texts = problems.map { "\($0.keyset): \($0.message)" }
        let ordered = level == .unknown ? unknown + texts : texts + unknown
        if let first = ordered.first { return ordered.count > 1 ? "\(first) (and \(ordered.count - 1) more)" : first }
        let count = NumberText.counted(keysets.count, "keyset")
        if let (path, step) = first(keysets.flatMap { keyset in keyset.due.map { (keyset.path, $0) } }) {
            return count + "; due in \(path): \(step.action.text) since \(step.dueAt)"
        }
        let next = first(keysets.compactMap { keyset in keyset.next.map { (keyset.path, $0) } })
        return count + (next.map { "; next in \($0): \($1.action.text) at \($1.dueAt)" } ?? "")
    }
}

extension StatusReport.Level {
    var style: TerminalText.Style {
        switch self {
        case .ok: .good
        case .warning: .warning
        case .critical: .bad
        case .unknown: .placeholder
        }
    }
}
