import ArgumentParser
import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptKeystore

struct KeysList: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Show the keys of a keyset: their states, the next change and a timeline.",
        discussion: """
            For a keystore, a folder of keysets, it shows one line for each keyset, and --picture draws all of them. It needs no secret, not even for \
            encrypted keys. With --pins it verifies a signed sender set and shows it. The timeline is as wide as COLUMNS \
            or the terminal.

            Changes refuse a keyset with a broken audit log: stderr has the fault and the command to run next. No command uses \
            an earlier copy of a keyset. The list of such a keyset exits 0. That of a keystore exits 65 for a broken log and \
            75 for an earlier copy, after it has shown all keysets; the first fault decides.

            Example: pushcrypt keys list Keys/backend
            """)

    @Argument(
        help: .init("A keyset, a file or a keystore. (default: PUSHCRYPT_KEYS, else Keys)", "Keys/NAME|FILE|Keys"))
    var givenPath: String?
    @Option(help: .init("The app's pins; needed if the file is a signed sender set.", "FILE")) var pins: String?
    @Flag(help: "Print JSON: an array of objects.") var json = false
    @OptionGroup var picture: PictureOptions
    @OptionGroup var timeOptions: TimeOptions
    @OptionGroup var messages: MessageOptions

    private var path: String { givenPath ?? Defaults.keystore }

    func run() throws {
        let time = timeOptions.time
        if pins == nil, FileSystem.isFolder(path), try !KeysetFolder(path).exists {
            let list = try KeystoreList(path, at: time)
            if let file = picture.file { try list.picture.write(to: file) }
            return try list.print(asJSON: json, width: StandardStreams.columns)
        }
        let view = try KeysetView(path, pins: pins, at: time)
        if let file = picture.file { try TimelinePicture(view).picture.write(to: file) }
        if let logProblem = view.logProblem { StandardStreams.writeNote("\(view.path): \(logProblem)") }
        let rows = view.rows.map {
            $0.adding(ifKnown: ["logProblem": view.logProblem, "clockProblem": view.clockProblem])
        }
        try StandardStreams.write(rows, asJSON: json) { terminal in
            KeysetDescription(view: view, terminal: terminal, width: StandardStreams.columns).text
        }
    }
}

/// The output of `keys list` for one keyset: a table, the steps of the policy, and the timeline.
struct KeysetDescription {
    let view: KeysetView
    let terminal: TerminalText
    let width: Int

    var text: String {
        [table, plan, timeline].filter { !$0.isEmpty }
            .map { $0.joined(separator: "\n") + "\n" }.joined(separator: "\n")
    }

    private var timeline: [String] {
        guard width >= TimelineText.smallestWidth else {
            return TerminalText.wrap("The timeline needs \(TimelineText.smallestWidth) columns.", width: width)
        }
        return TimelineText(view, terminal, width: width).lines
    }

    private var table: [String] {
        let columns: [TextTable.Column] = [
            .init("KID"), .init("STATE"), .init("SUITE", importance: 1), .init("PSK", importance: 0),
            .init("AGE", importance: 4), .init("SEALS", importance: 2), .init("OPENS", importance: 3),
            .init("NEXT CHANGE"),
        ]
        let rows = view.listed.map { status -> [TextTable.Cell] in
            [
                .init(text: "\(status.kid)"),
                .init(text: "\(status.state)") { terminal.styled($0, .state(status.state)) },
                .init(text: status.traits?.suite.rawValue ?? "-"), yes(status.traits?.demandsPSK ?? false),
                .init(text: status.ageInSeconds.map(TimeDistance.rough) ?? "-"), yes(status.seals),
                yes(status.opens),
                .init(text: status.nextText ?? "-"),
            ]
        }
        return TextTable(columns, rows).lines(terminal, width: width)
    }

    private func yes(_ condition: Bool) -> TextTable.Cell { condition ? "yes" : "-" }

    private var plan: [String] {
        var lines =
            view.clock < view.now
            ? labelled("Note", .due, "\(view.clock) is before the last change; the states at that change are shown")
            : []
        if let problem = view.problem ?? view.logProblem { lines += labelled("Problem", .bad, problem) }
        if let signedSet = view.signedSet { lines += labelled("Set", signedSet.style, signedSet.text) }
        guard let plan = view.plan else { return lines }
        if let exemption = plan.exemption { lines += labelled("Note", .heading, exemption) }
        lines += plan.due.flatMap { step in
            labelled("Due", .due, "\(step.action.text), since \(step.dueAt) (\(distance(step)))")
        }
        if !plan.due.isEmpty { lines += labelled("Run", .due, "pushcrypt rotate \(view.path)") }
        lines += plan.blocked.flatMap { step in
            let reason = step.blockedBy ?? ""
            return labelled("Blocked", .bad, "\(step.action.text), since \(step.dueAt) (\(distance(step))): \(reason)")
        }
        guard let next = plan.next else { return lines }
        let objection = next.blockedBy.map { ", but blocked: \($0)" } ?? ""
        return lines + labelled("Next", .heading, "\(next.dueAt) \(next.action.text) (\(distance(next)))\(objection)")
    }

