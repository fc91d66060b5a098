import PushCryptCore

/// The lives of the keys in a storage. They are read one key at a time; no key material stays.
struct DeviceKeyLives {
    /// The device's own key pairs.
    private(set) var pairs = KeyTimeline([])
    /// Device keys of shared masters, which come and go as the backend says.
    private(set) var adopted = KeyTimeline([])

    /// Damaged keys are left out: they open nothing, and nobody knows when they end.
    ///
    /// - Throws: `DeviceKeyError` with `locked` if any key can't be read.
    init(_ storage: any DeviceKeyStorage) throws(DeviceKeyError) {
        for kid in try storage.keyIDs() {
            do throws(DeviceKeyError) {
                add(try storage.load(kid))
            } catch  where error.code == .damaged || error.code == .notFound {}
        }
    }

    private mutating func add(_ key: DeviceKey) {
        let life = KeyTimeline.Key(key.kid, key.lifecycle)
        if key.kind == .recipient { pairs.keys.append(life) } else { adopted.keys.append(life) }
        // Time is one for all of them.
        let writtenAt = [pairs.updatedAt, key.writtenAt].compactMap(\.self).max()
        (pairs.updatedAt, adopted.updatedAt) = (writtenAt, writtenAt)
    }

    /// The newest pair that wasn't replaced or revoked: the one to be registered.
    func current(at time: UnixTime) -> KeyTimeline.Key? {
        let now = pairs.effective(time)
        return pairs.keys.filter { $0.lifecycle.retiresAt == nil && $0.lifecycle.state(at: now).opens }
            .max { ($0.createdAt, $0.kid) < ($1.createdAt, $1.kid) }
    }

    /// When a new pair is made: after all the others, so that their order is never in doubt.
    func creationTime(_ time: UnixTime) -> UnixTime {
        pairs.keys.map { $0.createdAt + 1 }.reduce(pairs.effective(time), max)
    }

    /// The ends that are due: of every pair that the primary one replaced and that has none yet.
    ///
    /// A confirmation writes the primary's life first; whatever was interrupted after that follows from it later.
    ///
    /// - Parameter overlap: how long a replaced pair opens, in seconds.
    func replaced(at time: UnixTime, overlap: Int64) -> [KeyTimeline.Key] {
        guard let primary = pairs.primary(at: time), let end = primary.lifecycle.activatesAt else { return [] }
        return pairs.keys.filter { $0.lifecycle.expiresAt == nil && $0.isReplaced(by: primary) }.map { key in
            var ended = key
            ended.lifecycle.retiresAt = end
            ended.lifecycle.expiresAt = end + overlap
            return ended
        }
    }

    /// The keys that open no more; none where the clock is further after the last write than 400 days: a device that
    /// boots in the wrong year erases nothing.
    func ended(at time: UnixTime) -> [KeyID] {
        guard let writtenAt = pairs.updatedAt, time <= writtenAt + Self.plausibleStepInSeconds else { return [] }
        return (pairs.keys + adopted.keys).filter { !$0.lifecycle.state(at: pairs.effective(time)).opens }.map(\.kid)
    }

    private static let plausibleStepInSeconds: Int64 = 400 * 86_400
}

extension KeyTimeline.Key {
    fileprivate var createdAt: UnixTime { lifecycle.createdAt ?? UnixTime(0) }

    /// A pair that awaits its registration was replaced by what was made after it, one that had it by what had it later.
    fileprivate func isReplaced(by primary: KeyTimeline.Key) -> Bool {
        lifecycle.activatesAt == nil ? createdAt < primary.createdAt : rank < primary.rank
    }
}
