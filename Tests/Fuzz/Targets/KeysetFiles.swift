import PushCryptCore
import PushCryptKeysets
import PushCryptPrimitives

/// The input as a keyset's file, or as a part of one, so that mutations get behind the hashes.
///
/// ```
/// input = 0 || file          1 || log, whose `prev` are corrected          2 || JWKs in clear          3 || place(2) || bytes
/// ```
func fuzzKeysetFile(_ bytes: [UInt8]) throws {
    var input = FuzzInput(bytes)
    switch input.byte() % 4 {
    case 0: try fuzzRows(Array(input.rest))
    case 1:
        let rows = try chained(Array(input.rest))
        try expectRefusal { try checkLog(KeysetLog(rows)) }
    case 2: try fuzzRows(SampleKeyset.plain(keys: Array(input.rest)))
    default: try fuzzSealed(input.number(), Array(input.rest))
    }
}

private func fuzzRows(_ file: [UInt8]) throws {
    var rows: KeysetRows?
    try expectRefusal { rows = try KeysetRows(file) }
    guard let rows else { return }
    try checkLog(rows.log)
    try require(SlowJSON(file.split(separator: 10).last ?? []) != nil, "the last row is strict JSON")
    guard !rows.isEncrypted else {
        return try require(code { try rows.unlocked(nil) } == .secretNeeded, "encrypted keys need a secret")
    }
    try require(code { try rows.unlocked(SampleKeyset.secret) } == .notEncrypted, "a secret demands encryption")
    var material: KeysetMaterial?
    try expectKeyError { try expectRefusal { material = try rows.unlocked(nil) } }
    guard let material else { return }
    let kids = Set(rows.log.state.keys.filter(\.hasMaterial).map(\.kid))
    try require(Set(material.records.keys) == kids, "the keys are those of the log")
    let again = try KeysetRows(material.file(rows.log))
    try require(again.log.bytes == rows.log.bytes, "a written log is read again")
    try require(try Set(again.unlocked(nil).records.keys) == kids, "written keys are read again")
    try expectKeyError {
        let keyset = try Keyset(OpenedKeyset(rows.log, material))
        for kid in keyset.keyIDs { _ = keyset.state(of: kid, at: FuzzKeys.now) }
    }
}

private func checkLog(_ log: KeysetLog) throws {
    for (index, row) in log.bytes.split(separator: 10).enumerated() {
        try require(SlowJSON(row) != nil, "a line is strict JSON")
        let line = log.lines[index]
        try require(try KeysetLine(line.json, row: index + 1) == line, "a written line is read again")
    }
    var last: KeysetState?
    for point in log.points {
        let state = try require(log.upTo(point), "a log has its own lines").state
        try require(state.head == point, "a log ends at its last line")
        try require(log.extends(point), "a log extends its own lines")
        if let last {
            try require(state.id == last.id && state.kind == last.kind, "id and kind don't change")
            try require(state.head.number > last.head.number, "numbers rise")
            if let issuedAt = last.issuedAt {
                try require(state.issuedAt.map { $0 >= issuedAt } ?? false, "issuedAt never goes back")
            }
            for key in last.keys {
                let now = try require(state.key(key.kid), "a key stays in the log").lifecycle
                try require(key.lifecycle.revokedAt == nil || now.revokedAt == key.lifecycle.revokedAt, "revoked")
                try require(
                    key.lifecycle.destroyedAt == nil || now.destroyedAt == key.lifecycle.destroyedAt, "destroyed")
            }
        }
        last = state
    }
    let history = KeysetHistory(log, mac: nil, lastRun: FuzzKeys.now, lastStatus: 0)
    try require(try KeysetHistory(history.file).log.bytes == log.bytes, "a written history is read again")
    try require(history.objection(to: log) == nil, "a host that has seen a log accepts it")
    try expectKeyError { _ = try Keyset(unauthenticatedPublicKeysOf: log) }
}

