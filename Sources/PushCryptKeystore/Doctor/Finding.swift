/// Something about a keystore that somebody should know.
package struct Finding: Hashable, Sendable, Encodable {
    package enum Severity: String, Hashable, Sendable, Encodable, CaseIterable {
        /// A command refuses, or a secret is open to others.
        case error
        /// It works and shouldn't stay so.
        case warning
        /// Worth knowing; nothing needs doing now.
        case note
    }

    package let severity: Severity
    /// The path of the keyset, or of what lies in the keystore in place of one.
    package let keyset: String
    /// A stable name of the kind of finding, for scripts.
    package let code: String
    package let message: String
    /// What to do: a command as a shell takes it, or a sentence.
    package let advice: String

    package init(_ severity: Severity, _ keyset: String, _ code: String, _ message: String, advice: String) {
        self.severity = severity
        self.keyset = keyset
        self.code = code
        self.message = message
        self.advice = advice
    }
}

extension Finding: Comparable {
    /// The gravest first, then by keyset.
    package static func < (left: Finding, right: Finding) -> Bool {
        (left.severity.rank, left.keyset, left.code, left.message)
            < (right.severity.rank, right.keyset, right.code, right.message)
    }
}

extension Finding.Severity {
    fileprivate var rank: Int {
        switch self {
        case .error: 0
        case .warning: 1
        case .note: 2
        }
    }
}
