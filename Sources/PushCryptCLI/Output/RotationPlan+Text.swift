import PushCryptCore

extension RotationPlan.Action {
    var text: String {
        switch self {
        case .add: "add a key"
        case .promote(let kid): "promote key \(kid)"
        case .destroy(let kid): "destroy key \(kid)"
        }
    }
}

extension RotationPlan.Step {
    /// A step as the JSON of `keys list` has it.
    ///
    /// ```
    /// {"step": "add" | "promote" | "destroy", "kid": KID | null, "at": TIME, "why": TEXT, ["because": TEXT]}
    /// ```
    var row: JSONObject {
        let json: JSONObject = ["step": action.name, "kid": action.kid?.description, "at": "\(dueAt)", "why": why]
        return json.adding(ifKnown: ["because": blockedBy])
    }
}
