package import PushCryptCore

extension KeysetEditor {
    /// Does the steps that are due, and says which keys they were about.
    package mutating func carryOut(_ plan: RotationPlan) throws -> [(step: RotationPlan.Step, kid: KeyID)] {
        try plan.due.map { step in
            switch step.action {
            case .add(let activatesAt): return (step, try add(activatesAt: activatesAt))
            case .promote(let kid):
                try promote(kid, force: false)
                return (step, kid)
            case .destroy(let kid):
                try destroy(kid, force: false)
                return (step, kid)
            }
        }
    }
}
