import PushCryptCore

@testable import PushCryptKeystore

let hour: Int64 = 3_600

extension Fleet {
    /// A small fleet. Half of the devices fetch at least daily, 99 of 100 at least every 20 days; 30 % are offline.
    static func small(
        devices: Int = 300, p50: Int64 = day, p99: Int64 = 20 * day, offline: Double = 0.3, seed: UInt64 = 1
    ) throws -> Fleet {
        try Fleet(devices: devices, refreshP50InSeconds: p50, refreshP99InSeconds: p99, offline: offline, seed: seed)
    }
}

extension RehearsedRotation {
    static func days(_ rotateEvery: Int64, lead: Int64) -> RehearsedRotation {
        RehearsedRotation(rotateEveryInSeconds: rotateEvery * day, publishLeadInSeconds: lead * day)
    }
}

extension RotationPolicy {
    static func rehearsed(_ rotateEvery: Int64, lead: Int64, coverage: String? = nil) throws -> RotationPolicy {
        try RotationPolicy(
            rotateEveryInSeconds: rotateEvery * day, publishLeadInSeconds: lead * day, overlapInSeconds: 30 * day,
            keep: 2, requiredCoverage: coverage.flatMap { Coverage($0) })
    }
}
