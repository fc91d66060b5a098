package import PushCryptCore
package import PushCryptKeysets

/// Which keys the devices of a fleet hold, by their own reports: JSON lines of ``DeviceReport``.
///
/// A device counts once, with its newest report. Memory grows with devices, not with reports.
package struct DeviceReports: Sendable {
    private struct Newest {
        let kid: KeyID
        let seenAt: UnixTime
    }

    private var newest = [DeviceID: Newest]()
    /// Lines added, blank ones among them.
    package private(set) var lineCount = 0

    /// Devices are asked about for as long as a push can be on its way to them.
    package static let windowInSeconds = RotationPolicy.longestFlightInSeconds

    package init() {}

    /// - Throws: `KeystoreError` with `malformedReport` and the line's number, counted from 1.
    package init(lines: some Sequence<[UInt8]>) throws(KeystoreError) {
        for line in lines { try add(line: line) }
    }

    /// Adds a line; a blank one is skipped.
    ///
    /// - Throws: `KeystoreError` with `malformedReport` and the line's number, counted from 1.
    package mutating func add(line: [UInt8]) throws(KeystoreError) {
        lineCount += 1
        guard !line.allSatisfy(Self.isBlank) else { return }
        let report: DeviceReport
        do {
            report = try DeviceReport(json: line)
        } catch {
            throw KeystoreError(error.code, "line \(lineCount): \(error.reason)")
        }
        if let known = newest[report.device], known.seenAt > report.seenAt { return }
        newest[report.device] = Newest(kid: report.kid, seenAt: report.seenAt)
    }

    package var deviceCount: Int { newest.count }

    /// How many devices hold the key, of those seen in the last 30 days.
    ///
    /// A device holds it when its newest key is that one or a later one of the timeline, see
    /// ``KeyTimeline/implies(_:_:)``.
    package func coverage(of kid: KeyID, in timeline: KeyTimeline, at time: UnixTime) -> ReportedCoverage {
        summary(in: timeline, at: time).coverage(of: kid, in: timeline)
    }

    /// Goes through the devices once, for the coverage of any number of keys.
    package func summary(in timeline: KeyTimeline, at time: UnixTime) -> Summary {
        let now = timeline.effective(time)
        let known = Set(timeline.keys.map(\.kid))
        var summary = Summary()
        for report in newest.values {
            if report.seenAt > now + Freshness.toleranceInSeconds {
                summary.ahead += 1
            } else if report.seenAt < now - Self.windowInSeconds {
                summary.unseen += 1
            } else {
                summary.seen += 1
                if known.contains(report.kid) {
                    summary.newest[report.kid, default: 0] += 1
                } else {
                    summary.unknown += 1
                }
            }
        }
        return summary
    }

    private static func isBlank(_ byte: UInt8) -> Bool {
        [UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r")].contains(byte)
    }
}

/// What one device said of itself.
///
/// ```
/// {"device": ID, "kid": KID, "seenAt": TIME}
/// ```
/// `kid` is the newest key that the device holds, TIME is RFC 3339. Other members are ignored.
package struct DeviceReport: Hashable, Sendable {
    package let device: DeviceID
    package let kid: KeyID
    package let seenAt: UnixTime

    /// - Throws: `KeystoreError` with `malformedReport`; its reason doesn't say where.
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
    /// A line of devices' reports that is none.
    package static let malformedReport = KeystoreError.Code(name: "malformedReport")
}

/// How much of a fleet holds a key, by the devices' reports.
package struct ReportedCoverage: Hashable, Sendable {
    /// Devices seen in the last 30 days that hold the key.
    package let holding: Int
    /// Devices seen in the last 30 days.
    package let seen: Int
    /// Devices not seen for 30 days. They don't count: waiting for them would mean to wait for ever.
    package let unseen: Int

    package init(holding: Int, seen: Int, unseen: Int) {
        (self.holding, self.seen, self.unseen) = (holding, seen, unseen)
    }

    /// Exact; false where no device was seen.
    package func meets(_ required: RotationPolicy.Coverage) -> Bool {
        required.isMet(holding: holding, seen: seen)
    }
}

extension DeviceReports {
    /// The devices at a moment, by the newest key that each holds.
    package struct Summary: Hashable, Sendable {
        /// Seen in the last 30 days; `newest` and `unknown` together.
        package var seen = 0
        package var unseen = 0
        /// Their newest report lies more than ten minutes ahead of now: no evidence of anything.
        package var ahead = 0
        /// Their newest key is none of the keyset.
        package var unknown = 0
        package var newest = [KeyID: Int]()

        package func coverage(of kid: KeyID, in timeline: KeyTimeline) -> ReportedCoverage {
            let holding = newest.reduce(0) { sum, entry in
                sum + (timeline.implies(entry.key, kid) ? entry.value : 0)
            }
            return ReportedCoverage(holding: holding, seen: seen, unseen: unseen)
        }
    }
}

extension KeyTimeline {
    /// Whether a device whose newest key is `newest` holds `kid` for sure: it's the same, or comes after it both in the
    /// order of sealing and in that of creation.
    ///
    /// Keys are published as they're created, so that who holds a key was offered all that are older. In sealing order
    /// a pending key without activatesAt comes last. The two orders differ where a primary is replaced at once while a
    /// pending key waits: a device may then hold the waiting key and not yet the new primary.
    package func implies(_ newest: KeyID, _ kid: KeyID) -> Bool {
        guard newest != kid else { return key(kid) != nil }
        guard let holder = key(newest), let wanted = key(kid), wanted.order <= holder.order else { return false }
        guard let created = holder.lifecycle.createdAt, let needed = wanted.lifecycle.createdAt else { return true }
        return needed <= created
    }
}

extension KeyTimeline.Key {
    /// The order of sealing, with what waits for an operator behind all that has a time.
    fileprivate var order: (UnixTime, UnixTime, KeyID) {
        let (activatesAt, createdAt, kid) = rank
        return (lifecycle.activatesAt == nil ? UnixTime(.max) : activatesAt, createdAt, kid)
    }
}
