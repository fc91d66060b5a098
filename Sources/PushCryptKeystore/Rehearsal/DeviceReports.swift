package import PushCryptCore
package import PushCryptKeysets

/// The newest key of each device in a fleet, from JSON lines of ``DeviceKeyReport``.
///
/// Only the newest report of a device counts. Memory grows with the devices, not with the reports.
package struct DeviceReports: Sendable {
    private var newest = [DeviceID: (kid: KeyID, seenAt: UnixTime)]()
    /// The number of lines, including blank ones.
    package private(set) var lineCount = 0

    /// Devices not seen for this time don't count. It is the longest time that APNs stores a push.
    package static let windowInSeconds = RotationPolicy.longestFlightInSeconds

    package init() {}

    /// - Throws: `KeystoreError` with `malformedReport` and the line's number, counted from 1.
    package init(lines: some Sequence<[UInt8]>) throws(KeystoreError) {
        for line in lines { try add(line: line) }
    }

    /// - Throws: `KeystoreError` with `malformedReport` and the line's number, counted from 1.
    package mutating func add(line: [UInt8]) throws(KeystoreError) {
        lineCount += 1
        guard !line.allSatisfy({ $0.isOne(of: " \t\r") }) else { return }
        let report: DeviceKeyReport
        do {
            report = try DeviceKeyReport(json: line)
        } catch {
            throw KeystoreError(error.code, "line \(lineCount): \(error.reason)")
        }
        if let known = newest[report.device], known.seenAt > report.seenAt { return }
        newest[report.device] = (report.kid, report.seenAt)
    }

    package var deviceCount: Int { newest.count }

    /// The number of devices seen in the last 30 days that have the key.
    ///
    /// A device has the key if its newest key is this one or a later one, see ``KeyTimeline/implies(_:_:)``.
    package func coverage(of kid: KeyID, in timeline: KeyTimeline, at time: UnixTime) -> ReportedCoverage {
        summary(in: timeline, at: time).coverage(of: kid, in: timeline)
    }

    package func summary(in timeline: KeyTimeline, at time: UnixTime) -> Summary {
        let now = timeline.effective(time)
        let known = Set(timeline.keys.map(\.kid))
        var summary = Summary()
        for report in newest.values {
            if report.seenAt > now + Freshness.toleranceInSeconds {
                summary.ahead += 1
            } else if report.seenAt < now - Self.windowInSeconds {
                summary.unseen += 1
            } else if known.contains(report.kid) {
                summary.newest[report.kid, default: 0] += 1
            } else {
                summary.unknown += 1
            }
        }
        return summary
    }
}

/// The report of one device.
///
/// ```
/// {"device": ID, "kid": KID, "seenAt": TIME}
/// ```
/// `kid` is the newest key of the device, TIME is RFC 3339. Other members are ignored.
package struct DeviceKeyReport: Hashable, Sendable {
    package let device: DeviceID
    package let kid: KeyID
    package let seenAt: UnixTime

    package init(json: [UInt8]) throws(KeystoreError) {
        let root: JSONValue
        do {
            root = try JSONText(json).root
        } catch {
            throw KeystoreError(.malformedReport, "not strict JSON: \(error)")
        }
        func require<Value>(_ value: Value?, _ reason: String) throws(KeystoreError) -> Value {
            guard let value else { throw KeystoreError(.malformedReport, reason) }
            return value
        }
        guard root.kind == .object else { throw KeystoreError(.malformedReport, "JSON, but not an object") }
        device = try require(
            root["device"]?.string.flatMap { try? DeviceID($0) },
            "device is missing or not 1 to 64 characters of A-Z a-z 0-9 _ -")
        kid = try require(
            root["kid"]?.string.flatMap { KeyID($0) }, "kid is missing or not a key id of 11 base64url characters")
        seenAt = try require(
            root["seenAt"]?.string.flatMap { UnixTime(rfc3339: $0) },
            "seenAt is missing or not a time as in 2026-03-01T09:00:00Z")
    }
}

