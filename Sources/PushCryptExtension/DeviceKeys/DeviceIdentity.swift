public import PushCryptCore
public import PushCryptPrimitives

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Manages the device's keys in the app: makes the key pair, returns the record to upload, rotates the pair and erases old
/// pairs. The extension doesn't use it: it reads keys, and erases day keys.
///
/// ```
/// let record = try identity.makeIfNeeded()
/// if !record.isConfirmed { upload(record); try identity.confirmRegistered(record) }
/// ```
/// A new pair opens as soon as it is made. The previous pair still opens until the app confirms that the backend has the
/// new one, and then for the overlap, so no push is lost while an upload fails. The next call completes an interrupted
/// call.
///
/// Create one object per storage and app. It runs one call at a time; calls wait for the disk or the keychain.
public final class DeviceIdentity: Sendable {
    /// How pairs are made and replaced. A change applies to the next pair.
    public struct Options: Sendable {
        /// `p256`, `x25519` or `xWing`. Not every system has X-Wing: `Suite.xWing.isAvailable ? .xWing : .p256` makes a pair that
        /// resists quantum computers where the system can. To change the pair of an installed app over, call ``rotate()``.
        ///
        /// A device never goes back: while it has an X-Wing pair, new pairs are X-Wing pairs for every value, because a backend
        /// refuses a record of a lower suite. After ``DeviceIdentity/eraseAll()`` the value counts again.
        public var suite: Suite
        /// Whether the pair has a pre-shared key, so that only backends with the registration record can seal. A backend
        /// that supports only HPKE's base mode needs a pair without it.
        public var withPSK: Bool
        /// How long, in seconds, a replaced pair still opens after its successor was confirmed. At least 30 days are used,
        /// the longest delivery time of a push, plus ten minutes for clock differences.
        public var overlapInSeconds: Int64

        /// Creates options; the default overlap is 30 days.
        public init(suite: Suite = .p256, withPSK: Bool = true, overlapInSeconds: Int64 = 30 * 86_400) {
            self.suite = suite
            self.withPSK = withPSK
            self.overlapInSeconds = overlapInSeconds
        }

        var effectiveOverlapInSeconds: Int64 {
            max(overlapInSeconds, RotationPolicy.longestFlightInSeconds) + Freshness.toleranceInSeconds
        }
    }

    let storage: any DeviceKeyStorage
    let options: Options
    private let clock: @Sendable () -> UnixTime
    private let turn = Locked(())

    /// Creates an identity. The clock determines the times of lifecycles.
    public init(
        storage: any DeviceKeyStorage, options: Options = Options(),
        clock: @escaping @Sendable () -> UnixTime = { .now }
    ) {
        self.storage = storage
        self.options = options
        self.clock = clock
    }

    /// Returns the record of the newest pair, confirmed or not, with day keys as in ``makeIfNeeded()``; nil if there is none.
    ///
    /// - Throws: `DeviceKeyError` with `locked` before the first unlock.
    public func current() throws(DeviceKeyError) -> RegistrationRecord? {
        try inTurn { timelines, now throws(DeviceKeyError) in
            try timelines.current(at: now).map { pair throws(DeviceKeyError) in
                try self.extended(storage.load(pair.kid), at: now)
            }
        }
    }

    /// Returns the record of the newest pair, with the day keys for the days to come if the storage's period has any. It makes a
    /// pair if there is none, and if the period demands a new one.
    ///
    /// - Throws: `DeviceKeyError` with `locked` before the first unlock; no pair is made. Call it again when protected
    ///   data is available.
    public func makeIfNeeded() throws(DeviceKeyError) -> RegistrationRecord {
        try inTurn { timelines, now throws(DeviceKeyError) in
            guard let current = timelines.current(at: now), try !self.mustRenew(current, at: now) else {
                return try self.make(timelines, now)
            }
            return try self.extended(storage.load(current.kid), at: now)
        }
    }

    /// Whether a pair must be replaced (PROTOCOL section 14). One that awaits its confirmation never is, unless day keys end.
    private func mustRenew(_ pair: KeyTimeline.Key, at now: UnixTime) throws(DeviceKeyError) -> Bool {
        let (period, age) = (storage.period, (now - (pair.lifecycle.createdAt ?? now).seconds).seconds)
        let days = try storage.dayKeys().flatMap(DayKeys.init)
        guard period.days != nil, options.withPSK else {
            return days?.registration == pair.kid || pair.lifecycle.activatesAt != nil && age >= period.renewalInSeconds
        }
        guard pair.lifecycle.activatesAt != nil else { return false }
        if age >= period.renewalInSeconds { return true }
        guard let days, days.registration == pair.kid, days.flightInSeconds == period.flightInSeconds else {
            return true
        }
        // A pair of a time to come was made by a clock that was ahead.
        return !(0..<86_400).contains(age) && (days.lastResortOpenedAt != nil || days.hasRunOut(at: now))
    }

