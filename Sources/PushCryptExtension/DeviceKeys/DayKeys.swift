import PushCryptCore
import PushCryptPrimitives

/// The day keys of this device and what is remembered with them (PROTOCOL section 14): the content of one item of the key storage.
///
/// ```
/// {"registration": KID, "seq": N, "flight": N, ["confirmed": N,] ["answered": N,] ["lastResort": N,]
///  "listed": [KID, ...],
///  "keys": [{"kid": KID, "of": KID, "from": N, "to": N, "until": N, "flight": N, ["passed": [N, N],] ["R": BASE64URL, "key": JWK]}, ...],
///  "erased": {KID: N, ...}}
/// ```
/// Times are Unix times. JWKs have the private half and the psk. An entry without one is the key of a replaced record, which the
/// storage has by itself.
struct DayKeys {
    struct Key {
        let kid: KeyID
        /// The record of its psk.
        let registration: KeyID
        let activatesAt: UnixTime
        let retiresAt: UnixTime
        let flightInSeconds: Int64
        /// When it may be erased.
        var expiresAt: UnixTime
        /// The first of the readings of the clocks since `expiresAt`.
        var passed: Reading?
        /// R of the record, 32 bytes.
        let name: [UInt8]
        let jwk: SecretBytes?
    }

    /// What two clocks said.
    struct Reading: Equatable {
        /// The clock that the user and the network set.
        let clock: UnixTime
        /// The seconds since the device was started, which nobody sets.
        let uptime: Int64
    }

    /// The record whose set these keys are; nil before the first one.
    private(set) var registration: KeyID?
    private(set) var sequence: Int64 = 0
    private(set) var flightInSeconds: Int64 = 0
    /// The `seq` of the set that the backend has confirmed.
    private var confirmedSequence: Int64?
    /// The date of the backend's last answer.
    private(set) var answeredAt: UnixTime?
    /// When a push to the key of the record was opened.
    private(set) var lastResortOpenedAt: UnixTime?
    /// In the order of their times.
    private(set) var keys: [Key] = []
    /// Those of the set with the present `seq`.
    private var listed: [KeyID] = []
    /// When each key was erased.
    private var erased: [KeyID: UnixTime] = [:]

    /// The number of keys that are kept: a clock that is set forward again and again makes no more.
    private static let maximumCount = 48
    private static let day: Int64 = 86_400
    private static let erasedForInSeconds: Int64 = 60 * day
    /// How long after a flight a replaced record opens: a sender uses what it has read for an hour.
    private static let overlapInSeconds = 3_600 + Freshness.toleranceInSeconds

    init() {}

    /// Whether the backend has the present set of the record.
    func isConfirmed(_ record: KeyID) -> Bool { registration == record && confirmedSequence == sequence }

    /// Whether the set had no key for a time up to `now`.
    func hasRunOut(at now: UnixTime) -> Bool {
        keys.filter { $0.registration == registration && $0.jwk != nil }.allSatisfy { $0.retiresAt <= now }
    }

    /// How long a record of ours opens after it was replaced, in seconds; nil if it has no set.
    func overlapInSeconds(of kid: KeyID) -> Int64? {
        let flight =
            kid == registration ? flightInSeconds : keys.first { $0.kid == kid && $0.jwk == nil }?.flightInSeconds
        return flight.map { $0 + Self.overlapInSeconds }
    }

    var replacedRecords: Set<KeyID> { Set(keys.filter { $0.jwk == nil }.map(\.kid)) }

    /// The ids of the day keys, and of those that were erased.
    var keyIDs: Set<KeyID> { Set(keys.filter { $0.jwk != nil }.map(\.kid)).union(erased.keys) }
}

/// What the app does.
extension DayKeys {
    /// Begins the set of a new record, or none. The keys of the former record stay until the new one is confirmed and a flight has
    /// passed.
    mutating func begin(_ record: KeyID?, _ period: KeyPeriod) {
        guard registration != record else { return }
        if let registration, !keys.contains(where: { $0.kid == registration }) {
            keys.append(
                Key(
                    kid: registration, registration: registration, activatesAt: UnixTime(0), retiresAt: UnixTime(0),
                    flightInSeconds: flightInSeconds, expiresAt: UnixTime(UnixTime.protocolRange.upperBound),
                    passed: nil, name: [], jwk: nil))
        }
        if record != nil { flightInSeconds = period.flightInSeconds }
        (registration, confirmedSequence, lastResortOpenedAt) = (record, nil, nil)
    }

