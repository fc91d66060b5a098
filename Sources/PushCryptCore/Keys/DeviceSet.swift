import PushCryptHPKE
import PushCryptPrimitives

/// The day keys that a device publishes in its registration record (PROTOCOL section 14). Public keys only.
///
/// ```
/// deviceSet  = BASE64URL(mac) || "." || set
/// mac        = HMAC-SHA256(K_set, set)
/// K_set      = HKDF-SHA256(ikm: psk, salt: empty, info: "pushcrypt/1 device set" || 0x00 || lp16(kid), 32)
/// ```
package final class DeviceSet: Sendable {
    /// The days of one key. From `activatesAt` until before `retiresAt` a sender uses it.
    package struct Days: Hashable, Sendable {
        package let kid: KeyID
        package let activatesAt: UnixTime
        package let retiresAt: UnixTime

        package init(kid: KeyID, activatesAt: UnixTime, retiresAt: UnixTime) {
            (self.kid, self.activatesAt, self.retiresAt) = (kid, activatesAt, retiresAt)
        }

        package func contains(_ time: UnixTime) -> Bool { activatesAt <= time && time < retiresAt }
    }

    package static let maximumByteCount = 32_768
    package static let keyCounts = 1...16
    /// The times, in seconds, between the sealing of a push and its arrival that a set may allow.
    package static let flights: ClosedRange<Int64> = 86_400...604_800
    /// The member of a registration record.
    package static let memberName = "deviceSet"
    private static let daysInSeconds: ClosedRange<Int64> = 86_400...604_800
    private static let macCharacterCount = 43

    package let sequence: Int64
    package let flightInSeconds: Int64
    /// In the order of their times, which don't overlap.
    package let days: [Days]
    /// The text, without the MAC.
    package let set: [UInt8]
    private let record: KeyRecord
    private let keys: [KeyID: JSONValue]
    /// The last key that was used: a backend that keeps a recipient reads each day's key once.
    private let last = Locked([KeyRecord]())

    /// Reads a set and checks everything except the keys themselves, which ``key(at:)`` and ``checkKeys()`` check.
    ///
    /// - Parameters:
    ///   - text: the device set, UTF-8.
    ///   - record: the registration record. The result has its psk.
    /// - Throws: `KeyError` with `pskMissing` for a record without psk, `tooLarge`, `notAuthentic`, `otherRegistration`, `duplicateKey`,
    ///   `malformed`.
    package init(_ text: ArraySlice<UInt8>, of record: KeyRecord) throws {
        guard case .recipient(_, _, let psk?) = record.material else {
            throw KeyError(.pskMissing, "key \(record.kid): a device set needs a record with a psk")
        }
        guard text.count <= Self.maximumByteCount else {
            throw KeyError(
                .tooLarge,
                "key \(record.kid): a device set has at most \(Self.maximumByteCount) bytes, and this one \(text.count)"
            )
        }
        let (code, set) = (text.prefix(Self.macCharacterCount), Array(text.dropFirst(Self.macCharacterCount + 1)))
        guard text.dropFirst(Self.macCharacterCount).first == UInt8(ascii: "."), let mac = Base64URL.decode(code) else {
            throw KeyError(.malformed, "key \(record.kid): a device set begins with a MAC and a dot")
        }
        let expected = try Self.mac(of: set, psk: psk, record)
        guard constantTimeEqual(expected.bytes, mac.bytes) else {
            throw KeyError(.notAuthentic, "key \(record.kid): its device set was changed, or belongs to another record")
        }
        let root: JSONValue
        do { root = try JSONText(set).root } catch {
            throw KeyError(.malformed, "key \(record.kid): its device set is not strict JSON: \(error)")
        }
        (self.set, self.record) = (set, record)
        (sequence, flightInSeconds, keys, days) = try Self.content(of: root, for: record)
    }

    private static func content(
        of root: JSONValue, for record: KeyRecord
    ) throws -> (sequence: Int64, flight: Int64, keys: [KeyID: JSONValue], days: [Days]) {
        guard let member = root["pushcrypt"], let sequence = member["seq"]?.protocolInteger,
            let flight = member["flight"]?.protocolInteger, flights.contains(flight),
            let times = member["keys"], times.kind == .object, let jwks = root["keys"], jwks.kind == .array,
            keyCounts.contains(jwks.elements.count), times.members.count == jwks.elements.count
        else {
            throw flaw(
                record, "it lacks seq, a flight of 1 to 7 days, 1 to 16 keys, or an entry for each of them and no other"
            )
        }
        guard member["registration"]?.isString(record.kid.description) == true else {
            throw KeyError(.otherRegistration, "key \(record.kid): its device set belongs to another record")
        }
        var keys: [KeyID: JSONValue] = [:]
        for jwk in jwks.elements {
            guard let kid = jwk["kid"]?.utf8.flatMap(KeyID.init(utf8:)) else { throw flaw(record, "a key has no kid") }
            guard kid != record.kid, keys.updateValue(jwk, forKey: kid) == nil else {
                throw KeyError(.duplicateKey, "key \(kid) is in a device set twice, or is its record's")
            }
        }
        let days = try times.members.map { member in
            guard let kid = KeyID(member.name), keys[kid] != nil else { throw flaw(record, "a time belongs to no key") }
            return try self.days(of: kid, member.value, flight: flight)
        }.sorted { $0.activatesAt < $1.activatesAt }
        guard zip(days, days.dropFirst()).allSatisfy({ $0.retiresAt <= $1.activatesAt }) else {
            throw flaw(record, "two keys have the same day")
        }
        return (sequence, flight, keys, days)
    }

    private static func days(of kid: KeyID, _ member: JSONValue, flight: Int64) throws -> Days {
        let lifecycle = try KeyLifecycle(member, of: kid)
        guard let start = lifecycle.activatesAt, let end = lifecycle.retiresAt, try member.demandsPSK(of: kid),
            member.members.count == 4, lifecycle.expiresAt == expiry(retiresAt: end, flight: flight),
            start.seconds % 86_400 == 0, end.seconds % 86_400 == 0, daysInSeconds.contains(end.seconds - start.seconds)
        else {
            throw KeyError(
                .malformed,
                "key \(kid) of a device set has other times than activatesAt, retiresAt 1 to 7 whole days later, and expiresAt a flight "
                    + "and 10 minutes after that, or has no psk")
        }
        return Days(kid: kid, activatesAt: start, retiresAt: end)
    }

    private static func flaw(_ record: KeyRecord, _ reason: String) -> KeyError {
        KeyError(.malformed, "key \(record.kid): its device set is malformed: \(reason)")
    }

    /// When the device erases a key. 10 minutes are for differences of clocks.
    package static func expiry(retiresAt: UnixTime, flight: Int64) -> UnixTime {
        retiresAt + flight + Freshness.toleranceInSeconds
    }

    /// The key to seal to at `time`, with the record's psk; nil if the set has none for that day.
    ///
    /// - Throws: `KeyError` as for the key of a record, and `wrongKind` for one of another suite.
    package func key(at time: UnixTime) throws -> KeyRecord? {
        guard let day = days.first(where: { $0.contains(time) }) else { return nil }
        if let known = last.withLock(\.first), known.kid == day.kid { return known }
        let key = try key(day.kid)
        last.withLock { $0 = [key] }
        return key
    }

    /// Checks every key, once, when a backend gets the set.
    ///
    /// - Throws: as ``key(at:)``.
    package func checkKeys() throws { for day in days { _ = try key(day.kid) } }

    private func key(_ kid: KeyID) throws -> KeyRecord {
        if keys[kid]![Self.memberName] == nil {
            let key = try KeyRecord(keys[kid]!, backend: record.backend)
            if case (.recipient(_, nil, nil), .recipient(_, _, let psk?)) = (key.material, record.material),
                key.algorithm == record.algorithm
            {
                return key.withPSK(psk)
            }
        }
        throw KeyError(
            .wrongKind, "key \(kid) of a device set isn't a public key of suite \(record.algorithm) without psk")
    }
}

