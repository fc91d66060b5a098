/// ```
/// "policy": {"rotateEvery": DURATION, "publishLead": DURATION, "overlap": DURATION, "keep": n,
///            ["requireCoverage": PERCENT]}
/// ```
/// DURATION is ISO 8601, PERCENT a number with at most three digits behind the point.
extension RotationPolicy {
    /// - Throws: `KeyError` with `malformed` or `invalidPolicy`.
    package init(_ value: JSONValue) throws(KeyError) {
        guard let rotateEvery = value.duration("rotateEvery"), let publishLead = value.duration("publishLead"),
            let overlap = value.duration("overlap"), let keep = value["keep"]?.protocolInteger
        else {
            throw KeyError(.malformed, "the policy lacks rotateEvery, publishLead, overlap or keep")
        }
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
            ("rotateEvery", rotateEveryInSeconds), ("publishLead", publishLeadInSeconds),
            ("overlap", overlapInSeconds),
        ].map { name, seconds in "\"\(name)\": \"\(DurationText.iso8601(seconds))\"" }
        let coverage = requiredCoverage.map { ", \"requireCoverage\": \($0.number)" } ?? ""
        return "{" + durations.joined(separator: ", ") + ", \"keep\": \(keep)\(coverage)}"
    }
}

extension RotationPolicy.Coverage {
    /// `99.9` or `99.9%`: at most three digits behind the point.
    package init?(_ text: String) {
        let number = text.last == "%" ? text.dropLast() : text[...]
        let parts = number.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), parts.allSatisfy({ $0.utf8.allSatisfy { (48...57).contains($0) } }),
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
    fileprivate func duration(_ name: String) -> Int64? {
        guard let text = self[name]?.string, text.hasPrefix("P") else { return nil }
        return DurationText.seconds(text)
    }
}