    /// Makes the keys that are missing, and lists those to publish. A change has another `seq`.
    ///
    /// - Parameters:
    ///   - name: R of the record.
    ///   - make: makes a private key with the record's suite and psk.
    mutating func extend(
        _ period: KeyPeriod, name: [UInt8], at clock: UnixTime, _ make: () throws(DeviceKeyError) -> KeyRecord
    ) throws(DeviceKeyError) {
        let now = answeredAt.map { max($0, clock) } ?? clock
        guard let registration, let days = period.days, now.seconds >= 0 else { return }
        var start = UnixTime(now.seconds / Self.day * Self.day)
        let end = start + Int64(period.daysAhead) * Self.day
        while start < end {
            // A key that was made on another day, or by another clock, may cover this one.
            let next = keys.first { $0.registration == registration && $0.jwk != nil && start < $0.retiresAt }
            if let next, next.activatesAt <= start {
                start = next.retiresAt
                continue
            }
            if keys.count >= Self.maximumCount {
                // So many are left only by a clock that was set again and again. Those of days far ahead make room, then the oldest.
                let index = keys.lastIndex { $0.activatesAt >= end } ?? keys.firstIndex { $0.jwk != nil }
                if let index { keys.remove(at: index) }
            }
            let retiresAt = min(start + Int64(days) * Self.day, next?.activatesAt ?? end + 7 * Self.day)
            let record = try make()
            keys.append(
                Key(
                    kid: record.kid, registration: registration, activatesAt: start, retiresAt: retiresAt,
                    flightInSeconds: flightInSeconds,
                    expiresAt: DeviceSet.expiry(retiresAt: retiresAt, flight: flightInSeconds), passed: nil,
                    name: name, jwk: try record.secretJWK()))
            keys.sort { $0.activatesAt < $1.activatesAt }
            start = retiresAt
        }
        let published = keys.filter {
            $0.registration == registration && $0.jwk != nil && now < $0.retiresAt + Self.day
        }
        .prefix(DeviceSet.keyCounts.upperBound).map(\.kid)
        guard published != listed else { return }
        (listed, sequence) = (published, max(sequence + 1, clock.seconds))
    }

    /// The set to publish in the record, UTF-8: the member of its JSON.
    func published(in record: KeyRecord) throws(DeviceKeyError) -> [UInt8] {
        do {
            let keys = try keys.compactMap { key in
                guard let secret = key.jwk, listed.contains(key.kid) else {
                    return nil as (jwk: [UInt8], days: DeviceSet.Days)?
                }
                var jwk = [UInt8]()
                try key.record(secret).publicRecord(keepingPSK: false).appendJWK(to: &jwk)
                return (jwk, DeviceSet.Days(kid: key.kid, activatesAt: key.activatesAt, retiresAt: key.retiresAt))
            }
            return try DeviceSet.text(of: keys, sequence: sequence, flight: flightInSeconds, for: record)
        } catch {
            throw DeviceKeyError(.failed, "the device set of key \(record.kid) can't be written: \(error)")
        }
    }

    /// The backend has confirmed the record with the set of that `seq`.
    ///
    /// - Parameter answer: the date of its answer.
    mutating func confirm(
        _ record: KeyID, sequence: Int64?, answer: UnixTime?, at clock: UnixTime, _ period: KeyPeriod
    ) {
        answeredAt = answer ?? answeredAt
        let isFirst = sequence == nil ? registration != nil : confirmedSequence == nil
        if sequence == nil { begin(nil, period) }
        confirmedSequence = sequence
        guard isFirst else { return }
        let end = (answer ?? max(clock, answeredAt ?? clock)) + Self.overlapInSeconds
        // No sender begins to use those of days to come.
        keys.removeAll { $0.registration != record && $0.jwk != nil && $0.activatesAt > end }
        for index in keys.indices where keys[index].registration != record {
            keys[index].expiresAt = min(keys[index].expiresAt, end + keys[index].flightInSeconds)
        }
    }
}

