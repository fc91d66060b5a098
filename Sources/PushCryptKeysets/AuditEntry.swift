package import PushCryptCore
import PushCryptPrimitives

/// A parsed line of the audit log.
package struct AuditEntry: Hashable, Sendable {
    /// Counted from 1.
    package let number: Int64
    package let at: UnixTime
    package let who: String
    /// The name of an ``AuditEvent/Action``; later versions may write others.
    package let what: String
    package let kid: String?
    package let detail: String?
    package let why: String?

    /// - Parameter line: without its newline.
    /// - Returns: nil for a line that lacks a member or isn't JSON.
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

/// The chain of hashes in the audit log.
package enum AuditChain {
    /// - Parameter line: without its newline.
    package static func hash(_ line: [UInt8]) throws -> [UInt8] { try DefaultBackend.shared.sha256(line.bytes) }

    /// A hash as files and options contain it.
    package static func text(_ hash: [UInt8]) -> String { Base64URL.encode(hash) }

    /// The number of a line, and the hash of the line before it; nil for a line that lacks one of them.
    static func link(_ line: [UInt8]) -> (number: Int64, previous: [UInt8])? {
        guard let root = try? JSONText(line).root, let number = root["n"]?.protocolInteger,
            let previous = root["prev"]?.utf8.flatMap(Base64URL.decode)
        else { return nil }
        return (number, previous)
    }
}
