package import PushCryptCore
package import PushCryptKeysets

/// The newest key of each device in a fleet, from JSON lines.
///
/// ```
/// {"device": ID, "kid": KID, "seenAt": TIME}
/// ```
/// `kid` is the newest key of the device, TIME is RFC 3339. Other members are ignored. Only the newest report of a device
/// counts. Memory grows with the devices, not with the reports.
package struct DeviceReports: Sendable {
    private var newest = [DeviceID: (kid: KeyID, seenAt: UnixTime)]()
    /// The number of lines, including blank ones.
    private var lineCount = 0

    package init() {}

    /// - Throws: `KeystoreError` with `malformedReport` and the line's number, counted from 1.
    package mutating func add(line: [UInt8]) throws(KeystoreError) {
        lineCount += 1
        guard !line.allSatisfy({ $0.isOne(of: " \t\r") }) else { return }
        func require<Value>(_ value: Value?, _ reason: String) throws(KeystoreError) -> Value {
            guard let value else { throw KeystoreError(.malformedReport, "line \(lineCount): \(reason)") }
            return value
        }
        let root: JSONValue
        do { root = try JSONText(line).root } catch {
            throw KeystoreError(.malformedReport, "line \(lineCount): not strict JSON: \(error)")
        }
        _ = try require(root.kind == .object ? root : nil, "JSON, but not an object")
        let device = try require(
            root["device"]?.string.flatMap { try? DeviceID($0) },
            "device is missing or not 1 to 64 characters of A-Z a-z 0-9 _ -")
        let kid = try require(
            root["kid"]?.string.flatMap { KeyID($0) }, "kid is missing or not a key id of 11 base64url characters")
        let seenAt = try require(
            root["seenAt"]?.string.flatMap { UnixTime(rfc3339: $0) },
            "seenAt is missing or not a time as in 2026-03-01T09:00:00Z")
        if let known = newest[device], known.seenAt > seenAt { return }
        newest[device] = (kid, seenAt)
    }

    /// The numbers of devices at a given time, by their newest key.
    package struct Summary: Hashable, Sendable {
        /// Devices seen in the last 30 days, the longest time that APNs stores a push. The others don't count for a coverage:
        /// they may never return.
        package var seen: Int { newest.values.reduce(unknown, +) }
        package fileprivate(set) var unseen = 0
        /// Devices whose newest report is more than ten minutes in the future, and so unreliable.
        package fileprivate(set) var ahead = 0
        /// Seen devices whose newest key isn't in the keyset.
        package fileprivate(set) var unknown = 0
        /// The number of seen devices with each key as their newest.
        package fileprivate(set) var newest = [KeyID: Int]()

        /// The number of seen devices that have the key: their newest key is this one or a later one, see
        /// ``KeyTimeline/implies(_:_:)``.
        package func holding(_ kid: KeyID, in timeline: KeyTimeline) -> Int {
            newest.reduce(0) { sum, entry in sum + (timeline.implies(entry.key, kid) ? entry.value : 0) }
        }
    }

    package func summary(in timeline: KeyTimeline, at time: UnixTime) -> Summary {
        let now = timeline.effective(time)
        let known = Set(timeline.keys.map(\.kid))
        var summary = Summary()
        for report in newest.values {
            if report.seenAt > now + Freshness.toleranceInSeconds {
                summary.ahead += 1
            } else if report.seenAt < now - RotationPolicy.longestFlightInSeconds {
                summary.unseen += 1
            } else if known.contains(report.kid) {
                summary.newest[report.kid, default: 0] += 1
            } else {
                summary.unknown += 1
            }
        }
        return summary
    }

    /// Whether the coverage that a keyset's policy requires is reached for a key; nil if it requires none.
    package func verdict(on kid: KeyID, _ state: KeysetState, at time: UnixTime) -> RotationPlan.CoverageVerdict? {
        guard let required = state.policy.requiredCoverage else { return nil }
        let summary = summary(in: state.timeline, at: time)
        let (holding, seen) = (summary.holding(kid, in: state.timeline), summary.seen)
        let counts = "\(holding) of \(seen) devices seen in the last 30 days hold it"
        let isEnough = required.isMet(holding: holding, seen: seen)
        return .init(isEnough: isEnough, explanation: isEnough ? counts : counts + ", and \(required) are required")
    }
}

extension KeystoreError.Code {
    /// A line that isn't a device report.
    package static let malformedReport = KeystoreError.Code(name: "malformedReport")
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