/// Somebody without the secret writes bytes over an encrypted keyset.
private func fuzzSealed(_ place: Int, _ bytes: [UInt8]) throws {
    var file = SampleKeyset.sealed
    let start = place % file.count
    file.replaceSubrange(start..<min(start + bytes.count, file.count), with: bytes)
    var opened: (KeysetRows, KeysetMaterial)?
    do {
        try expectRefusal {
            let rows = try KeysetRows(file)
            opened = (rows, try rows.unlocked(SampleKeyset.secret))
        }
    } catch is KeystoreError {}
    guard let (rows, material) = opened else { return }
    try require(rows.log.bytes == SampleKeyset.log.bytes, "who lacks the secret can't change the log")
    try require(Set(material.records.keys) == Set(SampleKeyset.records.keys), "nor the keys")
}

private func expectRefusal(_ body: () throws -> Void) throws { _ = try code(body) }

/// The code of a refusal; nil if there is none.
private func code(_ body: () throws -> some Any) throws -> KeysetLogError.Code? {
    do { _ = try body() } catch let error as KeysetLogError { return error.code }
    return nil
}

/// The rows with the hash of the row before in each `prev`.
private func chained(_ rows: [UInt8]) throws -> [UInt8] {
    let name = Array("\"prev\":\"".utf8)
    var previous = Base64URL.encode([UInt8](repeating: 0, count: KeysetLine.hashByteCount))
    var output = [UInt8]()
    for row in rows.split(separator: 10) {
        var row = Array(row)
        if let start = row.indices.first(where: { row[$0...].starts(with: name) }).map({ $0 + name.count }) {
            row.replaceSubrange(start..<min(start + previous.utf8.count, row.count), with: previous.utf8)
        }
        output += row + [10]
        previous = Base64URL.encode(try DefaultBackend.shared.sha256(row.bytes))
    }
    return output
}

/// A keyset with two keys of Conformance/vectors/pushcrypt-v1.json, encrypted with the cheapest parameters of scrypt.
private enum SampleKeyset {
    static let secret = KeysetSecret.passphrase(SecretBytes(copying: Array("fuzz".utf8).bytes))

    static let records: [KeyID: KeyRecord] = {
        let records = [FuzzKeys.shared.channels[1], FuzzKeys.shared.channels[2]].map(\.record)
        return Dictionary(uniqueKeysWithValues: records.map { ($0.kid, $0) })
    }()

    private static func log(_ secrets: KeysetSecrets?) throws -> KeysetLog {
        var changes = KeysetChanges()
        changes.keys = try records.values.map { record in
            var key = KeysetChanges.Key(record.kid)
            (key.jwk, key.demandsPSK) = (try PublicJWK(record), record.hasPSK)
            key.moments = [.activatesAt: FuzzKeys.now]
            return key
        }
        changes.secrets = secrets?.names
        let id = try require(KeysetID("AAAAAAAAAAAAAAAAAAAAAA".utf8), "the id is valid")
        return try KeysetLog(creating: id, .recipient, at: FuzzKeys.now, who: "fuzz", changes)
    }

    private static let encrypted: (log: KeysetLog, file: [UInt8]) = {
        do {
            let name = try require(SecretName("one"), "the name is valid")
            let secrets = try KeysetSecrets(ofLog: [(name, secret)], ScryptParameters(n: 2, r: 1, p: 1))
            let log = try log(secrets)
            let material = KeysetMaterial(records: records, secrets: secrets, historyKey: try .random())
            return (log, try material.file(log))
        } catch {
            preconditionFailure("\(error)")
        }
    }()

    static var log: KeysetLog { encrypted.log }
    static var sealed: [UInt8] { encrypted.file }

    static func plain(keys: [UInt8]) throws -> [UInt8] {
        let rows = try log(nil).bytes
        let digest = Base64URL.encode(try DefaultBackend.shared.sha256((rows + keys).bytes))
        return rows + Array("{\"v\":1,\"keys\":".utf8) + keys + Array(",\"digest\":\"\(digest)\"}\n".utf8)
    }
}
