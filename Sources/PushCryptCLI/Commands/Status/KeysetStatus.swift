import PushCryptCore
import PushCryptKeysets
import PushCryptKeystore

/// The state of one keyset for `status`.
struct KeysetStatus {
    let path: String
    let level: StatusReport.Level
    /// nil if the keyset's file can't be read.
    let metadata: KeysetMetadata?
    let plan: RotationPlan?
    let protection: Protection?
    let secret: KeysetExamination.SecretCondition
    let log: AuditLog.Condition?
    let signedSet: PublicationStatus?
    /// The keys that devices report, if reports are given and name keys of this keyset, or the policy requires coverage.
    let coverage: CoverageTable?
    let problems: [Finding]
    /// Why `rotate` refuses the keyset; nil if it doesn't.
    let refusal: String?
    /// The refusal, if it is because of another host. Other refusals are problems.
    private let otherHost: String?
    let time: UnixTime

    /// - Parameters:
    ///   - keyset: nil if the keyset's folder can't be read.
    ///   - reason: why it can't be read.
    init(
        _ path: String, _ keyset: KeysetExamination?, unreadable reason: String?, _ problems: [Finding],
        _ reports: DeviceReports?, at time: UnixTime
    ) {
        self.path = path
        self.problems = problems
        self.time = time
        metadata = keyset?.metadata
        protection = try? keyset?.snapshot.keyset.get().protection
        let plan = keyset.flatMap { keyset in keyset.metadata.map(keyset.plan) }
        self.plan = plan
        let refusal = keyset?.rotationRefusal(plan)
        self.refusal = refusal?.reason ?? reason
        otherHost = refusal?.host == nil ? nil : refusal?.reason
        secret = keyset?.secret ?? .none
        log = keyset?.logCondition
        signedSet = metadata.flatMap { PublicationStatus($0, at: $0.timeline.effective(time)) }
        coverage = metadata.flatMap { Self.coverage($0, reports, at: time) }
        level = problems.map(Self.level).max() ?? .ok
    }

    static func level(_ problem: Finding) -> StatusReport.Level { problem.severity == .error ? .critical : .warning }

    private static func coverage(
        _ metadata: KeysetMetadata, _ reports: DeviceReports?, at time: UnixTime
    ) -> CoverageTable? {
        guard let reports, metadata.kind != .publisher else { return nil }
        let table = CoverageTable(reports, metadata, at: time)
        return table.summary.newest.isEmpty && table.required == nil ? nil : table
    }

    var due: [RotationPlan.Step] { plan?.due ?? [] }
    var blocked: [RotationPlan.Step] { plan?.blocked ?? [] }
    var next: RotationPlan.Step? { plan?.next }
    /// The steps that are blocked; 1 if `rotate` refuses the keyset and no step is due.
    var blockedCount: Int { max(blocked.count, refusal == nil ? 0 : 1) }

    /// How long the oldest step that is due or blocked has been due; 0 if there is none.
    var overdueInSeconds: Int64 {
        let oldest = (due + blocked).map(\.dueAt).min()
        return oldest.map { max(time.seconds - $0.seconds, 0) } ?? 0
    }

    /// Why another host is to rotate the keyset; nil if none is, or a problem says so.
    var blockedText: String? {
        otherHost.flatMap { reason in
            problems.contains { $0.message.contains(reason) } ? nil : "\(path): \(reason)"
        }
    }

    /// Why the clock seems wrong; nil if it doesn't, or if the keyset can't be read.
    var clockObjection: String? { metadata.flatMap { $0.timeline.clockObjection(to: time, $0.policy) } }

    static func table(_ keysets: [KeysetStatus], _ terminal: TerminalText) -> TextTable {
        let columns: [TextTable.Column] = [
            .init("KEYSET"), .init("STATUS"), .init("SECRET", importance: 1), .init("LOG", importance: 0),
            .init("NEXT STEP"),
        ]
        return TextTable(
            columns,
            keysets.map { keyset in
                [
                    .init(text: TerminalText.harmless(keyset.path.utf8)),
                    .init(text: keyset.level.name) { terminal.styled($0, keyset.level.style) },
                    .init(text: keyset.secret == .none ? "-" : keyset.secret.rawValue),
                    .init(text: keyset.logText ?? "-"), .init(text: keyset.stepText),
                ]
            })
    }

    private var stepText: String {
        guard plan != nil else { return "can't be read" }
        if let step = blocked.first { return "blocked: \(step.action.text)" }
        if refusal != nil { return "blocked: every step" }
        if let step = due.first { return "due: \(step.action.text), \(TimeDistance.text(step.dueAt, from: time))" }
        return next.map { "\($0.action.text) \(TimeDistance.text($0.dueAt, from: time))" } ?? "-"
    }

    var logText: String? {
        switch log {
        case .whole?: "whole"
        case .interrupted?: "interrupted"
        case .newer?: "newer"
        case .broken?: "broken"
        case nil: nil
        }
    }
}

/// ```
/// {"keyset", "status", "kind", "seq", "primary", "protection", "due": [STEP], "blocked": [STEP], "next": STEP,
///  "refusal", "overdueInSeconds", "lastChangeAt", "clockProblem", "secret", "log", "signedSet": SET,
///  "coverage": [{"kid", "state", "holding", "seen", ["isCovered"]}]}
/// ```
/// A member that is unknown is null. `RotationReport` defines STEP, `PublicationStatus` defines SET.
extension KeysetStatus {
    var json: JSONObject {
        [
            "keyset": path, "status": level.name, "kind": metadata?.kind.rawValue, "seq": metadata?.sequence,
            "primary": metadata?.timeline.primary(at: time)?.kid.description, "protection": protection?.name,
            "due": due.map { $0.json() }, "blocked": blocked.map { $0.json() }, "next": next?.json(),
            "refusal": refusal, "overdueInSeconds": overdueInSeconds,
            "lastChangeAt": metadata?.timeline.updatedAt?.description,
            "clockProblem": clockObjection, "secret": metadata.map { _ in secret.rawValue }, "log": logText,
            "signedSet": signedSet?.json,
            "coverage": coverage.map { table in
                table.rows.map { row -> JSONObject in
                    let json: JSONObject = [
                        "kid": "\(row.kid)", "state": "\(row.state)", "holding": row.coverage.holding,
                        "seen": row.coverage.seen,
                    ]
                    return json.adding(ifKnown: ["isCovered": table.required.map(row.coverage.meets)])
                }
            },
        ]
    }
}
