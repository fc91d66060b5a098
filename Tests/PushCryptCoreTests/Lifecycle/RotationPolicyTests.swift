import PushCryptTestSupport
import Testing

@testable import PushCryptCore

@Suite struct RotationPolicyTests {
    private static let day: Int64 = 86_400
    private static let century: Int64 = 36_525 * day

    @Test("the standard policy is 90, 7 and 30 days and 2 keys")
    func standard() {
        let policy = RotationPolicy.standard
        #expect(policy.rotateEveryInSeconds == 90 * Self.day)
        #expect(policy.publishLeadInSeconds == 7 * Self.day)
        #expect(policy.overlapInSeconds == 30 * Self.day)
        #expect(policy.keep == 2)
        #expect(policy.requiredCoverage == nil)
        #expect(policy.opensAfterRetiringInSeconds == 90 * Self.day + 600)
    }

    @Test(
        "a retired key opens for the longest of overlap, flight and keep, plus ten minutes",
        arguments: [
            (90, 30, 1, 30), (90, 0, 1, 30), (90, 29, 1, 30), (90, 31, 1, 31), (90, 400, 1, 400), (90, 30, 2, 90),
            (90, 89, 2, 90), (90, 91, 2, 91), (90, 30, 3, 180), (10, 0, 2, 30), (10, 0, 4, 30), (10, 0, 5, 40),
            (365, 0, 100, 36_135),
        ] as [(Int64, Int64, Int, Int64)])
    func opensAfterRetiring(rotateEvery: Int64, overlap: Int64, keep: Int, days: Int64) throws {
        let policy = try RotationPolicy(
            rotateEveryInSeconds: rotateEvery * Self.day, publishLeadInSeconds: Self.day,
            overlapInSeconds: overlap * Self.day, keep: keep)
        #expect(policy.opensAfterRetiringInSeconds == days * Self.day + 600)
    }

    @Test(
        "durations and counts at the limits are accepted",
        arguments: [
            (1, 0, 0, 1), (90, 89, 0, 1), (century, 0, 0, 1), (century, century - 1, century, 2), (1, 0, 0, 100),
            (century / 99, 0, 0, 100),
        ] as [(Int64, Int64, Int64, Int)])
    func allowed(rotateEvery: Int64, publishLead: Int64, overlap: Int64, keep: Int) throws {
        let policy = try RotationPolicy(
            rotateEveryInSeconds: rotateEvery, publishLeadInSeconds: publishLead, overlapInSeconds: overlap, keep: keep)
        #expect(policy.opensAfterRetiringInSeconds <= Self.century + 600)
    }

    @Test(
        "durations and counts outside the limits throw invalidPolicy",
        arguments: [
            (0, 0, 0, 1), (-1, 0, 0, 1), (century + 1, 0, 0, 1), (90, -1, 0, 1), (90, 90, 0, 1), (90, 91, 0, 1),
            (90, 7, -1, 1), (90, 7, century + 1, 1), (90, 7, 0, 0), (90, 7, 0, -1), (90, 7, 0, 101), (.max, 7, 0, 100),
            (90, .max, 0, 1), (90, 7, .max, 1), (90, .min, .min, .min), (century, 7, 0, 3),
            (century / 99 + 1, 0, 0, 100),
        ] as [(Int64, Int64, Int64, Int)])
    func refused(rotateEvery: Int64, publishLead: Int64, overlap: Int64, keep: Int) {
        expectKeyError(.invalidPolicy) {
            try RotationPolicy(
                rotateEveryInSeconds: rotateEvery, publishLeadInSeconds: publishLead, overlapInSeconds: overlap,
                keep: keep)
        }
    }

    @Test(
        "a percentage is read and written exactly",
        arguments: [
            ("0", 0, "0"), ("1", 1_000, "1"), ("99.9", 99_900, "99.9"), ("99.90", 99_900, "99.9"),
            ("99.900%", 99_900, "99.9"), ("99.999", 99_999, "99.999"), ("99.05", 99_050, "99.05"),
            ("0.001", 1, "0.001"), ("100", 100_000, "100"), ("100.000%", 100_000, "100"), ("007", 7_000, "7"),
        ])
    func coverage(text: String, thousandths: Int, number: String) {
        let coverage = RotationPolicy.Coverage(text)
        #expect(coverage?.thousandthsOfPercent == thousandths)
        #expect(coverage?.number == number)
        #expect(coverage?.description == number + "%")
    }

