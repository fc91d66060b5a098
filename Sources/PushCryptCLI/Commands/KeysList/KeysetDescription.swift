import PushCryptCore
import PushCryptFiles
import PushCryptKeysets

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
                .init(text: status.stateText) { terminal.styled($0, status.isLost ? .bad : .state(status.state)) },
                .init(text: status.key.algorithm.rawValue), yes(status.key.demandsPSK),
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
        lines += view.sets.flatMap { labelled("Set", $0.style, $0.text) }
        guard let plan = view.plan else { return lines }
        if let exemption = plan.exemption { lines += labelled("Note", .heading, exemption) }
        lines += plan.due.flatMap { step in
            labelled("Due", .due, "\(step.action.text), since \(step.dueAt) (\(distance(step)))")
        }
        if !plan.due.isEmpty { lines += labelled("Run", .due, "pushcrypt rotate \(ShellArgument.quoted(view.path))") }
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

/// A key as `keys list --json` shows it.
///
/// ```
/// {"kid", "kind", "suite", "state", "psk", "createdAt", "activatesAt", "retiresAt", "expiresAt", "revokedAt",
///  "destroyedAt", "ageInSeconds", "sealsNow", "opensNow", "nextChange": {"state", "at"} | null}
/// ```
/// Times are RFC 3339. A member that isn't set is null. The state of a key whose material no file has is `lost`.
extension KeyStatus {
    func json(_ kind: KeyKind) -> JSONObject {
        let moments = KeysetChanges.Moment.allCases.map { ($0.rawValue, lifecycle[keyPath: $0.path]?.description) }
        return JSONObject(moments).adding([
            "kid": "\(kid)", "kind": kind.rawValue, "suite": key.algorithm.rawValue, "state": stateText,
            "psk": key.demandsPSK, "ageInSeconds": ageInSeconds, "sealsNow": seals, "opensNow": opens,
            "nextChange": nextChange.map { ["state": "\($0.state)", "at": "\($0.at)"] },
        ])
    }
}

extension KeysetView {
    var rows: [JSONObject] { listed.map { $0.json(kind) } }
}