/// What app and extension do.
extension DayKeys {
    /// A push to the key was opened.
    mutating func opened(_ kid: KeyID, at time: UnixTime) {
        if kid == registration, lastResortOpenedAt == nil { lastResortOpenedAt = time }
    }

    /// Erases the day keys of a record.
    mutating func revoke(_ record: KeyID, at time: UnixTime) {
        for key in keys where key.registration == record && key.jwk != nil { erased[key.kid] = time }
        keys.removeAll { $0.registration == record && $0.jwk != nil }
    }

    /// Erases the keys that clock and a witness say have expired.
    ///
    /// - Parameter highestIssuedAt: the `iat` of accepted pushes; nil if there is none.
    /// - Returns: the keys of replaced records, which the storage has to erase.
    mutating func erase(at now: Reading, highestIssuedAt: UnixTime?) -> [KeyID] {
        let witness = max(highestIssuedAt ?? UnixTime(.min), answeredAt ?? UnixTime(.min))
        var ended: [KeyID] = []
        keys = keys.compactMap { key in
            var key = key
            guard key.expiresAt <= now.clock else {
                key.passed = nil
                return key
            }
            if key.expiresAt <= witness || key.passed.map({ now.isDayAfter($0) }) ?? false {
                if key.jwk == nil { ended.append(key.kid) } else { erased[key.kid] = now.clock }
                return nil
            }
            if key.passed.map({ now.clock < $0.clock }) ?? true { key.passed = now }
            return key
        }
        erased = erased.filter { $0.value + Self.erasedForInSeconds > now.clock }
        return ended
    }
}

extension DayKeys.Reading {
    static func now(_ clock: UnixTime) -> DayKeys.Reading {
        DayKeys.Reading(clock: clock, uptime: SystemClock.secondsSinceStart)
    }

    /// Whether a day has passed, by both clocks. After a restart the second one begins again and says nothing.
    fileprivate func isDayAfter(_ earlier: DayKeys.Reading) -> Bool {
        clock >= earlier.clock + 86_400 && (uptime < earlier.uptime || uptime - earlier.uptime >= 86_400)
    }
}

extension DayKeys.Key {
    fileprivate func record(_ jwk: SecretBytes) throws -> KeyRecord {
        var text = Array(jwk.bytes)
        defer { wipe(&text) }
        return try KeyRecord(JSONText(text).root, backend: DefaultBackend.shared)
    }
}

extension KeyRecord {
    fileprivate func secretJWK() throws(DeviceKeyError) -> SecretBytes {
        var text = [UInt8]()
        text.reserveCapacity(Self.maximumJWKByteCount)
        defer { wipe(&text) }
        do { try appendJWK(to: &text) } catch {
            throw DeviceKeyError(.unsuitable, "key \(kid) can't be written: \(error)")
        }
        return SecretBytes(copying: text.bytes)
    }
}

/// The text.
extension DayKeys {
    /// The private key of a push, read without the others.
    ///
    /// - Returns: nil if the item has no such key.
    /// - Throws: `keyExpired` for a key that was erased, `unsupportedSuite`.
    static func key(_ kid: KeyID, in item: SecretBytes) throws(FailureClass) -> RecipientKey? {
        var text = Array(item.bytes)
        defer { wipe(&text) }
        guard let root = (try? JSONText(text))?.root else { return nil }
        let name = kid.description
        guard root["erased"]?[name] == nil else { throw .keyExpired }
        guard let key = root["keys"]?.elements.first(where: { $0["kid"]?.isString(name) == true }),
            let jwk = key["key"],
            let name = key["R"]?.utf8.flatMap(Base64URL.decode)
        else { return nil }
        do {
            let record = try KeyRecord(jwk, backend: DefaultBackend.shared)
            return try RecipientKey(Keyset.Entry(record, KeyLifecycle()), name: name)
        } catch {
            if (error as? KeyError)?.code == .unsupportedSuite { throw .unsupportedSuite }
            return nil
        }
    }