extension KeystoreError.Code {
    /// A line that isn't a device report.
    package static let malformedReport = KeystoreError.Code(name: "malformedReport")
}

/// The share of a fleet that has a key, from the devices' reports.
package struct ReportedCoverage: Hashable, Sendable {
    /// Devices seen in the last 30 days that have the key.
    package let holding: Int
    /// Devices seen in the last 30 days.
    package let seen: Int
    /// Devices not seen for 30 days. They don't count, because they may never return.
    package let unseen: Int

    package init(holding: Int, seen: Int, unseen: Int) {
        self.holding = holding
        self.seen = seen
        self.unseen = unseen
    }

    /// Whether the coverage is at least the required share, in exact arithmetic; false if no device was seen.
    package func meets(_ required: RotationPolicy.Coverage) -> Bool { required.isMet(holding: holding, seen: seen) }
}

extension DeviceReports {
    /// The numbers of devices at a given time, by their newest key.
    package struct Summary: Hashable, Sendable {
        /// Devices seen in the last 30 days.
        package var seen: Int { newest.values.reduce(unknown, +) }
        /// Devices not seen for 30 days.
        package var unseen = 0
        /// Devices whose newest report is more than ten minutes in the future, and so unreliable.
        package var ahead = 0
        /// Devices whose newest key isn't in the keyset.
        package var unknown = 0
        /// The number of devices with each key as their newest.
        package var newest = [KeyID: Int]()

        package func coverage(of kid: KeyID, in timeline: KeyTimeline) -> ReportedCoverage {
            ReportedCoverage(holding: holding(anyOf: [kid], in: timeline), seen: seen, unseen: unseen)
        }

        /// The number of devices that have at least one of the keys.
        package func holding(anyOf kids: [KeyID], in timeline: KeyTimeline) -> Int {
            newest.reduce(0) { sum, entry in
                sum + (kids.contains { timeline.implies(entry.key, $0) } ? entry.value : 0)
            }
        }
    }
}

extension KeyTimeline {
    /// Whether a device whose newest key is `newest` certainly has `kid`: `newest` is `kid`, or follows it in the orders of
    /// sealing and of creation.
    ///
    /// Keys are published when they are created, so a device that has a key could fetch all older ones. In sealing order a
    /// pending key without activatesAt is last. The two orders differ if a primary is replaced while a key is pending: a
    /// device may then have the pending key and not yet the new primary.
    package func implies(_ newest: KeyID, _ kid: KeyID) -> Bool {
        guard newest != kid else { return key(kid) != nil }
        guard let holder = key(newest), let wanted = key(kid), wanted.order <= holder.order else { return false }
        guard let created = holder.lifecycle.createdAt, let needed = wanted.lifecycle.createdAt else { return true }
        return needed <= created
    }
}

extension KeyTimeline.Key {
    /// The order of sealing. Keys that an operator must promote are last.
    fileprivate var order: (UnixTime, UnixTime, KeyID) {
        let (activatesAt, createdAt, kid) = rank
        return (lifecycle.activatesAt == nil ? UnixTime(.max) : activatesAt, createdAt, kid)
    }
}

extension DeviceReports {
    /// The verdict for the coverage that a keyset's policy requires; nil if it requires none.
    package func verdict(on kid: KeyID, _ state: KeysetState, at time: UnixTime) -> RotationPlan.CoverageVerdict? {
        state.policy.requiredCoverage.map { verdict(on: kid, $0, state.timeline, at: time) }
    }

    /// Decides whether enough devices hold a key before it seals.
    package func verdict(
        on kid: KeyID, _ required: RotationPolicy.Coverage, _ timeline: KeyTimeline, at time: UnixTime
    ) -> RotationPlan.CoverageVerdict {
        let coverage = coverage(of: kid, in: timeline, at: time)
        let counts = "\(coverage.holding) of \(coverage.seen) devices seen in the last 30 days hold it"
        let isEnough = coverage.meets(required)
        return .init(isEnough: isEnough, explanation: isEnough ? counts : counts + ", and \(required) are required")
    }
}
