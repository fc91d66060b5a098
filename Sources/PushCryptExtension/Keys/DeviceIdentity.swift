public import PushCryptCore
import PushCryptPrimitives

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The device's own keys, for the app: makes the pair, gives the record to upload, rotates it, throws old ones away. Never
/// in the extension: that only reads.
///
/// ```
/// let record = try identity.makeIfNeeded()
/// if !record.isConfirmed { upload(record); try identity.confirmRegistered(record.kid) }
/// ```
/// A new pair opens from the moment it is made, before anybody can know it. The pair before it goes on opening, without an
/// end, until the app confirms that the backend has the new one, and from then on for the overlap: a failed upload costs
/// nothing, however long it takes to succeed. Calls that were interrupted are taken up by the next one.
///
/// One object per storage and app; its calls come one after the other. They wait for the disk or the keychain.
public final class DeviceIdentity: Sendable {
    /// How pairs are made and replaced; a change holds from the next pair on.
    public struct Options: Sendable {
        /// `p256` or `x25519`.
        public var suite: Suite
        /// Whether only who has the registration record can seal; backends that know HPKE's base mode only can't.
        public var withPSK: Bool
        /// How long a replaced pair still opens after its successor was confirmed. Never less than the 30 days that a
        /// push can be on its way, and ten minutes for clocks that differ.
        public var overlapInSeconds: Int64

        public init(suite: Suite = .p256, withPSK: Bool = true, overlapInSeconds: Int64 = 30 * 86_400) {
            self.suite = suite
            self.withPSK = withPSK
            self.overlapInSeconds = overlapInSeconds
        }

        var wholeOverlapInSeconds: Int64 {
            max(overlapInSeconds, RotationPolicy.longestFlightInSeconds) + Freshness.toleranceInSeconds
        }
    }

    let storage: any DeviceKeyStorage
    let options: Options
    private let clock: @Sendable () -> UnixTime
    private let turn = Locked(())

    /// - Parameter clock: tells the time that lives are written with.
    public init(
        storage: any DeviceKeyStorage, options: Options = Options(),
        clock: @escaping @Sendable () -> UnixTime = { UnixTime(Int64(Date().timeIntervalSince1970)) }
    ) {
        self.storage = storage
        self.options = options
        self.clock = clock
    }

    /// The record of the newest pair, confirmed or not; nil where there is none.
    ///
    /// - Throws: `DeviceKeyError` with `locked` before the first unlock.
    public func current() throws(DeviceKeyError) -> RegistrationRecord? {
        try inTurn { lives, now throws(DeviceKeyError) in try self.record(of: lives.current(at: now)) }
    }

    /// The same; where there is no pair, one is made.
    ///
    /// - Throws: `DeviceKeyError` with `locked` before the first unlock: nothing is made then. Call it again when the
    ///   protected data is there.
    public func makeIfNeeded() throws(DeviceKeyError) -> RegistrationRecord {
        try inTurn { lives, now throws(DeviceKeyError) in
            if let current = try self.record(of: lives.current(at: now)) { return current }
            return try self.make(lives, now)
        }
    }

    /// Makes a new pair to register. A pair that still awaits its confirmation is returned as it is: neither a retry nor a
    /// crash makes another one.
    ///
    /// - Throws: `DeviceKeyError` with `locked`.
    public func rotate() throws(DeviceKeyError) -> RegistrationRecord {
        try inTurn { lives, now throws(DeviceKeyError) in
            let current = try self.record(of: lives.current(at: now))
            if let current, !current.isConfirmed { return current }
            return try self.make(lives, now)
        }
    }

    private func make(_ lives: DeviceKeyLives, _ now: UnixTime) throws(DeviceKeyError) -> RegistrationRecord {
        try RegistrationRecord(
            try storage.make(options.suite, withPSK: options.withPSK, at: lives.creationTime(now)))
    }

    private func record(of key: KeyTimeline.Key?) throws(DeviceKeyError) -> RegistrationRecord? {
        guard let key else { return nil }
        return try RegistrationRecord(try storage.load(key.kid))
    }

    /// One call at a time; each begins with what an interrupted one left to do.
    func inTurn<Value: Sendable>(
        _ body: @Sendable (DeviceKeyLives, UnixTime) throws(DeviceKeyError) -> Value
    ) throws(DeviceKeyError) -> Value {
        try turn.withLock { _ in
            Result { () throws(DeviceKeyError) in
                let now = self.clock()
                return try body(try self.endReplaced(now), now)
            }
        }.get()
    }

    /// - Returns: the lives as they are then.
    @discardableResult
    func endReplaced(_ now: UnixTime) throws(DeviceKeyError) -> DeviceKeyLives {
        let lives = try DeviceKeyLives(storage)
        let replaced = lives.replaced(at: now, overlap: options.wholeOverlapInSeconds)
        for key in replaced { try storage.update(key.kid, to: key.lifecycle, at: now) }
        return replaced.isEmpty ? lives : try DeviceKeyLives(storage)
    }
}
