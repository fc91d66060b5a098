import PushCryptCore
import PushCryptKeystore

/// A rotation plan as `rotate` prints it.
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
    @OrNull var next: Step?

    struct Step: Encodable {
        let step: String
        @OrNull var kid: String?
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
            activatesAt = step.action.activatesAt?.description
        }

        fileprivate var text: String {
            switch step {
            case "add":
                (kid.map { "add key \($0)" } ?? "add a key")
                    + (activatesAt.map { ", which seals from \($0)" } ?? ", which waits to be promoted")
            default: "\(step) key \(kid ?? "")"
            }
        }
    }

    init(_ keyset: String, _ plan: RotationPlan, done: [(step: RotationPlan.Step, kid: KeyID)] = []) {
        self.keyset = keyset
        at = "\(plan.at)"
        self.done = done.map { Step($0.step, kid: $0.kid) }
        due = plan.due.map { Step($0) }
        blocked = plan.blocked.map { Step($0) }
        next = plan.next.map { Step($0) }
    }

    func print(asJSON: Bool, _ terminal: TerminalText) throws {
        if asJSON { return try StandardStreams.writeJSONLine(self) }
        var lines = [terminal.styled("\(TerminalText.harmless(keyset.utf8)) at \(at)", .heading)]
        lines += done.flatMap { Self.lines($0, "done", .good, terminal) }
        lines += due.flatMap { Self.lines($0, "due", .placeholder, terminal) }
        lines += blocked.flatMap { Self.lines($0, "blocked", .bad, terminal) }
        if done.isEmpty, due.isEmpty, blocked.isEmpty { lines.append("  nothing is due") }
        if let next { lines.append("  next     \(next.at): \(next.text)") }
        try StandardStreams.write(lines.joined(separator: "\n") + "\n")
    }

    private static func lines(
        _ step: Step, _ heading: String, _ style: TerminalText.Style, _ terminal: TerminalText
    ) -> [String] {
        let reason = step.because.map { "because \($0)" } ?? "safe: \(step.why)"
        return [
            "  \(terminal.label(heading, style, width: 9))\(step.text)",
            "           \(TerminalText.harmless(reason.utf8))",
        ]
    }
}
