package import PushCryptCore
import PushCryptPrimitives

/// Everything that a keyset's file says beside the keys themselves. It stands there in clear, also where the keys are
/// encrypted: a plan or a list needs no secret.
package struct KeysetMetadata: Hashable, Sendable {
    package let kind: KeyKind
    /// Grows with every change; a reader refuses a lower one than it has seen.
    package var sequence: Int64
    package var timeline: KeyTimeline
    package var policy: RotationPolicy
    package var audit: AuditHead
    /// What each key is like.
    package var traits: [KeyID: Traits]

    package struct Traits: Hashable, Sendable {
        package let suite: KeyAlgorithm
        package let demandsPSK: Bool

        package init(suite: KeyAlgorithm, demandsPSK: Bool) {
            self.suite = suite
            self.demandsPSK = demandsPSK
        }

        package init(_ entry: Keyset.Entry) {
            self.init(suite: entry.record.algorithm, demandsPSK: entry.demandsPSK)
        }
    }

    package init(
        kind: KeyKind, sequence: Int64, timeline: KeyTimeline, policy: RotationPolicy, audit: AuditHead,
        traits: [KeyID: Traits]
    ) {
        self.kind = kind
        self.sequence = sequence
        self.timeline = timeline
        self.policy = policy
        self.audit = audit
        self.traits = traits
    }
}

/// What the keyset's file remembers of its audit log, so that a log that was cut or exchanged shows.
///
/// ```
/// "audit": {"count": n, "head": BASE64URL(SHA-256 of line n), "last": [LINE, ...]}
/// ```
package struct AuditHead: Hashable, Sendable {
    /// Lines of the log.
    package var count: Int64
    /// SHA-256 of the last line, 32 bytes; of an empty log 32 zero bytes.
    package var hash: [UInt8]
    /// The lines that the last change added: the file is renamed first, and what a crash keeps from the log is taken
    /// from here.
    package var lastLines: [String]

    package init(count: Int64, hash: [UInt8], lastLines: [String]) {
        self.count = count
        self.hash = hash
        self.lastLines = lastLines
    }

    package static let hashByteCount = 32
    package static let none = AuditHead(
        count: 0, hash: [UInt8](repeating: 0, count: hashByteCount), lastLines: [])
}

extension KeysetMetadata {
    /// What a set tells that isn't a keystore's: a published one, or a single key.
    package init(_ keyset: Keyset) {
        var traits = [KeyID: Traits]()
        for entry in keyset.entries { traits[entry.record.kid] = Traits(entry) }
        self.init(
            kind: keyset.kind, sequence: keyset.sequence, timeline: keyset.timeline, policy: .standard, audit: .none,
            traits: traits)
    }
}
