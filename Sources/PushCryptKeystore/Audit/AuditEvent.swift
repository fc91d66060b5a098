package import PushCryptCore

/// What one line of the audit log says, without its place in the chain. Never key material.
package struct AuditEvent: Hashable, Sendable {
    package enum Action: String, Sendable, CaseIterable {
        case created, added, imported, promoted, retired, revoked, destroyed
        case policyChanged, protectionChanged, logBegunAnew
    }

    package let action: Action
    package let kid: KeyID?
    /// What the action did in particular.
    package let detail: String?

    package init(_ action: Action, _ kid: KeyID? = nil, detail: String? = nil) {
        self.action = action
        self.kid = kid
        self.detail = detail
    }
}

/// Who makes a change, when, and why.
package struct Actor: Hashable, Sendable {
    package let name: String
    package let reason: String?

    package init(name: String, reason: String?) {
        self.name = name
        self.reason = reason
    }
}
