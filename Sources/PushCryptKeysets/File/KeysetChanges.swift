package import PushCryptCore
import PushCryptPrimitives

/// What a line of a log changes.
package struct KeysetChanges: Hashable, Sendable {
    /// A moment of a key's life.
    package enum Moment: String, CaseIterable, Sendable {
        case createdAt, activatesAt, retiresAt, expiresAt, revokedAt, destroyedAt

        /// Whether no line changes or removes it.
        package var isFinal: Bool { self == .revokedAt || self == .destroyedAt }

        package var path: WritableKeyPath<KeyLifecycle, UnixTime?> {
            switch self {
            case .createdAt: \.createdAt
            case .activatesAt: \.activatesAt
            case .retiresAt: \.retiresAt
            case .expiresAt: \.expiresAt
            case .revokedAt: \.revokedAt
            case .destroyedAt: \.destroyedAt
            }
        }
    }

    package struct Key: Hashable, Sendable {
        package let kid: KeyID
        /// In the line that adds a key pair.
        package var jwk: PublicJWK?
        /// In the line that adds the key: whether messages to it are sealed with a psk.
        package var demandsPSK = false
        /// nil removes a moment.
        package var moments: [Moment: UnixTime?] = [:]
        /// Whether the key's material is lost; nil leaves it.
        package var isLost: Bool?

        package init(_ kid: KeyID) { self.kid = kid }
    }

    /// What is signed for apps.
    package struct Publication: Hashable, Sendable {
        package let topics: [Topic]
        package let validForInSeconds: Int64

        package init(topics: [Topic], validForInSeconds: Int64) {
            self.topics = topics
            self.validForInSeconds = validForInSeconds
        }
    }

    package struct Publisher: Hashable, Sendable {
        package let id: KeysetID
        package let point: LogPoint

        package init(_ id: KeysetID, _ point: LogPoint) {
            self.id = id
            self.point = point
        }
    }

    package var keys: [Key] = []
    package var policy: RotationPolicy?
    package var publication: Publication?
    /// The publisher keyset of each epoch; nil ends the epoch.
    package var epochs: [Int64: KeysetID?] = [:]
    package var writer: String?
    package var secrets: [SecretName]?
    /// The points of other logs that a restoration gives up.
    package var over: [LogPoint] = []
    /// The revocations of keys that the log doesn't have, which a restoration keeps.
    package var revoked: [KeyID: UnixTime] = [:]
    package var issuedAt: UnixTime?
    package var validUntil: UnixTime?
    /// The epoch of a published set; nil for one without a signature.
    package var epoch: Int64?
    package var publisher: Publisher?

    package init() {}

    /// The moments that differ, of the keys of `new`. A key that `old` lacks has all its moments.
    package init(from old: KeyTimeline, to new: KeyTimeline) {
        for key in new.keys {
            let before = old.key(key.kid)?.lifecycle ?? KeyLifecycle()
            var change = Key(key.kid)
            for moment in Moment.allCases where before[keyPath: moment.path] != key.lifecycle[keyPath: moment.path] {
                change.moments[moment] = .some(key.lifecycle[keyPath: moment.path])
            }
            if !change.moments.isEmpty { keys.append(change) }
        }
    }
}

/// The members in a line, each with the comma before it.
extension KeysetChanges {
    package func append(to output: inout [UInt8]) {
        func name(_ name: String) { output += ",\"\(name)\":".utf8 }
        func list(_ open: String, _ elements: [String], _ close: String) {
            output += (open + elements.joined(separator: ",") + close).utf8
        }
        if !keys.isEmpty {
            name("keys")
            list("{", keys.map(\.json), "}")
        }
        if let policy {
            name("policy")
            // No string of a policy has a space.
            output += policy.json.utf8.filter { $0 != UInt8(ascii: " ") }
        }
        if let publication {
            name("publication")
            list("{\"topics\":[", publication.topics.map { "\"\($0)\"" }, "]")
            output += ",\"validFor\":\"\(DurationText.iso8601(publication.validForInSeconds))\"}".utf8
        }
        if !epochs.isEmpty {
            name("epochs")
            list("{", epochs.sorted { $0.key < $1.key }.map { "\"\($0)\":" + ($1.map { "\"\($0)\"" } ?? "null") }, "}")
        }
        if let writer {
            name("writer")
            JSONWriter.appendString(writer, to: &output)
        }
        if let secrets {
            name("secrets")
            list("[", secrets.map { "\"\($0)\"" }, "]")
        }
        if !over.isEmpty {
            name("over")
            list("[", over.map { "{\($0.jsonMembers)}" }, "]")
        }
        if !revoked.isEmpty {
            name("revoked")
            list("{", revoked.sorted { $0.key < $1.key }.map { "\"\($0)\":\"\($1)\"" }, "}")
        }
        for (member, time) in [("issuedAt", issuedAt), ("validUntil", validUntil)] {
            guard let time else { continue }
            name(member)
            output += "\"\(time)\"".utf8
        }
        if let epoch {
            name("epoch")
            output += "\(epoch)".utf8
        }
        if let publisher {
            name("publisher")
            output += "{\"id\":\"\(publisher.id)\",\(publisher.point.jsonMembers)}".utf8
        }
    }
}

extension LogPoint {
    fileprivate var jsonMembers: String { "\"n\":\(number),\"hash\":\"\(Base64URL.encode(hash))\"" }
}

extension KeysetChanges.Key {
    fileprivate var json: String {
        var members = jwk.map { ["\"jwk\":" + String(decoding: $0.json, as: UTF8.self)] } ?? []
        if demandsPSK { members.append("\"psk\":true") }
        for moment in KeysetChanges.Moment.allCases {
            guard let time = moments[moment] else { continue }
            members.append("\"\(moment.rawValue)\":" + (time.map { "\"\($0)\"" } ?? "null"))
        }
        if let isLost { members.append("\"lost\":" + (isLost ? "true" : "null")) }
        return "\"\(kid)\":{" + members.joined(separator: ",") + "}"
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
