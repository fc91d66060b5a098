package import PushCryptCore
import PushCryptPrimitives

/// The content of a keyset's file without the keys. It is never encrypted, so that a plan or a list needs no secret.
package struct KeysetMetadata: Hashable, Sendable {
    package let kind: KeyKind
    /// Increases with every change. A watcher refuses a keyset with a lower number than the previous one.
    package var sequence: Int64
    package var timeline: KeyTimeline
    package var policy: RotationPolicy
    /// How a sender keyset's signed set is published; nil if it isn't.
    package var publication: PublicationPolicy?
    package var audit: AuditHead
    /// The only host that changes the keyset; nil if no change has recorded it. Readers ignore it.
    package var writer: String?
    package var traits: [KeyID: Traits]

    package struct Traits: Hashable, Sendable {
        package let suite: KeyAlgorithm
        package let demandsPSK: Bool

        package init(suite: KeyAlgorithm, demandsPSK: Bool) {
            self.suite = suite
            self.demandsPSK = demandsPSK
        }
    }

    package init(
        kind: KeyKind, sequence: Int64 = 0, timeline: KeyTimeline = KeyTimeline([]), policy: RotationPolicy,
        publication: PublicationPolicy? = nil, audit: AuditHead = .none, traits: [KeyID: Traits] = [:]
    ) {
        self.kind = kind
        self.sequence = sequence
        self.timeline = timeline
        self.policy = policy
        self.publication = publication
        self.audit = audit
        self.traits = traits
    }
}

/// The number of lines and the last hash of the audit log. The keyset's file contains them to detect a log that was cut
/// or replaced.
///
/// ```
/// "audit": {"count": n, "head": BASE64URL(SHA-256 of line n), "last": [LINE, ...]}
/// ```
package struct AuditHead: Hashable, Sendable {
    package var count: Int64
    /// SHA-256 of the last line, 32 bytes; 32 zero bytes for an empty log.
    package var hash: [UInt8]
    /// The lines of the last change. If a crash prevents their append to the log, the next change appends them from here.
    package var lastLines: [String]

    package init(count: Int64, hash: [UInt8], lastLines: [String]) {
        self.count = count
        self.hash = hash
        self.lastLines = lastLines
    }

    package static let hashByteCount = 32
    package static let none = AuditHead(count: 0, hash: [UInt8](repeating: 0, count: hashByteCount), lastLines: [])
}

extension KeysetMetadata {
    /// The metadata of a set that isn't in a keystore: a published set, or a single key.
    package init(_ keyset: Keyset) {
        self.init(kind: keyset.kind, sequence: keyset.sequence, timeline: keyset.timeline, policy: .standard)
        for entry in keyset.entries {
            traits[entry.record.kid] = Traits(suite: entry.record.algorithm, demandsPSK: entry.demandsPSK)
        }
    }
}

/// ```
/// "pushcrypt": {
///   "seq": n, "updatedAt": TIME, "kind": KIND, ["writer": TEXT,] "policy": POLICY, ["publication": PUBLICATION,]
///   "audit": AUDIT,
///   "keys": {kid: {TIMES, "suite": SUITE, ["psk": true]}, ...}
/// }
/// ```
/// Destroyed keys stay in `keys`. In files of earlier versions `kind`, `suite`, `policy` and `audit` are missing.
extension KeysetMetadata {
    /// - Parameters:
    ///   - member: the file's `pushcrypt` member.
    ///   - records: the plain-text keys, if any. They supply the members that files of earlier versions lack.
    /// - Throws: `KeyError`.
    init(_ member: JSONValue, records: [KeyID: KeyRecord]) throws {
        guard let sequence = member["seq"]?.protocolInteger, let keys = member["keys"], keys.kind == .object else {
            throw KeyError(.malformed, "the set's pushcrypt member has no seq or no keys")
        }
        var (timeline, traits) = (KeyTimeline([], updatedAt: try member.time("updatedAt")), [KeyID: Traits]())
        for member in keys.members {
            guard let kid = KeyID(member.name) else {
                throw KeyError(.malformed, "the set's pushcrypt member contains an invalid key id")
            }
            timeline.keys.append(.init(kid, try KeyLifecycle(member.value, of: kid)))
            traits[kid] = try Traits(member.value, kid, records[kid])
        }
        let kind = try Self.kind(member, traits.values)
        self.init(
            kind: kind, sequence: sequence, timeline: timeline,
            policy: try member["policy"].map { try RotationPolicy($0) } ?? .standard,
            publication: try Self.publication(member["publication"], kind, timeline),
            audit: try AuditHead(member["audit"]), traits: traits)
        writer = try Self.writer(member["writer"])
    }

    private static func writer(_ member: JSONValue?) throws -> String? {
        guard let member else { return nil }
        guard let name = member.string, isWriter(name) else {
            throw KeyError(.malformed, "the set's pushcrypt member has an invalid writer")
        }
        return name
    }

    /// Whether a keyset can name this writer: 1 to 64 printable ASCII characters, without spaces at its ends.
    package static func isWriter(_ name: String) -> Bool {
        (1...64).contains(name.utf8.count) && name.utf8.allSatisfy { (0x20..<0x7F).contains($0) } && name.first != " "
            && name.last != " "
    }

