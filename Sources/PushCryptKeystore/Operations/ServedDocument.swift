package import PushCryptCore
package import PushCryptKeysets
import PushCryptPrimitives

/// A set in the served folder, read but not verified.
package struct ServedDocument: Sendable {
    package let id: KeysetID
    /// nil for a set without a signature.
    package let epoch: Int64?
    /// The line `published` that it was made of.
    package let head: LogPoint
    package let issuedAt: UnixTime
    /// When each key was revoked that ever was.
    package let revoked: [KeyID: UnixTime]
    private let document: [UInt8]

    /// The name of a set in the served folder.
    package static func name(_ id: KeysetID, _ epoch: Int64?) -> String {
        "\(id)." + (epoch.map { "\($0).json" } ?? "jwks.json")
    }

    /// nil for anything that isn't such a set: it counts as not there.
    package init?(_ document: [UInt8]) {
        let signed = SignedSenderSet.unverifiedPayload(of: document)
        guard let root = try? JSONText(signed ?? document).root, let member = root["pushcrypt"],
            (signed != nil) == (member["epoch"] != nil), let id = member["set"]?.utf8.flatMap({ KeysetID($0) }),
            let number = member["seq"]?.protocolInteger, (1...KeysetLine.maximumNumber).contains(number),
            let hash = member["head"]?.utf8.flatMap(Base64URL.decode), hash.count == KeysetLine.hashByteCount,
            let issuedAt = try? member.time("issuedAt")
        else { return nil }
        epoch = member["epoch"]?.protocolInteger
        guard signed == nil || epoch != nil else { return nil }
        (self.id, self.issuedAt, self.document) = (id, issuedAt, document)
        head = LogPoint(number: number, hash: hash)
        var revoked = [KeyID: UnixTime]()
        for key in member["keys"]?.members ?? root.members where key.value.kind == .object {
            guard let kid = KeyID(key.name), let time = try? key.value.time("revokedAt") else { continue }
            revoked[kid] = time
        }
        self.revoked = revoked
    }

    /// Whether one of these public or private publisher keys has signed it.
    package func isSigned(byOneOf publishers: [KeyRecord]) throws -> Bool {
        try epoch != nil && SignedSenderSet.isSigned(document, byOneOf: publishers)
    }
}

/// The payload of a set: a function of the log up to a line `published`.
///
/// ```
/// {"keys": [JWK, ...], "pushcrypt": {"seq": N, "set": ID, ["topics": [TOPIC, ...], "epoch": N,] "issuedAt": TIME,
///  ["validUntil": TIME,] "head": B64(hash of the line), "keys": {KID: {[MOMENT: TIME, ...] [, "psk": true]}, ...}}}
/// ```
/// `seq` is the line's number. A set without a signature lacks the members in brackets. A key that was revoked stays in the inner
/// `keys` for ever, without a JWK and with `revokedAt` alone once it is destroyed. If the set is issued ahead of the clock, it
/// lists no ends of keys and no expired keys: apps that accepted a set of a wrong clock judge states at its `issuedAt`.
package enum ServedPayload {
    package static let maximumByteCount = SignedSenderSet.maximumByteCount
    package static let maximumRevokedCount = SenderSetState.maximumRevokedCount

    /// - Parameter log: ends with a line `published`.
    /// - Throws: `KeystoreRefusal` with `setTooLarge`.
    package static func json(_ log: KeysetLog) throws -> [UInt8] {
        let (state, line) = (log.state, log.lines[log.lines.count - 1])
        guard line.action == .published, let issuedAt = line.changes.issuedAt else {
            preconditionFailure("the log doesn't end with a published line")
        }
        let isAhead = KeystoreRule.openEnds.isOn && issuedAt > line.at
        var (jwks, lives, revokedCount) = ([[UInt8]](), [String](), 0)
        for key in state.keys.sorted(by: { $0.kid < $1.kid }) {
            let life = state.effective(key)
            if life.revokedAt != nil { revokedCount += 1 }
            let isRevoked = life.revokedAt != nil && (KeystoreRule.servedRevoked.isOn || life.destroyedAt == nil)
            let isExpired = life.expiresAt.map { $0 <= line.at } ?? false
            let isListed = key.hasMaterial && !(isAhead && isExpired && life.revokedAt == nil)
            guard isListed || isRevoked else { continue }
            if key.hasMaterial, let jwk = key.jwk { jwks.append(jwk.json) }
            lives.append("\"\(key.kid)\":{\(members(key, life, isAhead: isAhead).joined(separator: ","))}")
        }
        for (kid, time) in state.revokedElsewhere.sorted(by: { $0.key < $1.key }) {
            lives.append("\"\(kid)\":{\"revokedAt\":\"\(min(time, state.at))\"}")
            revokedCount += 1
        }
        var output = Array("{\"keys\":[".utf8)
        output += jwks.joined(separator: [UInt8(ascii: ",")])
        output += "],\"pushcrypt\":{\"seq\":\(line.number),\"set\":\"\(state.id)\"".utf8
        if let epoch = line.changes.epoch {
            let topics = (state.publication?.topics ?? []).map { "\"\($0)\"" }.joined(separator: ",")
            output += ",\"topics\":[\(topics)],\"epoch\":\(epoch)".utf8
        }
        output += ",\"issuedAt\":\"\(issuedAt)\"".utf8
        if let validUntil = line.changes.validUntil { output += ",\"validUntil\":\"\(validUntil)\"".utf8 }
        output += ",\"head\":\"\(Base64URL.encode(state.head.hash))\"".utf8
        output += ",\"keys\":{\(lives.joined(separator: ","))}}}".utf8
        // A signed set has the payload in base64.
        let byteCount = line.changes.epoch == nil ? output.count : (output.count * 4 + 2) / 3
        guard byteCount <= maximumByteCount, revokedCount <= maximumRevokedCount else {
            throw KeystoreRefusal.setTooLarge
        }
        return output
    }

    private static func members(_ key: KeysetState.Key, _ life: KeyLifecycle, isAhead: Bool) -> [String] {
        let ends: [KeysetChanges.Moment] = isAhead ? [] : [.retiresAt, .expiresAt]
        let moments = key.hasMaterial ? [.activatesAt] + ends + [KeysetChanges.Moment.revokedAt] : [.revokedAt]
        return moments.compactMap { moment in
            life[keyPath: moment.path].map { "\"\(moment.rawValue)\":\"\($0)\"" }
        } + (key.demandsPSK ? ["\"psk\":true"] : [])
    }
}

extension KeysetLog {
    /// The log up to the last line `published` of an epoch, or of the sets without a signature; nil if there is none.
    func lastPublished(_ epoch: Int64?) -> KeysetLog? {
        guard let number = state.published[epoch]?.number else { return nil }
        return points.first { $0.number == number }.flatMap(upTo)
    }
}
