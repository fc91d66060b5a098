/// The calls that fail, counted from the moment of the plan.
enum FaultPlan: Equatable {
    case none
    /// The call of this number.
    case one(Int)
    /// The call of this number and all after it.
    case allFrom(Int)

    func fails(_ number: Int) -> Bool {
        switch self {
        case .none: false
        case .one(let chosen): number == chosen
        case .allFrom(let first): number >= first
        }
    }
}
