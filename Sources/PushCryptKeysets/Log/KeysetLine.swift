package import PushCryptCore
import PushCryptPrimitives

/// A line of a keyset's log.
///
/// ```
/// {"n": N, "at": TIME, "who": TEXT, "what": ACTION, "prev": B64(32) [, "why": TEXT, "r": B64(16)]
///  [, "id": B64(16), "kind": KIND] [, CHANGES]}
/// ```
package struct KeysetLine: Hashable, Sendable {
    package enum Action: String, CaseIterable, Sendable {
        case created, rotated, imported, revoked, destroyed, policy, secrets, published, restored, clockCorrected
    }

    /// Why a person made the change, with 16 random bytes: without them, a short reason could be guessed from the line's hash.
    package struct Reason: Hashable, Sendable {
        package let text: String
        package let salt: [UInt8]

        package static let saltByteCount = 16

        package init(_ text: String, salt: [UInt8]) {
            self.text = text
            self.salt = salt
        }
    }

    /// What only line 1 has.
    package struct Origin: Hashable, Sendable {
        package let id: KeysetID
        package let kind: KeyKind

        package init(_ id: KeysetID, _ kind: KeyKind) {
            self.id = id
            self.kind = kind
        }
    }

    package let number: Int64
    package let at: UnixTime
    package let who: String
    package let action: Action
    /// The hash of the line before.
    package let previous: [UInt8]
    package let why: Reason?
    package let origin: Origin?
    package let changes: KeysetChanges

    package static let maximumNumber: Int64 = 1 << 52
    package static let hashByteCount = 32
    /// Of `who` and `why`, in bytes.
    package static let textByteCounts = 1...256

    package init(
        number: Int64, at: UnixTime, who: String, _ action: Action, previous: [UInt8], why: Reason?, origin: Origin?,
        _ changes: KeysetChanges
    ) {
        self.number = number
        self.at = at
        self.who = who
        self.action = action
        self.previous = previous
        self.why = why
        self.origin = origin
        self.changes = changes
    }

    /// The line without its line feed.
    package var json: [UInt8] {
        var output = Array("{\"n\":\(number),\"at\":\"\(at)\",\"who\":".utf8)
        JSONWriter.appendString(who, to: &output)
        output += ",\"what\":\"\(action.rawValue)\",\"prev\":\"\(Base64URL.encode(previous))\"".utf8
        if let why {
            output += ",\"why\":".utf8
            JSONWriter.appendString(why.text, to: &output)
            output += ",\"r\":\"\(Base64URL.encode(why.salt))\"".utf8
        }
        if let origin { output += ",\"id\":\"\(origin.id)\",\"kind\":\"\(origin.kind.rawValue)\"".utf8 }
        changes.append(to: &output)
        output.append(UInt8(ascii: "}"))
        return output
    }
}

/// Reading a line: the form of each member. Rules about other lines are those of ``KeysetState``.
extension KeysetLine {
    /// - Parameters:
    ///   - bytes: the row without its line feed.
    ///   - row: counted from 1, for errors.
    /// - Throws: `KeysetLogError` with `malformed`, `misplaced`, `kidMismatch`; `KeyError` with `backendFailure`.
    package init(_ bytes: [UInt8], row: Int) throws {
        let reader = try RowReader(bytes, row: row)
        try reader.allowOnly(Self.members)
        if row > 1, let name = ["id", "kind"].first(where: reader.has) { throw reader.error(.misplaced, name) }
        number = try reader.number("n", in: 1...Self.maximumNumber)
        at = try reader.time("at")
        who = try reader.text("who")
        action = try reader.choice("what", of: Action.allCases)
        previous = try reader.bytes("prev", count: Self.hashByteCount)
        if reader.has("why") || reader.has("r") {
            why = Reason(try reader.text("why"), salt: try reader.bytes("r", count: Reason.saltByteCount))
        } else {
            why = nil
        }
        origin =
            row > 1 ? nil : Origin(try reader.keysetID("id"), try reader.choice("kind", of: KeyKind.allCases))
        changes = try KeysetChanges(reader)
        guard (action == .created) == (row == 1) else { throw reader.error(.misplaced, "what") }
        try requirePlaces(reader)
    }

    private static let members: Set = [
        "n", "at", "who", "what", "prev", "why", "r", "id", "kind", "keys", "policy", "publication", "epochs", "writer",
        "secrets", "over", "revoked", "issuedAt", "validUntil", "epoch", "publisher",
    ]

