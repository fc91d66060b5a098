import PushCryptCore
import PushCryptKeysets
import PushCryptKeystore

/// What `keys list` tells of one keyset: a table, what the policy asks for, and the timeline.
struct KeysetOverview {
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
        let rows = view.listed.map { life -> [TextTable.Cell] in
            [
                .init(text: "\(life.kid)"), .init(text: "\(life.state)") { terminal.styled($0, life.state) },
                .init(text: life.traits?.suite.rawValue ?? "-"), yes(life.traits?.demandsPSK ?? false),
                .init(text: life.ageInSeconds.map(TimeDistance.rough) ?? "-"), yes(life.seals), yes(life.opens),
                .init(text: life.nextWords ?? "-"),
            ]
        }
        return TextTable(columns, rows).lines(terminal, width: width)
    }

    private func yes(_ condition: Bool) -> TextTable.Cell { condition ? "yes" : "-" }

    private var plan: [String] {
        var lines = view.clock < view.now ? told("Note", .due, view.clockNote) : []
        guard let plan = view.plan else { return lines }
        lines += plan.due.flatMap { step in
            told("Due", .due, "\(step.action.words), since \(step.dueAt) (\(distance(step)))")
        }
        if !plan.due.isEmpty { lines += told("Run", .due, "pushcrypt rotate \(view.path)") }
        lines += plan.blocked.flatMap { step in
            let reason = step.blockedBy ?? ""
            return told("Blocked", .bad, "\(step.action.words), since \(step.dueAt) (\(distance(step))): \(reason)")
        }
        guard let next = plan.next else { return lines }
        let objection = next.blockedBy.map { ", but blocked: \($0)" } ?? ""
        return lines + told("Next", .heading, "\(next.dueAt) \(next.action.words) (\(distance(next)))\(objection)")
    }

    private func distance(_ step: RotationPlan.Step) -> String { TimeDistance.words(step.dueAt, from: view.now) }

    private func told(_ label: String, _ style: TerminalText.Style, _ words: String) -> [String] {
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