/// Writing.
extension DeviceSet {
    /// Writes a device set, UTF-8. It has no secret.
    ///
    /// - Parameters:
    ///   - keys: with the days of each, which don't overlap.
    ///   - record: the registration record, with its psk.
    /// - Throws: `KeyError` with `pskMissing`.
    package static func text(
        of keys: [(jwk: [UInt8], days: Days)], sequence: Int64, flight: Int64, for record: KeyRecord
    ) throws -> [UInt8] {
        guard case .recipient(_, _, let psk?) = record.material else {
            throw KeyError(.pskMissing, "key \(record.kid): a device set needs a record with a psk")
        }
        var set = Array(#"{"keys":["#.utf8)
        for (index, key) in keys.enumerated() {
            if index > 0 { set.append(UInt8(ascii: ",")) }
            set += key.jwk
        }
        set += #"],"pushcrypt":{"seq":\#(sequence),"registration":"\#(record.kid)","flight":\#(flight),"keys":{"#.utf8
        for (index, key) in keys.map(\.days).enumerated() {
            let expiry = expiry(retiresAt: key.retiresAt, flight: flight)
            set +=
                #"\#(index > 0 ? "," : "")"\#(key.kid)":{"activatesAt":"\#(key.activatesAt)","retiresAt":"\#(key.retiresAt)","#
                .utf8
            set += #""expiresAt":"\#(expiry)","psk":true}"#.utf8
        }
        set += "}}}".utf8
        return Array("\(Base64URL.encode(try mac(of: set, psk: psk, record))).".utf8) + set
    }

    private static func mac(of set: [UInt8], psk: SecretBytes, _ record: KeyRecord) throws -> [UInt8] {
        let backend = record.backend
        let key = try withTemporaryBytes(capacity: 36) { info in
            info.append("pushcrypt/1 device set")
            info.append(0)
            info.append(lengthPrefixed: record.kid.description)
            let prk = HKDF.extract(salt: .init(), ikm: psk.bytes, backend: backend)
            return try backend.withHMACSHA256(key: prk.bytes) { hmac in
                try HKDF.expand(hmac, info: info.bytes, count: KeyRecord.secretByteCount)
            }
        }
        return Array(backend.hmacSHA256(of: set.bytes, key: key.bytes).bytes)
    }
}
