import PushCryptCore

/// The lifecycles of all stored keys. They are read one key at a time; no key material stays in memory.
struct DeviceKeyTimelines {
    /// The device's own key pairs.
    private(set) var pairs = KeyTimeline([])
    /// Device keys of shared masters. The backend determines their lifecycles.
    private(set) var adopted = KeyTimeline([])
    /// The suites of the pairs.
    private var suites: Set<Suite> = []

    /// Ignores damaged keys and those of a suite that this system doesn't have: they open nothing, and their expiry is unknown.
    /// Throws `DeviceKeyError` with `locked` if any key can't be read.
    init(_ storage: any DeviceKeyStorage) throws(DeviceKeyError) {
        for kid in try storage.keyIDs() {
            do throws(DeviceKeyError) {
                add(try storage.load(kid))
            } catch  where [.damaged, .unsupportedSuite, .notFound].contains(error.code) {}
        }
    }

    private mutating func add(_ key: DeviceKey) {
        let lifecycle = KeyTimeline.Key(key.kid, key.lifecycle)
        if key.kind == .recipient {
            pairs.keys.append(lifecycle)
            if let suite = key.record.algorithm.suite { suites.insert(suite) }
        } else {
            adopted.keys.append(lifecycle)
        }
        // The last write of any key counts for all of them.
        let writtenAt = [pairs.updatedAt, key.writtenAt].compactMap(\.self).max()
        pairs.updatedAt = writtenAt
        adopted.updatedAt = writtenAt
    }

    /// The newest pair that wasn't replaced or revoked, which the app registers.
    func current(at time: UnixTime) -> KeyTimeline.Key? {
        let now = pairs.effective(time)
        return pairs.keys.filter { $0.lifecycle.retiresAt == nil && $0.lifecycle.state(at: now).opens }
            .max { ($0.createdAt, $0.kid) < ($1.createdAt, $1.kid) }
    }

    /// The suite of a new pair: `suite`, or that of a stored pair that ranks above it.
    func suite(atLeast suite: Suite) -> Suite { suites.first { !suite.isAtLeast($0) } ?? suite }

    /// The creation time of a new pair: later than all others, so that their order is unique.
    func creationTime(_ time: UnixTime) -> UnixTime {
        pairs.keys.map { $0.createdAt + 1 }.reduce(pairs.effective(time), max)
    }

    /// The pairs that the primary pair replaced and that don't expire yet, with their new retirement and expiry.
    ///
    /// A confirmation writes the primary pair's lifecycle first. After an interruption, this function computes the other
    /// lifecycles from it.
    ///
    /// - Parameter overlap: how long a replaced pair still opens, in seconds.
    func replaced(at time: UnixTime, overlap: (KeyID) -> Int64) -> [KeyTimeline.Key] {
        guard let primary = pairs.primary(at: time), let end = primary.lifecycle.activatesAt else { return [] }
        return pairs.keys.filter { $0.lifecycle.expiresAt == nil && $0.isReplaced(by: primary) }.map { key in
            var ended = key
            ended.lifecycle.retiresAt = end
            ended.lifecycle.expiresAt = end + overlap(key.kid)
            return ended
        }
    }

    /// The keys that no longer open; none if the clock is more than 400 days after the last write, so that a device with
    /// the wrong year erases nothing.
    func ended(at time: UnixTime) -> [KeyID] {
        guard let writtenAt = pairs.updatedAt, time <= writtenAt + Self.plausibleStepInSeconds else { return [] }
        return (pairs.keys + adopted.keys).filter { !$0.lifecycle.state(at: pairs.effective(time)).opens }.map(\.kid)
    }

    private static let plausibleStepInSeconds: Int64 = 400 * 86_400
}

extension KeyTimeline.Key {
    fileprivate var createdAt: UnixTime { lifecycle.createdAt ?? UnixTime(0) }

    /// A later pair replaces a pair that awaits its registration; a later registered pair replaces a registered one.
    fileprivate func isReplaced(by primary: KeyTimeline.Key) -> Bool {
        lifecycle.activatesAt == nil ? createdAt < primary.createdAt : rank < primary.rank
    }
}
