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
