import PushCryptCore
import PushCryptKeystore

/// A rotation plan as `rotate` prints it.
///
/// ```
/// {"keyset", "at", "done": [STEP], "due": [STEP], "blocked": [STEP with "because"], "next": STEP | null}
/// STEP = {"step": "add" | "promote" | "destroy", "kid": KID | null, "at": TIME, "why", ["activatesAt"]}
/// ```
struct RotationReport {
    let keyset: String
    let plan: RotationPlan
    let done: [(step: RotationPlan.Step, kid: KeyID)]

    func print(asJSON: Bool, _ terminal: TerminalText) throws {
        if asJSON { return try StandardStreams.writeJSONLine(json) }
        var lines = [terminal.styled("\(TerminalText.harmless(keyset.utf8)) at \(plan.at)", .heading)]
        lines += done.flatMap { Self.lines($0.step, "done", .good, terminal, kid: $0.kid) }
        lines += plan.due.flatMap { Self.lines($0, "due", .placeholder, terminal) }
        lines += plan.blocked.flatMap { Self.lines($0, "blocked", .bad, terminal) }
        if done.isEmpty, plan.due.isEmpty, plan.blocked.isEmpty { lines.append("  nothing is due") }
        if let next = plan.next { lines.append("  next     \(next.dueAt): \(next.text())") }
        try StandardStreams.write(lines.joined(separator: "\n") + "\n")
    }

    private var json: JSONObject {
        [
            "keyset": keyset, "at": "\(plan.at)", "done": done.map { $0.step.json(kid: $0.kid) },
            "due": plan.due.map { $0.json() }, "blocked": plan.blocked.map { $0.json() }, "next": plan.next?.json(),
        ]
    }

    private static func lines(
        _ step: RotationPlan.Step, _ heading: String, _ style: TerminalText.Style, _ terminal: TerminalText,
        kid: KeyID? = nil
    ) -> [String] {
        let reason = step.blockedBy.map { "because \($0)" } ?? "safe: \(step.why)"
        return [
            "  \(terminal.label(heading, style, width: 9))\(step.text(kid: kid))",
            "           \(TerminalText.harmless(reason.utf8))",
        ]
    }
}

extension RotationPlan.Step {
    /// - Parameter kid: the id of the key that the step added.
    func json(kid: KeyID? = nil) -> JSONObject {
        let json: JSONObject = [
            "step": action.name, "kid": (kid ?? action.kid)?.description, "at": "\(dueAt)", "why": why,
        ]
        return json.adding(ifKnown: ["because": blockedBy, "activatesAt": action.activatesAt?.description])
    }

    fileprivate func text(kid: KeyID? = nil) -> String {
        guard case .add(let activatesAt) = action else { return action.text }
        let key = kid.map { "key \($0)" } ?? "a key"
        return "add \(key)" + (activatesAt.map { ", which seals from \($0)" } ?? ", which waits to be promoted")
    }
}