    private func distance(_ step: RotationPlan.Step) -> String { TimeDistance.text(step.dueAt, from: view.now) }

    private func labelled(_ label: String, _ style: TerminalText.Style, _ text: String) -> [String] {
        terminal.wrapped(terminal.styled(label + ":", style) + " ", text, indent: label.count + 2, width: width)
    }
}

extension RotationPlan.Action {
    var text: String {
        switch self {
        case .add: "add a key"
        case .promote(let kid): "promote key \(kid)"
        case .destroy(let kid): "destroy key \(kid)"
        case .renew: "issue the signed set again"
        }
    }
}

extension KeysetView {
    var rows: [JSONObject] { listed.map { $0.json(metadata.kind).adding(ifKnown: ["problem": problem]) } }
}

/// One key as `keys list --json` shows it.
///
/// ```
/// {"kid", "kind", "suite", "state", "psk", "createdAt", "activatesAt", "retiresAt", "expiresAt", "revokedAt",
///  "destroyedAt", "ageInSeconds", "sealsNow", "opensNow", "nextChange": {"state", "at"} | null, ["problem": TEXT],
///  ["logProblem": TEXT], ["clockProblem": TEXT]}
/// ```
/// Times are RFC 3339. A member that is unknown or not set is null.
extension KeyStatus {
    func json(_ kind: KeyKind) -> JSONObject {
        [
            "kid": "\(kid)", "kind": kind.rawValue, "suite": traits?.suite.rawValue ?? "", "state": "\(state)",
            "psk": traits?.demandsPSK ?? false, "createdAt": lifecycle.createdAt?.description,
            "activatesAt": lifecycle.activatesAt?.description, "retiresAt": lifecycle.retiresAt?.description,
            "expiresAt": lifecycle.expiresAt?.description, "revokedAt": lifecycle.revokedAt?.description,
            "destroyedAt": lifecycle.destroyedAt?.description, "ageInSeconds": ageInSeconds, "sealsNow": seals,
            "opensNow": opens, "nextChange": nextChange.map { ["state": "\($0.state)", "at": "\($0.at)"] },
        ]
    }
}

/// The output of `keys list` for a keystore: a line for each keyset, including those that can't be read.
///
/// ```
/// {"keyset", "kind", "keys": n, "primary": KID | null, "protection", "seq": n, "head": HASH, "writer": TEXT | null,
///  "due": [STEP], "blocked": [STEP], "next": STEP | null, "signedSet": SET | null, "problem": null, "logProblem": TEXT | null,
///  "clockProblem": TEXT | null}
/// {"keyset", "problem": TEXT}
/// ```
/// `RotationReport` defines STEP, `PublicationStatus` defines SET.
struct KeystoreList {
    private let path: String
    private let time: UnixTime
    private let keysets: [(path: String, content: Result<Content, Problem>)]

    private struct Problem: Error {
        let failure: Failure
        /// What the table shows in place of a step.
        let label: String
        /// What the picture shows.
        let text: String

        init(_ error: any Error) {
            failure = Failure(error)
            let isEarlierCopy = (error as? KeystoreError)?.code == .olderThanLog
            label = isEarlierCopy ? "an earlier copy" : "can't be read"
            text = isEarlierCopy ? TimelinePicture.earlierCopy : "\(label): \(failure.message)"
        }
    }

    private var problems: [(path: String, problem: Problem)] {
        keysets.compactMap { keyset in
            if case .failure(let problem) = keyset.content { (keyset.path, problem) } else { nil }
        }
    }

    private struct Content {
        let view: KeysetView
        let protection: String
    }

    /// What stderr says of the keysets.
    private var failures: [Failure] {
        keysets.compactMap { path, content in
            switch content {
            case .success(let content): content.view.logProblem.map { Failure(.dataError, "\(path): \($0)") }
            case .failure(let problem):
                problem.failure.message.contains(path)
                    ? problem.failure : Failure(problem.failure.status, "\(path): \(problem.failure.message)")
            }
        }
    }

    init(_ path: String, at time: UnixTime) throws {
        let paths = try Keystore(path).everyKeyset()
        guard !paths.isEmpty else {
            throw Failure(.noInput, "\(path) is a folder without a keyset.json and contains no keyset")
        }
        (self.path, self.time) = (path, time)
        keysets = paths.map { path in (path, Self.content(path, at: time)) }
    }

