import PushCryptCore

extension Suite {
    /// The name on the command line and in JSON, as in `xwing`.
    var name: String? { KeyAlgorithm.allCases.first { $0.suite == self }?.rawValue }

    /// Whether a recorded push stays secret from a quantum computer, as in `yes, X-Wing`.
    ///
    /// - Parameter hasPSK: whether a push to the key is sealed with a psk, without which it can't be opened.
    func postQuantumText(hasPSK: Bool) -> String {
        let key = keyPairType.map { "\($0)" } ?? "a shared secret"
        guard !isPostQuantum else { return "yes, \(key)" }
        let condition = hasPSK ? " and the psk" : ""
        return "no, \(key): an attacker who records it can open it later with a large quantum computer\(condition)"
    }
}
