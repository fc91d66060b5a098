import PushCryptCore
import PushCryptKeystore

/// A plan as `rotate` tells it.
///
/// ```
/// {"keyset", "at", "done": [STEP], "due": [STEP], "blocked": [STEP with "because"], "next": STEP | null}
/// STEP = {"step": "add" | "promote" | "destroy", "kid": KID | null, "at": TIME, "why", ["activatesAt"]}
/// ```
struct RotationReport: Encodable {
    let keyset: String
    let at: String
    let done: [Step]
    let due: [Step]
    let blocked: [Step]
    let next: Step?

    struct Step: Encodable {
        let step: String
        let kid: String?
        let at: String
        let activatesAt: String?
        let why: String
        let because: String?

        init(_ step: RotationPlan.Step, kid: KeyID? = nil) {
            self.step = step.action.name
            self.kid = (kid ?? step.action.kid)?.description
            at = "\(step.dueAt)"
            why = step.why
            because = step.blockedBy
            if case .add(let time?) = step.action { activatesAt = "\(time)" } else { activatesAt = nil }
        }

        enum CodingKeys: CodingKey {
            case step, kid, at, activatesAt, why, because
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(step, forKey: .step)
            try container.encode(kid, forKey: .kid)
            try container.encode(at, forKey: .at)
            try container.encodeIfPresent(activatesAt, forKey: .activatesAt)
            try container.encode(why, forKey: .why)
            try container.encodeIfPresent(because, forKey: .because)
        }
    }

    enum CodingKeys: CodingKey {
        case keyset, at, done, due, blocked, next
    }

    init(_ keyset: String, _ plan: RotationPlan, done: [(step: RotationPlan.Step, kid: KeyID)] = []) {
        self.keyset = keyset
        at = "\(plan.at)"
        self.done = done.map { Step($0.step, kid: $0.kid) }
        due = plan.due.map { Step($0) }
        blocked = plan.blocked.map { Step($0) }
        next = plan.next.map { Step($0) }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(keyset, forKey: .keyset)
        try container.encode(at, forKey: .at)
        try container.encode(done, forKey: .done)
        try container.encode(due, forKey: .due)
        try container.encode(blocked, forKey: .blocked)
        try container.encode(next, forKey: .next)
    }

    func print(asJSON: Bool, _ terminal: TerminalText) throws {
        if asJSON { return try StandardStreams.writeJSONLine(self) }
        var lines = [terminal.styled("\(TerminalText.harmless(keyset.utf8)) at \(at)", .heading)]
        lines += done.flatMap { told($0, "done", .good, terminal) }
        lines += due.flatMap { told($0, "due", .placeholder, terminal) }
        lines += blocked.flatMap { told($0, "blocked", .bad, terminal) }
        if done.isEmpty, due.isEmpty, blocked.isEmpty { lines.append("  nothing is due") }
        if let next { lines.append("  next     \(next.at): \(next.words)") }
        try StandardStreams.write(lines.joined(separator: "\n") + "\n")
    }

    private func told(
        _ step: Step, _ heading: String, _ style: TerminalText.Style, _ terminal: TerminalText
    ) -> [String] {
        let label = terminal.styled(heading, style) + String(repeating: " ", count: 9 - heading.count)
        let reason = step.because.map { "because \($0)" } ?? "safe: \(step.why)"
        return ["  \(label)\(step.words)", "           \(TerminalText.harmless(reason.utf8))"]
    }
}

extension RotationReport.Step {
    fileprivate var words: String {
        switch step {
        case "add":
            (kid.map { "add key \($0)" } ?? "add a key")
                + (activatesAt.map { ", which seals from \($0)" } ?? ", which waits to be promoted")
        default: "\(step) key \(kid ?? "")"
        }
    }
}
