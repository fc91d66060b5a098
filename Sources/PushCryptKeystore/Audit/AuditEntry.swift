package import PushCryptCore
package import PushCryptKeysets

/// A line of the audit log as it is read back.
package struct AuditEntry: Hashable, Sendable {
    /// Counted from 1.
    package let number: Int64
    package let at: UnixTime
    package let who: String
    /// An ``AuditEvent/Action`` by name; a later version may write others.
    package let what: String
    package let kid: String?
    package let detail: String?
    package let why: String?

    /// - Parameter line: without its newline; nil for one that lacks a member or isn't JSON.
    package init?(line: String) {
        guard let root = try? JSONText(Array(line.utf8)).root, let number = root["n"]?.protocolInteger,
            let at = root["at"]?.string.flatMap(UnixTime.init(rfc3339:)), let who = root["who"]?.string,
            let what = root["what"]?.string
        else { return nil }
        self.number = number
        self.at = at
        self.who = who
        self.what = what
        kid = root["kid"]?.string
        detail = root["detail"]?.string
        why = root["why"]?.string
    }
}

extension AuditLog {
    /// The entries of the log, including the lines that a crash kept from it, and what is wrong with it; nil for nothing.
    /// Lines that can't be read are left out.
    package func history(_ head: AuditHead) -> (entries: [AuditEntry], flaw: String?) {
        switch condition(head) {
        case .whole: (lines.compactMap(AuditEntry.init), nil)
        case .interrupted(let missing): ((lines + missing).compactMap(AuditEntry.init), nil)
        case .broken(let flaw): (lines.compactMap(AuditEntry.init), flaw)
        }
    }
}

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