    private func requirePlaces(_ reader: RowReader) throws(KeysetLogError) {
        let isPublished = action == .published
        let rules = [
            ("over", changes.over.isEmpty || action == .restored),
            ("revoked", changes.revoked.isEmpty || action == .restored),
            ("issuedAt", changes.issuedAt == nil || isPublished || action == .restored),
            ("epoch", changes.epoch == nil || isPublished), ("validUntil", changes.validUntil == nil || isPublished),
            ("publisher", changes.publisher == nil || isPublished),
        ]
        if let rule = rules.first(where: { !$0.1 }) { throw reader.error(.misplaced, rule.0) }
        guard isPublished else { return }
        let isSigned = changes.epoch != nil || changes.validUntil != nil || changes.publisher != nil
        guard changes.issuedAt != nil, !isSigned || changes.epoch != nil && changes.validUntil != nil else {
            throw reader.error(.malformed, "issuedAt")
        }
        guard let issuedAt = changes.issuedAt, let validUntil = changes.validUntil else { return }
        let longest = SenderSetPublication.maximumValidityInSeconds
        guard issuedAt < validUntil, validUntil.seconds - issuedAt.seconds <= longest else {
            throw reader.error(.malformed, "validUntil")
        }
    }
}

extension KeysetChanges {
    init(_ reader: RowReader) throws {
        for (name, member) in try reader.members(of: "keys") { keys.append(try Key(name, member)) }
        if let value = reader["policy"] {
            policy = try reader.parsed("policy") { () throws(KeyError) in try RotationPolicy(value) }
            try reader.child("policy").allowOnly(["rotateEvery", "publishLead", "overlap", "keep", "requireCoverage"])
        }
        if reader.has("publication") { publication = try Publication(reader.child("publication")) }
        for (name, member) in try reader.members(of: "epochs") {
            guard let epoch = Int64(name), String(epoch) == name, UnixTime.protocolRange.contains(epoch) else {
                throw reader.error(.malformed, "epochs")
            }
            epochs[epoch] = .some(member.value.kind == .null ? nil : try member.keysetID)
        }
        if reader.has("writer") { writer = try reader.text("writer") }
        if let value = reader["secrets"] {
            let names = value.elements.map { $0.string.flatMap(SecretName.init) }
            let known = names.compactMap(\.self)
            guard value.kind == .array, known.count == names.count, Set(known).count == known.count,
                known.count <= KeysetSecrets.maximumCount
            else { throw reader.error(.malformed, "secrets") }
            secrets = known
        }
        over = try reader.elements(of: "over").map { element in
            try element.allowOnly(["n", "hash"])
            return try element.point
        }
        for (name, member) in try reader.members(of: "revoked") {
            guard let kid = KeyID(name), let time = member.value.string.flatMap(UnixTime.init(rfc3339:)) else {
                throw member.error(.malformed)
            }
            revoked[kid] = time
        }
        guard !revoked.isEmpty || !reader.has("revoked") else { throw reader.error(.malformed, "revoked") }
        issuedAt = try reader.time(ifAny: "issuedAt")
        validUntil = try reader.time(ifAny: "validUntil")
        if reader.has("epoch") { epoch = try reader.number("epoch", in: UnixTime.protocolRange) }
        if reader.has("publisher") {
            let member = try reader.child("publisher")
            try member.allowOnly(["id", "n", "hash"])
            publisher = Publisher(try member.keysetID("id"), try member.point)
        }
    }
}

extension KeysetChanges.Key {
    fileprivate init(_ name: String, _ reader: RowReader) throws {
        guard let kid = KeyID(name) else { throw reader.error(.malformed) }
        self.init(kid)
        try reader.allowOnly(["jwk", "psk", "lost"] + KeysetChanges.Moment.allCases.map(\.rawValue))
        if let value = reader["jwk"] {
            let jwk = try reader.parsed("jwk") { try PublicJWK(value, backend: DefaultBackend.shared) }
            guard jwk.kid == kid else { throw reader.error(.kidMismatch, "jwk") }
            self.jwk = jwk
        }
        if let value = reader["psk"] {
            guard value.boolean == true else { throw reader.error(.malformed, "psk") }
            demandsPSK = true
        }
        for moment in KeysetChanges.Moment.allCases {
            guard let value = reader[moment.rawValue] else { continue }
            moments[moment] = .some(value.kind == .null ? nil : try reader.time(moment.rawValue))
        }
        if let value = reader["lost"] {
            guard value.kind == .null || value.boolean == true else { throw reader.error(.malformed, "lost") }
            isLost = value.kind != .null
        }
    }
}

extension KeysetChanges.Publication {
    fileprivate init(_ reader: RowReader) throws {
        try reader.allowOnly(["topics", "validFor"])
        let names = reader["topics"]?.elements.map(\.string) ?? []
        let topics = try reader.parsed("topics") { () throws(KeyError) in
            var topics = [Topic]()
            for name in names { topics.append(try Topic(name ?? "")) }
            return topics
        }
        let longest = SenderSetPublication.maximumValidityInSeconds
        guard reader["topics"]?.kind == .array, (1...SenderSetPublication.maximumTopicCount).contains(topics.count),
            Set(topics).count == topics.count
        else { throw reader.error(.malformed, "topics") }
        guard let validFor = reader.value.duration("validFor"), (1...longest).contains(validFor) else {
            throw reader.error(.malformed, "validFor")
        }
        self.init(topics: topics, validForInSeconds: validFor)
    }
}