    /// - Returns: nil for a text of another form.
    init?(_ item: SecretBytes) {
        var text = Array(item.bytes)
        defer { wipe(&text) }
        guard let root = (try? JSONText(text))?.root, let keys = root["keys"], keys.kind == .array,
            let sequence = root["seq"]?.protocolInteger, let flight = root["flight"]?.protocolInteger
        else { return nil }
        registration = root["registration"]?.utf8.flatMap(KeyID.init(utf8:))
        (self.sequence, flightInSeconds) = (sequence, flight)
        confirmedSequence = root["confirmed"]?.protocolInteger
        answeredAt = root["answered"]?.unixTime
        lastResortOpenedAt = root["lastResort"]?.unixTime
        listed = root["listed"]?.elements.compactMap { $0.utf8.flatMap(KeyID.init(utf8:)) } ?? []
        for element in keys.elements {
            guard let key = Key(element) else { return nil }
            self.keys.append(key)
        }
        guard let erased = root["erased"] else { return }
        for member in erased.members {
            if let kid = KeyID(member.name), let time = member.value.unixTime { self.erased[kid] = time }
        }
    }

    /// The item. It is a secret.
    var item: SecretBytes {
        func member(_ name: String, _ value: (some Any)?) -> String { value.map { #""\#(name)":\#($0),"# } ?? "" }
        var text = [UInt8]()
        text.reserveCapacity(1_024 + keys.reduce(0) { $0 + 256 + ($1.jwk?.count ?? 0) } + 32 * erased.count)
        defer { wipe(&text) }
        text += "{".utf8
        text += member("registration", registration.map { "\"\($0)\"" }).utf8
        text += #""seq":\#(sequence),"flight":\#(flightInSeconds),"#.utf8
        text += member("confirmed", confirmedSequence).utf8
        text += (member("answered", answeredAt?.seconds) + member("lastResort", lastResortOpenedAt?.seconds)).utf8
        text += #""listed":[\#(listed.map { "\"\($0)\"" }.joined(separator: ","))],"keys":["#.utf8
        for (index, key) in keys.enumerated() {
            if index > 0 { text += ",".utf8 }
            text += #"{"kid":"\#(key.kid)","of":"\#(key.registration)","from":\#(key.activatesAt.seconds),"#.utf8
            text += member("passed", key.passed.map { "[\($0.clock.seconds),\($0.uptime)]" }).utf8
            if let jwk = key.jwk {
                text += #""R":"\#(Base64URL.encode(key.name))","key":"#.utf8
                text.append(contentsOf: jwk.bytes)
                text += ",".utf8
            }
            text +=
                #""to":\#(key.retiresAt.seconds),"until":\#(key.expiresAt.seconds),"flight":\#(key.flightInSeconds)}"#
                .utf8
        }
        text += #"],"erased":{"#.utf8
        text +=
            erased.sorted { $0.key < $1.key }.map { #""\#($0.key)":\#($0.value.seconds)"# }.joined(separator: ",").utf8
        text += "}}".utf8
        return SecretBytes(copying: text.bytes)
    }
}

extension DayKeys.Key {
    fileprivate init?(_ value: JSONValue) {
        guard let kid = value["kid"]?.utf8.flatMap(KeyID.init(utf8:)),
            let registration = value["of"]?.utf8.flatMap(KeyID.init(utf8:)), let activatesAt = value["from"]?.unixTime,
            let retiresAt = value["to"]?.unixTime, let expiresAt = value["until"]?.unixTime,
            let flight = value["flight"]?.protocolInteger
        else { return nil }
        let passed = value["passed"]?.elements.compactMap(\.protocolInteger) ?? []
        self.init(
            kid: kid, registration: registration, activatesAt: activatesAt, retiresAt: retiresAt,
            flightInSeconds: flight, expiresAt: expiresAt,
            passed: passed.count == 2 ? .init(clock: UnixTime(passed[0]), uptime: passed[1]) : nil,
            name: value["R"]?.utf8.flatMap(Base64URL.decode) ?? [],
            jwk: value["key"].map { SecretBytes(copying: $0.rawBytes.bytes) })
    }
}

extension JSONValue {
    fileprivate var unixTime: UnixTime? { protocolInteger.map { UnixTime($0) } }
}
