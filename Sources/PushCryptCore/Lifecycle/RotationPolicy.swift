/// When keys of a keyset are added, retired and erased (PROTOCOL section 9).
package struct RotationPolicy: Hashable, Sendable {
    /// The time for which a key seals.
    package let rotateEveryInSeconds: Int64
    /// The time for which a key is published before it seals.
    package let publishLeadInSeconds: Int64
    /// The least time for which a retired key opens.
    package let overlapInSeconds: Int64
    /// The number of keys that can open at any time, after as many rotations.
    package let keep: Int
    /// The share of devices that must have a key before it may seal; nil if only the time counts.
    package let requiredCoverage: Coverage?

    /// A share of devices, exact to a thousandth of a percent.
    package struct Coverage: Hashable, Comparable, Sendable, CustomStringConvertible {
        package let thousandthsOfPercent: Int

        package init?(thousandthsOfPercent: Int) {
            guard (0...100_000).contains(thousandthsOfPercent) else { return nil }
            self.thousandthsOfPercent = thousandthsOfPercent
        }

        package static func < (left: Self, right: Self) -> Bool {
            left.thousandthsOfPercent < right.thousandthsOfPercent
        }

        /// The number without `%`, as in `99.9`.
        package var number: String {
            let (whole, rest) = (thousandthsOfPercent / 1_000, thousandthsOfPercent % 1_000)
            guard rest > 0 else { return String(whole) }
            var digits = String(String(1_000 + rest).dropFirst())
            while digits.last == "0" { digits.removeLast() }
            return "\(whole).\(digits)"
        }

        package var description: String { number + "%" }
    }

    /// 90 days, 7 days, 30 days, 2 keys.
    package static let standard = try! RotationPolicy(
        rotateEveryInSeconds: 90 * 86_400, publishLeadInSeconds: 7 * 86_400, overlapInSeconds: 30 * 86_400, keep: 2)

    /// - Throws: `KeyError` with `invalidPolicy`.
    package init(
        rotateEveryInSeconds: Int64, publishLeadInSeconds: Int64, overlapInSeconds: Int64, keep: Int,
        requiredCoverage: Coverage? = nil
    ) throws(KeyError) {
        func require(_ condition: Bool, _ reason: String) throws(KeyError) {
            guard condition else { throw KeyError(.invalidPolicy, reason) }
        }
        let longest = Self.longestInSeconds
        let rotateEvery = "rotateEvery \(DurationText.human(rotateEveryInSeconds))"
        let publishLead = "publishLead \(DurationText.human(publishLeadInSeconds))"
        let overlap = "overlap \(DurationText.human(overlapInSeconds))"
        try require((1...longest).contains(rotateEveryInSeconds), "\(rotateEvery) is not one second to 100 years")
        try require((0...longest).contains(publishLeadInSeconds), "\(publishLead) is more than 100 years")
        try require((0...longest).contains(overlapInSeconds), "\(overlap) is more than 100 years")
        try require(
            publishLeadInSeconds < rotateEveryInSeconds,
            "\(publishLead) must be shorter than \(rotateEvery): a key is published while the previous one seals")
        try require((1...100).contains(keep), "keep \(keep) is not 1 to 100 keys")
        try require(
            Int64(keep - 1) * rotateEveryInSeconds <= longest,
            "keep \(keep) and \(rotateEvery) together let a key open for more than 100 years")
        self.rotateEveryInSeconds = rotateEveryInSeconds
        self.publishLeadInSeconds = publishLeadInSeconds
        self.overlapInSeconds = overlapInSeconds
        self.keep = keep
        self.requiredCoverage = requiredCoverage
    }

    private static let longestInSeconds: Int64 = 36_525 * 86_400
    /// The longest time for which a push can be in flight: APNs stores it for at most 30 days, and no message is valid for
    /// longer.
    package static let longestFlightInSeconds = MessageHeader.windowInSeconds

    /// The time for which a key opens after it stops sealing: the longest of `overlap`, the flight of a push, and `keep - 1`
    /// rotations; plus ten minutes for clocks that differ.
    package var opensAfterRetiringInSeconds: Int64 {
        max(overlapInSeconds, Self.longestFlightInSeconds, Int64(keep - 1) * rotateEveryInSeconds)
            + Freshness.toleranceInSeconds
    }
}

/// ```
/// "policy": {"rotateEvery": DURATION, "publishLead": DURATION, "overlap": DURATION, "keep": n,
///            ["requireCoverage": PERCENT]}
/// ```
/// DURATION is ISO 8601. PERCENT is a number with at most three digits after the point.
extension RotationPolicy {
    /// - Throws: `KeyError` with `malformed` or `invalidPolicy`.
    package init(_ value: JSONValue) throws(KeyError) {
        guard let rotateEvery = value.duration("rotateEvery"), let publishLead = value.duration("publishLead"),
            let overlap = value.duration("overlap"), let keep = value["keep"]?.protocolInteger
        else { throw KeyError(.malformed, "the policy lacks rotateEvery, publishLead, overlap or keep") }
        var coverage: Coverage?
        if let member = value["requireCoverage"] {
            guard let read = Coverage(String(decoding: member.rawBytes, as: UTF8.self)) else {
                throw KeyError(.malformed, "the policy's requireCoverage is not a percentage")
            }
            coverage = read
        }
        try self.init(
            rotateEveryInSeconds: rotateEvery, publishLeadInSeconds: publishLead, overlapInSeconds: overlap,
            keep: Int(min(keep, 1_000)), requiredCoverage: coverage)
    }

    package var json: String {
        let durations = [
            ("rotateEvery", rotateEveryInSeconds), ("publishLead", publishLeadInSeconds), ("overlap", overlapInSeconds),
        ].map { name, seconds in "\"\(name)\": \"\(DurationText.iso8601(seconds))\"" }
        let coverage = requiredCoverage.map { ", \"requireCoverage\": \($0.number)" } ?? ""
        return "{" + durations.joined(separator: ", ") + ", \"keep\": \(keep)\(coverage)}"
    }
}

extension RotationPolicy.Coverage {
    /// Reads `99.9` or `99.9%`, with at most three digits after the point.
    package init?(_ text: String) {
        let number = text.last == "%" ? text.dropLast() : text[...]
        let parts = number.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), parts.allSatisfy({ $0.utf8.allSatisfy(\.isDigit) }),
            (1...3).contains(parts[0].count), let whole = Int(parts[0])
        else { return nil }
        let fraction = parts.count == 2 ? String(parts[1]) : "0"
        guard (1...3).contains(fraction.count),
            let rest = Int(fraction + String(repeating: "0", count: 3 - fraction.count))
        else { return nil }
        self.init(thousandthsOfPercent: whole * 1_000 + rest)
    }
}

extension JSONValue {
    /// The member as seconds; nil if it isn't an ISO 8601 duration.
    package func duration(_ name: String) -> Int64? {
        guard let text = self[name]?.string, text.hasPrefix("P") else { return nil }
        return DurationText.seconds(text)
    }
}