    /// The timelines of all keysets.
    var picture: Picture {
        TimelinePicture(
            path, keysets.compactMap { try? $0.content.get().view },
            problems: problems.map { ($0.path, $0.problem.text) },
            at: time
        ).picture
    }

    private static func content(_ path: String, at time: UnixTime) -> Result<Content, Problem> {
        do {
            try KeySource.requireKeyset(path)
            let (file, metadata) = try KeySource.naming(path) {
                let file = try KeysetFolder(path).file()
                return (file, try file.metadata(.none))
            }
            let logProblem = try KeySource.logProblem(of: path, metadata)
            let view = KeysetView(path, metadata, isFile: false, logProblem: logProblem, at: time)
            let isDemo = DemoKeys.covers(file.keyIDs)
            let protection = isDemo ? "published demo" : file.protection.name
            return .success(Content(view: view, protection: protection))
        } catch {
            return .failure(Problem(error))
        }
    }

    /// - Throws: `ExitCode` of the first problem if a keyset couldn't be read or has a broken log.
    func print(asJSON: Bool, width: Int) throws {
        try StandardStreams.write(keysets.map(Self.json), asJSON: asJSON) { terminal in
            table(terminal).lines(terminal, width: width).map { $0 + "\n" }.joined()
        }
        for (path, content) in keysets {
            guard let problem = try? content.get().view.clockProblem else { continue }
            StandardStreams.writeNote("\(path): \(problem)")
        }
        for failure in failures { StandardStreams.writeError(failure.message) }
        if let failure = failures.first { throw ExitCode(failure.status.rawValue) }
    }

    private func table(_ terminal: TerminalText) -> TextTable {
        let columns: [TextTable.Column] = [
            .init("KEYSET"), .init("KIND", importance: 1), .init("KEYS", importance: 0), .init("PRIMARY"),
            .init("PROTECTION", importance: 2), .init("NEXT STEP"),
        ]
        return TextTable(
            columns,
            keysets.map { keyset in
                let path = TerminalText.harmless(keyset.path.utf8)
                let content: Content
                switch keyset.content {
                case .success(let read): content = read
                case .failure(let problem):
                    let label = TextTable.Cell(text: problem.label) { terminal.styled($0, .bad) }
                    return [.init(text: path), "-", "-", "-", "-", label]
                }
                let view = content.view
                return [
                    .init(text: path), .init(text: view.metadata.kind.rawValue), .init(text: "\(view.remaining.count)"),
                    view.primary.map { status in
                        .init(text: "\(status.kid)") { terminal.styled($0, .state(status.state)) }
                    }
                        ?? "none",
                    .init(text: content.protection),
                    view.logProblem == nil
                        ? step(of: view, terminal)
                        : .init(text: "the log is broken") { terminal.styled($0, .bad) },
                ]
            })
    }

    private func step(of view: KeysetView, _ terminal: TerminalText) -> TextTable.Cell {
        guard let plan = view.plan else { return "-" }
        if let step = plan.blocked.first {
            return .init(text: "blocked: \(step.action.text)") { terminal.styled($0, .bad) }
        }
        if let step = plan.due.first { return .init(text: "due: \(step.action.text)") { terminal.styled($0, .due) } }
        guard view.clockProblem == nil else {
            return .init(text: "blocked: every step") { terminal.styled($0, .bad) }
        }
        guard let step = plan.next else { return "-" }
        let objection = step.blockedBy == nil ? "" : ", blocked"
        return .init(text: "\(step.action.text) \(TimeDistance.text(step.dueAt, from: view.now))\(objection)")
    }

    private static func json(_ path: String, _ content: Result<Content, Problem>) -> JSONObject {
        switch content {
        case .failure(let problem): return ["keyset": path, "problem": problem.failure.message]
        case .success(let content):
            let (view, plan) = (content.view, content.view.plan)
            return [
                "keyset": path, "kind": view.metadata.kind.rawValue, "keys": view.remaining.count,
                "primary": view.primary?.kid.description, "protection": content.protection,
                "seq": view.metadata.sequence, "head": AuditChain.text(view.metadata.audit.hash),
                "writer": view.metadata.writer,
                "due": (plan?.due ?? []).map { $0.json() }, "blocked": (plan?.blocked ?? []).map { $0.json() },
                "next": plan?.next?.json(), "signedSet": view.signedSet?.json, "problem": nil,
                "logProblem": view.logProblem, "clockProblem": view.clockProblem,
            ]
        }
    }
}
