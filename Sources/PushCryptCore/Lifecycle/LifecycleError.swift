/// Why a change to a keyset's keys is refused.
package struct LifecycleError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of refusal; more may be added.
    package struct Code: Hashable, Sendable {
        let name: String

        /// No key of that id is in the keyset.
        package static let unknownKey = Code(name: "unknownKey")
        /// The id was used before; ids are never used twice.
        package static let idTaken = Code(name: "idTaken")
        /// The change isn't possible in the key's state.
        package static let wrongState = Code(name: "wrongState")
        /// Refused for now: it is allowed later, or if an operator forces it.
        package static let blocked = Code(name: "blocked")
        /// It would break an invariant; it can't be forced.
        package static let invariantBroken = Code(name: "invariantBroken")
    }

    package let code: Code
    /// What is refused, why, and what to do about it.
    package let reason: String

    package init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    package var description: String { reason }
}
