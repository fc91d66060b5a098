package import PushCryptPrimitives

/// JWK sets (RFC 7517 section 5) with lifecycles.
///
/// ```
/// {"keys": [JWK, ...],
///  "pushcrypt": {"seq": n, ["updatedAt": TIME,]
///                "keys": {kid: {["createdAt"], ["activatesAt"], ["retiresAt"], ["expiresAt"], ["revokedAt"],
///                               ["psk": true]}}}}
/// ```
/// Times are RFC 3339. Only private files contain `updatedAt` and `createdAt`. A single JWK, and a set without the
/// `pushcrypt` member, is one key that always seals and opens.
extension Keyset {
    /// Reads one JWK or a JWK set.
    ///
    /// - Throws: `KeyError`.
    public init(json: some Collection<UInt8>) throws {
        try self.init(json: Array(json), backend: DefaultBackend.shared)
    }

    /// - Parameter isForeign: whether another tool may have written the keys; see ``KeyRecord``.
    package init(json: [UInt8], isForeign: Bool = false, backend: any CryptoBackend) throws {
        guard !json.starts(with: "-----BEGIN".utf8) else {
            throw KeyError(
                .malformed, "this is PEM, and a key is read as a JWK: import PEM with `pushcrypt keys import`")
        }
        let root: JSONValue
        do {
            root = try JSONText(json).root
        } catch {
            throw KeyError(
                .malformed,
                json.isEmpty
                    ? "it is empty: keys are in a keyset (Keys/NAME), or in a file as `pushcrypt keys export` writes it"
                    : "not a JSON text with keys, as `pushcrypt keys export` writes it: \(error)")
        }
        guard root["payload"] == nil || root["signatures"] == nil else {
            throw KeyError(
                .malformed, "this is a signed sender set: it is read only with the pins of its publishers (--pins)")
        }
        guard root["sealed"] == nil else {
            throw KeyError(.malformed, "the private keys are encrypted: give the keyset's folder, not its file")
        }
        try self.init(root, isForeign: isForeign, backend: backend)
    }

    /// - Parameter root: a JWK or a JWK set.
    /// - Throws: `KeyError`.
    init(_ root: JSONValue, isForeign: Bool = false, backend: any CryptoBackend) throws {
        guard let keys = root["keys"] else {
            try self.init([Entry(try KeyRecord(root, isForeign: isForeign, backend: backend), .always)])
            return
        }
        guard keys.kind == .array else { throw KeyError(.malformed, "the set's keys member is not an array") }
        let records = try keys.elements.map { try KeyRecord($0, isForeign: isForeign, backend: backend) }
        guard let member = root["pushcrypt"] else {
            guard records.count == 1 else {
                throw KeyError(
                    .malformed,
                    "a set of \(records.count) keys needs a pushcrypt member, which determines the key that seals")
            }
            try self.init([Entry(records[0], .always)])
            return
        }
        guard let sequence = member["seq"]?.protocolInteger, let lifecycles = member["keys"], lifecycles.kind == .object
        else { throw KeyError(.malformed, "the set's pushcrypt member has no seq or no keys") }
        // One pass: searching all members for each key would be quadratic in a hostile set.
        let lifecycleOfKey = Dictionary(
            lifecycles.members.lazy.compactMap { member in KeyID(member.name).map { ($0, member.value) } },
            uniquingKeysWith: { first, _ in first })
        let entries = try records.map { record in
            guard let lifecycle = lifecycleOfKey[record.kid] else {
                throw KeyError(.malformed, "the set's pushcrypt member has no lifecycle of key \(record.kid)")
            }
            return try Entry(record, reading: lifecycle)
        }
        try self.init(entries, sequence: sequence, updatedAt: try member.time("updatedAt"))
    }

    /// Writes the set as a JWK set with its secret members. The caller wipes the result.
    /// - Parameters:
    ///   - withHistory: whether `updatedAt` and `createdAt` are written, as in private files.
    ///   - publication: the members of a signed set, which are written after `seq`.
    package func jwkSet(withHistory: Bool, publication: SenderSetPublication? = nil) throws -> [UInt8] {
        var output = [UInt8]()
        output.reserveCapacity(256 + entries.count * (KeyRecord.maximumJWKByteCount + 256))
        output += "{\n  \"keys\": [\n    ".utf8
        for (index, entry) in entries.enumerated() {
            if index > 0 { output += ",\n    ".utf8 }
            try entry.record.appendJWK(to: &output)
        }
        output += "\n  ],\n  \"pushcrypt\": {\"seq\": \(sequence), ".utf8
        if let publication { output += "\(publication.jsonMembers), ".utf8 }
        if withHistory, let updatedAt { output += "\"updatedAt\": \"\(updatedAt)\", ".utf8 }
        output += "\"keys\": {\n    ".utf8
        for (index, entry) in entries.enumerated() {
            if index > 0 { output += ",\n    ".utf8 }
            output += "\"\(entry.record.kid)\": {\(entry.members(withHistory: withHistory))}".utf8
        }
        output += "\n  }}\n}\n".utf8
        return output
    }
}

extension KeyLifecycle {
    /// The lifecycle of a key for which the file has none.
    fileprivate static let always = KeyLifecycle(activatesAt: UnixTime(0))
}

extension Keyset.Entry {
    fileprivate init(_ record: KeyRecord, reading member: JSONValue) throws {
        let lifecycle = try KeyLifecycle(member, of: record.kid)
        let demandsPSK = try member.demandsPSK(of: record.kid)
        guard !demandsPSK || record.kind == .recipient else {
            throw KeyError(.malformed, "key \(record.kid): only recipient keys have a psk")
        }
        self.init(record, lifecycle, demandsPSK: record.hasPSK || demandsPSK)
    }

    fileprivate func members(withHistory: Bool) -> String {
        (lifecycle.jsonMembers(withHistory: withHistory) + (demandsPSK ? [#""psk": true"#] : []))
            .joined(separator: ", ")
    }
}