    /// The record of a pair with its day keys, after the missing ones were made.
    private func extended(_ pair: DeviceKey, at now: UnixTime) throws(DeviceKeyError) -> RegistrationRecord {
        let period = storage.period
        if period.days != nil, case .recipient(let publicKey, _, let psk?) = pair.record.material {
            let name: [UInt8]
            do { name = try pair.record.recipientName() ?? [] } catch { throw DeviceKeyError(.failed, "\(error)") }
            try storage.changeDayKeys { days throws(DeviceKeyError) in
                days.begin(pair.kid, period)
                try days.extend(period, name: name, at: now) { () throws(DeviceKeyError) in
                    try DeviceKey.generate(Suite(publicKey.type), psk: psk, at: now).record
                }
            }
        }
        return try RegistrationRecord(pair, storage)
    }

    /// Makes a new pair to register; throws `locked`. A pair that still awaits its confirmation is returned unchanged, so
    /// retries and crashes make no further pairs.
    public func rotate() throws(DeviceKeyError) -> RegistrationRecord {
        try inTurn { timelines, now throws(DeviceKeyError) in
            if let current = timelines.current(at: now), current.lifecycle.activatesAt == nil,
                try !self.mustRenew(current, at: now)
            {
                return try self.extended(storage.load(current.kid), at: now)
            }
            return try self.make(timelines, now)
        }
    }

    private func make(_ timelines: DeviceKeyTimelines, _ now: UnixTime) throws(DeviceKeyError) -> RegistrationRecord {
        let suite = timelines.suite(atLeast: options.suite)
        return try extended(
            storage.make(suite, withPSK: options.withPSK, at: timelines.creationTime(now)), at: now)
    }

    /// Runs one call at a time, after completing an interrupted call.
    func inTurn<Value: Sendable>(
        _ body: @Sendable (DeviceKeyTimelines, UnixTime) throws(DeviceKeyError) -> Value
    ) throws(DeviceKeyError) -> Value {
        try turn.withLock { _ in
            Result { () throws(DeviceKeyError) in
                let now = self.clock()
                return try body(try self.endReplaced(now), now)
            }
        }.get()
    }

    /// Retires the replaced pairs and returns the lifecycles after that.
    @discardableResult
    func endReplaced(_ now: UnixTime) throws(DeviceKeyError) -> DeviceKeyTimelines {
        let timelines = try DeviceKeyTimelines(storage)
        let days = try storage.dayKeys().flatMap(DayKeys.init)
        let replaced = timelines.replaced(at: now) { kid in
            days?.overlapInSeconds(of: kid) ?? options.effectiveOverlapInSeconds
        }
        for key in replaced { try storage.update(key.kid, to: key.lifecycle, at: now) }
        return replaced.isEmpty ? timelines : try DeviceKeyTimelines(storage)
    }

    /// Confirms that the backend has the record and seals to this pair from now on. Earlier pairs still open for the
    /// overlap.
    ///
    /// Call it only after a successful upload. If the app ends before this call, `isConfirmed` is false at the next
    /// start: upload the same record again.
    ///
    /// - Parameters:
    ///   - record: that was uploaded.
    ///   - answeredAt: the date of the backend's answer, by which day keys are erased; nil if it isn't known.
    /// - Throws: `DeviceKeyError` with `notFound`; `superseded` if a newer pair was confirmed: upload the record of
    ///   ``current()``; `locked`.
    public func confirmRegistered(
        _ record: RegistrationRecord, answeredAt: UnixTime? = nil
    ) throws(DeviceKeyError) {
        let kid = record.kid
        try inTurn { timelines, now throws(DeviceKeyError) in
            guard var lifecycle = timelines.pairs.key(kid)?.lifecycle else {
                throw DeviceKeyError(.notFound, "the device has no key pair \(kid)")
            }
            guard lifecycle.retiresAt == nil, lifecycle.revokedAt == nil else {
                throw DeviceKeyError(.superseded, "key \(kid) was replaced or revoked; register the current key")
            }
            if lifecycle.activatesAt == nil {
                lifecycle.activatesAt = max(
                    timelines.pairs.effective(now), lifecycle.createdAt ?? now, answeredAt ?? now)
                try self.storage.update(kid, to: lifecycle, at: now)
                try self.endReplaced(now)
            }
            // A newer pair that awaits its confirmation has begun its set.
            guard timelines.current(at: now)?.kid == kid, try self.storage.dayKeys() != nil else { return }
            try self.storage.changeDayKeys {
                $0.confirm(kid, sequence: record.setSequence, answer: answeredAt, at: now, self.storage.period)
            }
        }
    }

    /// Erases the day keys that have expired, and the keys of records that were replaced.
    ///
    /// - Parameter highestIssuedAt: the greatest `iat` of the accepted pushes; nil if there is none.
    /// - Throws: `DeviceKeyError` with `locked`.
    public func eraseExpired(highestIssuedAt: UnixTime?) throws(DeviceKeyError) {
        try inTurn { _, now throws(DeviceKeyError) in
            try self.storage.eraseDayKeys(at: .now(now), highestIssuedAt: highestIssuedAt)
        }
    }

