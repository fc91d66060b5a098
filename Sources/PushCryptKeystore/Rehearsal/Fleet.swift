package import PushCryptKeysets

/// The devices of a rehearsal. ``Rehearsal`` describes the model.
package struct Fleet: Hashable, Sendable {
    package let devices: Int
    /// Half of the devices fetch keys at least this often.
    package let refreshP50InSeconds: Int64
    /// 99 of 100 devices fetch keys at least this often.
    package let refreshP99InSeconds: Int64
    /// The share of the devices that is offline at any moment, 0 to 0.9.
    package let offline: Double
    /// The seed of the random generator. The same seed yields the same devices.
    let seed: UInt64

    static let longestInSeconds: Int64 = 36_525 * 86_400
    /// Between two pushes to one device: 3 a day.
    static let pushIntervalInSeconds: Int64 = 86_400 / 3

    /// - Throws: `KeystoreError` with `invalidFleet`.
    package init(
        devices: Int, refreshP50InSeconds p50: Int64, refreshP99InSeconds p99: Int64, offline: Double, seed: UInt64 = 1
    ) throws(KeystoreError) {
        func require(_ condition: Bool, _ reason: String) throws(KeystoreError) {
            guard condition else { throw KeystoreError(.invalidFleet, reason) }
        }
        try require((1...100_000_000).contains(devices), "a fleet has 1 to 100,000,000 devices")
        try require(p50 >= 1, "the refresh p50 is at least one second")
        try require(p99 > p50, "the refresh p99 must be longer than the p50")
        try require(p99 <= Self.longestInSeconds, "the refresh p99 is at most 100 years")
        try require((0...0.9).contains(offline), "the share of devices offline is 0 to 90%")
        (self.devices, self.offline, self.seed) = (devices, offline, seed)
        (refreshP50InSeconds, refreshP99InSeconds) = (p50, p99)
    }
}

extension Fleet {
    /// The sum over all devices, a part for each worker.
    func sum<Sum: Sendable>(
        _ zero: Sum, workers: Int, of part: @escaping @Sendable (Range<Int>) -> Sum, _ add: (inout Sum, Sum) -> Void
    ) async -> Sum {
        let workers = min(max(workers, 1), devices)
        return await withTaskGroup(of: Sum.self) { group in
            for worker in 0..<workers {
                let range = devices * worker / workers..<devices * (worker + 1) / workers
                group.addTask { part(range) }
            }
            return await group.reduce(into: zero) { add(&$0, $1) }
        }
    }
}

extension KeystoreError.Code {
    package static let invalidFleet = KeystoreError.Code(name: "invalidFleet")
}