    private static func kind(_ member: JSONValue, _ traits: some Sequence<Traits>) throws -> KeyKind {
        let kinds = Set(traits.map(\.suite.kind))
        guard kinds.count <= 1 else {
            throw KeyError(
                .wrongKind, "the set mixes kinds of keys; a set contains recipient, shared, sender or publisher keys")
        }
        let named = member["kind"]?.choice(of: KeyKind.allCases)
        guard let kind = named ?? kinds.first, kinds.isEmpty || kinds.contains(kind) else {
            throw KeyError(.malformed, "the set contains no key, or keys of another kind than the set's")
        }
        return kind
    }

    /// Without `updatedAt`, it would be unknown when the signed set was issued.
    private static func publication(
        _ member: JSONValue?, _ kind: KeyKind, _ timeline: KeyTimeline
    ) throws -> PublicationPolicy? {
        guard let member else { return nil }
        guard kind == .sender, timeline.updatedAt != nil else {
            throw KeyError(.malformed, "only a set of sender keys with updatedAt has a publication member")
        }
        return try PublicationPolicy(member)
    }

    package var json: [UInt8] {
        var output = Array("{\n    \"seq\": \(sequence), ".utf8)
        if let updatedAt = timeline.updatedAt { output += "\"updatedAt\": \"\(updatedAt)\", ".utf8 }
        output += "\"kind\": \"\(kind.rawValue)\",".utf8
        if let writer {
            output += "\n    \"writer\": ".utf8
            JSONWriter.appendString(writer, to: &output)
            output += ",".utf8
        }
        output += "\n    \"policy\": \(policy.json),\n".utf8
        if let publication { output += "    \"publication\": \(publication.json),\n".utf8 }
        output += "    \"audit\": ".utf8
        audit.append(to: &output)
        output += ",\n    \"keys\": {\n      ".utf8
        let keys = timeline.keys.map { key in
            let traits = traits[key.kid].map(\.jsonMembers) ?? []
            return "\"\(key.kid)\": {"
                + (key.lifecycle.jsonMembers(withHistory: true) + traits).joined(separator: ", ") + "}"
        }
        output += keys.joined(separator: ",\n      ").utf8
        output += "\n    }\n  }".utf8
        return output
    }
}

extension KeysetMetadata.Traits {
    fileprivate init(_ member: JSONValue, _ kid: KeyID, _ record: KeyRecord?) throws {
        let demandsPSK = try member.demandsPSK(of: kid)
        let named = member["suite"]?.choice(of: KeyAlgorithm.allCases)
        guard let suite = record?.algorithm ?? named else {
            throw KeyError(.malformed, "key \(kid): its suite is missing in the set's pushcrypt member")
        }
        guard !demandsPSK || suite.kind == .recipient else {
            throw KeyError(.malformed, "key \(kid): only recipient keys have a psk")
        }
        self.init(suite: suite, demandsPSK: demandsPSK || record?.hasPSK == true)
    }

    fileprivate var jsonMembers: [String] {
        ["\"suite\": \"\(suite.rawValue)\""] + (demandsPSK ? [#""psk": true"#] : [])
    }
}

extension AuditHead {
    fileprivate init(_ member: JSONValue?) throws {
        guard let member else {
            self = .none
            return
        }
        let hash = member["head"]?.utf8.flatMap(Base64URL.decode) ?? []
        guard let count = member["count"]?.protocolInteger, hash.count == Self.hashByteCount,
            let last = member["last"], last.kind == .array
        else { throw KeyError(.malformed, "the set's audit member has no count, head or last") }
        let elements = last.elements
        let lines = elements.compactMap(\.string)
        guard lines.count == elements.count else {
            throw KeyError(.malformed, "the set's audit member has a last line that isn't a string")
        }
        self.init(count: count, hash: hash, lastLines: lines)
    }

    fileprivate func append(to output: inout [UInt8]) {
        output += "{\"count\": \(count), \"head\": \"\(Base64URL.encode(hash))\", \"last\": [".utf8
        for (index, line) in lastLines.enumerated() {
            output += (index == 0 ? "\n      " : ",\n      ").utf8
            JSONWriter.appendString(line, to: &output)
        }
        output += "]}".utf8
    }
}

extension KeysetMetadata {
    /// The steps that the policy requires.
    ///
    /// - Parameters:
    ///   - time: the clock's time.
    ///   - beginsNow: whether a rotation begins before it is due.
    ///   - confirmsClock: whether an operator has confirmed a clock that seems wrong.
    ///   - coverage: the verdict for a key; nil if there are no reports.
    package func plan(
        at time: UnixTime, beginsNow: Bool = false, confirmsClock: Bool = false,
        coverage: @escaping (KeyID) -> RotationPlan.CoverageVerdict? = { _ in nil }
    ) -> RotationPlan {
        guard kind != .publisher else { return RotationPlan(publishers: timeline, at: time) }
        return RotationPlan(
            timeline, policy, publication: publication, at: time, beginsNow: beginsNow, confirmsClock: confirmsClock,
            coverage: coverage)
    }

    /// The members of the signed set of a sender keyset, which was issued at its last change; nil if none is published.
    package var signedSet: SenderSetPublication? {
        guard let publication, let issuedAt = timeline.updatedAt else { return nil }
        return try? publication.publication(sequence: sequence, issuedAt: issuedAt)
    }

    /// When a key that is added now begins to seal; nil if an operator must promote it. A publisher's key signs at once,
    /// beside the others.
    package func nextActivation(at now: UnixTime) -> UnixTime? {
        kind == .publisher || policy.requiredCoverage != nil ? nil : now + policy.publishLeadInSeconds
    }
}