    /// Revokes a key at once, with its day keys. It opens no further push, not even a push that is being delivered.
    ///
    /// - Throws: `DeviceKeyError` with `notFound`, `locked`.
    public func revoke(_ kid: KeyID) throws(DeviceKeyError) {
        try inTurn { timelines, now throws(DeviceKeyError) in
            guard var lifecycle = (timelines.pairs.key(kid) ?? timelines.adopted.key(kid))?.lifecycle else {
                throw DeviceKeyError(.notFound, "the device has no key \(kid)")
            }
            guard lifecycle.revokedAt == nil else { return }
            lifecycle.revokedAt = timelines.pairs.effective(now)
            try self.storage.update(kid, to: lifecycle, at: now)
            if try self.storage.dayKeys() != nil { try self.storage.changeDayKeys { $0.revoke(kid, at: now) } }
        }
    }

    /// Erases expired and revoked keys and returns their ids, unless the clock is more than 400 days after the last change,
    /// so that a device with the wrong year erases nothing. Throws `locked`.
    @discardableResult
    public func prune() throws(DeviceKeyError) -> [KeyID] {
        try inTurn { timelines, now throws(DeviceKeyError) in
            // Those of records with day keys wait for a second witness: `eraseExpired`.
            let waiting = try self.storage.dayKeys().flatMap(DayKeys.init)?.replacedRecords ?? []
            let ended = timelines.ended(at: now).filter { !waiting.contains($0) }
            for kid in ended { try self.storage.remove(kid) }
            return ended
        }
    }

    /// Erases all keys, including damaged ones, when the user signs out. Pushes that are being delivered no longer
    /// open.
    ///
    /// - Throws: `DeviceKeyError` with `locked`; some keys may be erased, and another call erases the rest.
    public func eraseAll() throws(DeviceKeyError) {
        try inTurn { _, _ throws(DeviceKeyError) in
            _ = try self.storage.replaceDayKeys(nil, by: nil)
            for kid in try self.storage.keyIDs() { try self.storage.remove(kid) }
        }
    }

    /// Stores keys that the backend derived for this device from a shared master (suite 4): a JWK with `device`, or a JWK
    /// set with lifecycles. The set's lifecycle replaces that of a stored key.
    ///
    /// - Parameter jwk: UTF-8 JSON, a secret. Wipe it afterwards.
    /// - Throws: `DeviceKeyError` with `unsuitable` for any other key, in particular a master, with which the device could
    ///   open the pushes of other devices; `conflict`, `locked`.
    public func adopt(jwk: [UInt8]) throws(DeviceKeyError) {
        let keyset: Keyset
        do { keyset = try Keyset(json: jwk) } catch { throw DeviceKeyError(.unsuitable, "not a device key: \(error)") }
        guard keyset.entries.allSatisfy(\.record.isDeviceKey) else {
            throw DeviceKeyError(
                .unsuitable, "not a device key: a device must not have a master or a shared key without a device id")
        }
        try inTurn { timelines, now throws(DeviceKeyError) in
            for entry in keyset.entries {
                try self.storage.add(try DeviceKey(entry.record, entry.lifecycle, writtenAt: now))
                if let stored = timelines.adopted.key(entry.record.kid), stored.lifecycle != entry.lifecycle {
                    try self.storage.update(stored.kid, to: entry.lifecycle, at: now)
                }
            }
        }
    }
}

/// The record that the app uploads so that its backend can seal to this device.
public struct RegistrationRecord: Sendable {
    /// The id of the key pair.
    public let kid: KeyID
    /// The public JWK, UTF-8 JSON, with the device's day keys if it has any. If it contains a psk, the record is a secret between app and backend. Upload it over TLS
    /// to an authenticated endpoint, and keep no copy.
    public let jwk: SecretBytes
    /// Whether ``DeviceIdentity/confirmRegistered(_:answeredAt:)`` was called, also for the newest day keys; if not, upload the record.
    public let isConfirmed: Bool
    /// The `seq` of the device set; nil without one.
    let setSequence: Int64?

    /// The record as the body of its upload, UTF-8 JSON. This copy of a secret can't be wiped: keep it only for the request.
    public var requestBody: Data { Data(Array(jwk.bytes)) }

    fileprivate init(_ key: DeviceKey, _ storage: any DeviceKeyStorage) throws(DeviceKeyError) {
        let days = try storage.dayKeys().flatMap(DayKeys.init).flatMap { $0.registration == key.kid ? $0 : nil }
        let set = try days?.published(in: key.record)
        var text = [UInt8]()
        text.reserveCapacity(KeyRecord.maximumJWKByteCount + 2 * (set?.count ?? 0))
        defer { wipe(&text) }
        do { try key.record.publicRecord(keepingPSK: true).appendJWK(to: &text) } catch {
            throw DeviceKeyError(.failed, "key \(key.kid) can't be written: \(error)")
        }
        if let set {
            text.removeLast()
            text += #","\#(DeviceSet.memberName)":"#.utf8
            JSONWriter.appendString(utf8: set[...], to: &text)
            text += "}".utf8
        }
        kid = key.kid
        jwk = SecretBytes(copying: text.bytes)
        isConfirmed = key.lifecycle.activatesAt != nil && days?.isConfirmed(key.kid) ?? true
        setSequence = days?.sequence
    }
}