    @Test(
        "a text that isn't a percentage is refused",
        arguments: [
            "", "%", ".", ".5", "5.", "99.9.9", "-1", "+1", "100.001", "101", "1000", "0099", "99.9999", "99,9",
            "99.9%%", "%99", "1e1", " 99", "99 ", "99 %", "٩٩", "none", #""99""#,
        ])
    func noCoverage(text: String) {
        #expect(RotationPolicy.Coverage(text) == nil)
    }

    @Test("percentages are ordered by their value")
    func coverageOrder() throws {
        let (low, high) = try (#require(RotationPolicy.Coverage("9.5")), #require(RotationPolicy.Coverage("10")))
        #expect(low < high)
        #expect(!(high < low))
        #expect(RotationPolicy.Coverage(thousandthsOfPercent: -1) == nil)
        #expect(RotationPolicy.Coverage(thousandthsOfPercent: 100_001) == nil)
    }
}

@Suite struct RotationPolicyJSONTests {
    private func read(_ text: String) throws -> RotationPolicy {
        let json = try JSONText(Array(text.utf8))
        return try RotationPolicy(json.root)
    }

    private static let standard = #"{"rotateEvery": "P90D", "publishLead": "P7D", "overlap": "P30D", "keep": 2}"#

    @Test("the standard policy is written as its documented JSON")
    func standard() throws {
        #expect(RotationPolicy.standard.json == Self.standard)
        #expect(try read(Self.standard) == .standard)
    }

    @Test("a policy with required coverage is written and read again")
    func gated() throws {
        let text = String(Self.standard.dropLast()) + #", "requireCoverage": 99.95}"#
        let policy = try read(text)
        #expect(policy.requiredCoverage?.thousandthsOfPercent == 99_950)
        #expect(policy.json == text)
    }

    @Test("written policies are read as the same policies")
    func bothWays() throws {
        var random = SplitMix64(seed: 77)
        for _ in 0..<200 {
            let rotateEvery = Int64.random(in: 1...30_000_000, using: &random)
            let policy = try RotationPolicy(
                rotateEveryInSeconds: rotateEvery,
                publishLeadInSeconds: Int64.random(in: 0..<rotateEvery, using: &random),
                overlapInSeconds: Int64.random(in: 0...30_000_000, using: &random),
                keep: Int.random(in: 1...100, using: &random),
                requiredCoverage: Bool.random(using: &random)
                    ? .init(thousandthsOfPercent: Int.random(in: 0...100_000, using: &random)) : nil)
            #expect(try read(policy.json) == policy)
        }
    }

