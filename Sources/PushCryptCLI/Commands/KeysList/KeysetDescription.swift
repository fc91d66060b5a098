import PushCryptCore
import PushCryptKeysets
import PushCryptKeystore

/// What `keys list` tells of one keyset: a table, what the policy asks for, and the timeline.
struct KeysetDescription {
    let view: KeysetView
    let terminal: TerminalText
    let width: Int

    var text: String {
        [table, plan, TimelineText(view, terminal, width: width).lines].filter { !$0.isEmpty }
            .map { $0.joined(separator: "\n") + "\n" }.joined(separator: "\n")
    }

    private var table: [String] {
        let columns: [TextTable.Column] = [
            .init("KID"), .init("STATE"), .init("SUITE", importance: 1), .init("PSK", importance: 0),
            .init("AGE", importance: 4), .init("SEALS", importance: 2), .init("OPENS", importance: 3),
            .init("NEXT CHANGE"),
        ]
        let rows = view.listed.map { status -> [TextTable.Cell] in
            [
                .init(text: "\(status.kid)"), .init(text: "\(status.state)") { terminal.styled($0, status.state) },
                .init(text: status.traits?.suite.rawValue ?? "-"), yes(status.traits?.demandsPSK ?? false),
                .init(text: status.ageInSeconds.map(TimeDistance.rough) ?? "-"), yes(status.seals), yes(status.opens),
                .init(text: status.nextWords ?? "-"),
            ]
        }
        return TextTable(columns, rows).lines(terminal, width: width)
    }

    private func yes(_ condition: Bool) -> TextTable.Cell { condition ? "yes" : "-" }

    private var plan: [String] {
        var lines = view.clock < view.now ? labelled("Note", .due, view.clockNote) : []
        guard let plan = view.plan else { return lines }
        lines += plan.due.flatMap { step in
            labelled("Due", .due, "\(step.action.words), since \(step.dueAt) (\(distance(step)))")
        }
        if !plan.due.isEmpty { lines += labelled("Run", .due, "pushcrypt rotate \(view.path)") }
        lines += plan.blocked.flatMap { step in
            let reason = step.blockedBy ?? ""
            return labelled("Blocked", .bad, "\(step.action.words), since \(step.dueAt) (\(distance(step))): \(reason)")
        }
        guard let next = plan.next else { return lines }
        let objection = next.blockedBy.map { ", but blocked: \($0)" } ?? ""
        return lines + labelled("Next", .heading, "\(next.dueAt) \(next.action.words) (\(distance(next)))\(objection)")
    }

    private func distance(_ step: RotationPlan.Step) -> String { TimeDistance.words(step.dueAt, from: view.now) }

    private func labelled(_ label: String, _ style: TerminalText.Style, _ words: String) -> [String] {
        let indent = label.count + 2
        let rows = TerminalText.wrap(TerminalText.harmless(words.utf8), width: width - indent)
        return rows.enumerated().map { index, row in
            (index == 0 ? terminal.styled(label + ":", style) + " " : String(repeating: " ", count: indent)) + row
        }
    }
}

extension RotationPlan.Action {
    var words: String {
        switch self {
        case .add: "add a key"
        case .promote(let kid): "promote key \(kid)"
        case .destroy(let kid): "destroy key \(kid)"
        }
    }
}

/// One key as `keys list --json` shows it.
///
/// ```
/// {"kid", "kind", "suite", "state", "psk", "createdAt", "activatesAt", "retiresAt", "expiresAt", "revokedAt",
///  "destroyedAt", "ageInSeconds", "sealsNow", "opensNow", "nextChange": {"state", "at"} | null}
/// ```
/// Times are RFC 3339. What isn't known or set is null, not absent.
struct KeyRow: Encodable {
    let status: KeyStatus
    let kind: String

    private struct Change: Encodable {
        let state: String
        let at: String
    }

    private enum CodingKeys: CodingKey {
        case kid, kind, suite, state, psk, createdAt, activatesAt, retiresAt, expiresAt, revokedAt, destroyedAt
        case ageInSeconds, sealsNow, opensNow, nextChange
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode("\(status.kid)", forKey: .kid)
        try container.encode(kind, forKey: .kind)
        try container.encode(status.traits?.suite.rawValue ?? "", forKey: .suite)
        try container.encode("\(status.state)", forKey: .state)
        try container.encode(status.traits?.demandsPSK ?? false, forKey: .psk)
        let lifecycle = status.lifecycle
        try container.encode(lifecycle.createdAt?.description, forKey: .createdAt)
        try container.encode(lifecycle.activatesAt?.description, forKey: .activatesAt)
        try container.encode(lifecycle.retiresAt?.description, forKey: .retiresAt)
        try container.encode(lifecycle.expiresAt?.description, forKey: .expiresAt)
        try container.encode(lifecycle.revokedAt?.description, forKey: .revokedAt)
        try container.encode(lifecycle.destroyedAt?.description, forKey: .destroyedAt)
        try container.encode(status.ageInSeconds, forKey: .ageInSeconds)
        try container.encode(status.seals, forKey: .sealsNow)
        try container.encode(status.opens, forKey: .opensNow)
        let next = status.nextChange.map { Change(state: "\($0.state)", at: "\($0.at)") }
        try container.encode(next, forKey: .nextChange)
    }
}

extension KeysetView {
    var rows: [KeyRow] { listed.map { KeyRow(status: $0, kind: metadata.kind.rawValue) } }
}
