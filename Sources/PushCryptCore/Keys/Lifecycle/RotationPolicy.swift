/// When the keys of a keyset come and go (PROTOCOL section 9). Lengths are in seconds.
///
/// ```
/// "policy": {"rotateEvery": "P90D", "publishLead": "P7D", "overlap": "P30D", "keep": 2, ["requireCoverage": 99.9]}
/// ```
package struct RotationPolicy: Hashable, Sendable {
    /// How long a key is the one that seals.
    package let rotateEveryInSeconds: Int64
    /// How long a key is published before it may seal.
    package let publishLeadInSeconds: Int64
    /// How long a retired key still opens, at least.
    package let overlapInSeconds: Int64
    /// How many keys can open at any time, at least, once there were so many.
    package let keep: Int
    /// The share of devices that must hold a key before it may seal, in thousandths of a percent; nil: time decides.
    package let requiredCoverage: Coverage?

    /// A share of devices, exact: thousandths of a percent.
    package struct Coverage: Hashable, Comparable, Sendable, CustomStringConvertible {
        package let thousandthsOfPercent: Int

        package init?(thousandthsOfPercent: Int) {
            guard (0...100_000).contains(thousandthsOfPercent) else { return nil }
            self.thousandthsOfPercent = thousandthsOfPercent
        }

        package static func < (left: Self, right: Self) -> Bool {
            left.thousandthsOfPercent < right.thousandthsOfPercent
        }

        /// `99.9`, without the sign.
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
        try require((1...longest).contains(rotateEveryInSeconds), "rotateEvery is one second to 100 years")
        try require((0...longest).contains(publishLeadInSeconds), "publishLead is at most 100 years")
        try require((0...longest).contains(overlapInSeconds), "overlap is at most 100 years")
        try require(
            publishLeadInSeconds < rotateEveryInSeconds,
            "publishLead must be shorter than rotateEvery: a key is published while the one before it seals")
        try require((1...100).contains(keep), "keep is 1 to 100 keys")
        try require(
            Int64(keep - 1) * rotateEveryInSeconds <= longest,
            "keep and rotateEvery together let a key open for more than 100 years")
        self.rotateEveryInSeconds = rotateEveryInSeconds
        self.publishLeadInSeconds = publishLeadInSeconds
        self.overlapInSeconds = overlapInSeconds
        self.keep = keep
        self.requiredCoverage = requiredCoverage
    }

    private static let longestInSeconds: Int64 = 36_525 * 86_400

    /// The longest that a push can be on its way: APNs stores one for 30 days at most, and a message lives no longer.
    package static let longestFlightInSeconds = MessageHeader.windowInSeconds

    /// How long a key opens after it stopped sealing: the overlap, but never less than a push can be on its way nor
    /// than it takes `keep - 1` further keys to come; and ten minutes for clocks that differ.
    package var opensAfterRetiringInSeconds: Int64 {
        max(overlapInSeconds, Self.longestFlightInSeconds, Int64(keep - 1) * rotateEveryInSeconds)
            + Freshness.toleranceInSeconds
    }
}