    @Test(
        "a policy with a missing, mistyped or too large member is refused with its code",
        arguments: [
            // Files don't allow the short form.
            ("rotateEvery", [nil, #""90d""#, "90"], .malformed), ("publishLead", [nil, #""P1M""#], .malformed),
            ("overlap", [nil, #""P-1D""#], .malformed),
            ("keep", [nil, #""2""#, "2.0", "-1", "true", "null", "1e2", "9007199254740992"], .malformed),
            ("keep", ["0", "101", "1001", "9007199254740991"], .invalidPolicy),
            ("publishLead", [#""P90D""#], .invalidPolicy),
            (
                "requireCoverage",
                [
                    #""99.9""#, #""99.9%""#, "100.1", "-1", "1e1", "99.9999", "true", "null", "{}", "[99]",
                ], .malformed
            ),
        ] as [(String, [String?], KeyError.Code)])
    func refused(member: String, values: [String?], code: KeyError.Code) {
        let standard = ["rotateEvery": #""P90D""#, "publishLead": #""P7D""#, "overlap": #""P30D""#, "keep": "2"]
        for value in values {
            var members = standard
            members[member] = value
            let text = members.map { "\"\($0)\": \($1)" }.joined(separator: ", ")
            expectKeyError(code, "\(value ?? "missing")") { try read("{\(text)}") }
        }
    }

    @Test("a policy that isn't an object is refused as malformed", arguments: ["[]", "null", "1", #""P90D""#])
    func noObject(text: String) {
        expectKeyError(.malformed) { try read(text) }
    }
}

@Suite struct DurationTextTests {
    @Test(
        "both forms of a duration are read as seconds",
        arguments: [
            ("0s", 0), ("1s", 1), ("90s", 90), ("2m", 120), ("36h", 129_600), ("90d", 7_776_000), ("2w", 1_209_600),
            ("1d12h", 129_600), ("1w2d3h4m5s", 788_645), ("1w5s", 604_805),
            ("0090d", 7_776_000), ("4294967295s", 4_294_967_295), ("4294967295w", 4_294_967_295 * 604_800),
            ("PT0S", 0), ("P0D", 0), ("PT1S", 1), ("PT90S", 90), ("PT2M", 120), ("PT36H", 129_600), ("P90D", 7_776_000),
            ("P2W", 1_209_600), ("P1DT1H1M1S", 90_061), ("P1DT1S", 86_401), ("PT1H1S", 3_601), ("P007D", 604_800),
            ("P4294967295DT4294967295H", 4_294_967_295 * 90_000),
        ] as [(String, Int64)])
    func read(text: String, seconds: Int64) {
        #expect(DurationText.seconds(text) == seconds)
    }

    @Test(
        "texts of neither form are refused",
        arguments: [
            "", "d", "s", "9", "90", "90 d", " 90d", "90d ", "90D", "90days", "-1d", "+1d", "1.5d", "12h1d", "1d1d",
            "1d12", "1d 12h", "0x5d", "4294967296s", "99999999999d", "00000000001d", "９d", "90\u{0}d", "1y", "1M",
            "p90d", "P", "PT", "P90", "PD", "PW", "P90DT", "P1D1W", "P1W1D", "P1WT1H", "PT1W", "P1H", "PT1D", "PT1S1M",
            "PT1M1H", "PT1H1H", "P1D1D", "PT1HT1M", "PTT1H", "P1M", "P1Y", "P1Y2M", "P-1D", "P+1D", "P1.5D", "PT1,5S",
            "P 1D", "P1D ", " P1D", "P1d", "PT1h", "P4294967296D", "P99999999999D", "P1D\u{0}", "P٣D",
        ])
    func refused(text: String) {
        #expect(DurationText.seconds(text) == nil)
    }

    @Test(
        "seconds are written in both forms",
        arguments: [
            (0, "PT0S", "0s"), (1, "PT1S", "1s"), (59, "PT59S", "59s"), (60, "PT1M", "1m"),
            (3_599, "PT59M59S", "59m59s"),
            (3_600, "PT1H", "1h"), (86_399, "PT23H59M59S", "23h59m59s"), (86_400, "P1D", "1d"),
            (86_401, "P1DT1S", "1d1s"), (129_600, "P1DT12H", "1d12h"), (90_061, "P1DT1H1M1S", "1d1h1m1s"),
            (7_776_000, "P90D", "90d"), (2_592_600, "P30DT10M", "30d10m"), (36_525 * 86_400, "P36525D", "36525d"),
        ] as [(Int64, String, String)])
    func written(seconds: Int64, iso8601: String, human: String) {
        #expect(DurationText.iso8601(seconds) == iso8601)
        #expect(DurationText.human(seconds) == human)
    }

    @Test("written durations are read as the same seconds")
    func bothWays() {
        var random = SplitMix64(seed: 90)
        for longest in [100, 100_000, 10_000_000, 3_155_760_000] as [Int64] {
            for _ in 0..<200 {
                let seconds = Int64.random(in: 0...longest, using: &random)
                #expect(DurationText.seconds(DurationText.iso8601(seconds)) == seconds)
                #expect(DurationText.seconds(DurationText.human(seconds)) == seconds)
            }
        }
    }
}
