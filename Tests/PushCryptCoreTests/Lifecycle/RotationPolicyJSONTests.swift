import PushCryptTestSupport
import Testing

@testable import PushCryptCore

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
        "a policy with a missing or mistyped member is refused as malformed",
        arguments: [
            "{}", "[]", "null", "1", #""P90D""#,
            #"{"publishLead": "P7D", "overlap": "P30D", "keep": 2}"#,
            #"{"rotateEvery": "P90D", "overlap": "P30D", "keep": 2}"#,
            #"{"rotateEvery": "P90D", "publishLead": "P7D", "keep": 2}"#,
            #"{"rotateEvery": "P90D", "publishLead": "P7D", "overlap": "P30D"}"#,
            // Files don't allow the short form.
            #"{"rotateEvery": "90d", "publishLead": "P7D", "overlap": "P30D", "keep": 2}"#,
            #"{"rotateEvery": 90, "publishLead": "P7D", "overlap": "P30D", "keep": 2}"#,
            #"{"rotateEvery": "P90D", "publishLead": "P1M", "overlap": "P30D", "keep": 2}"#,
            #"{"rotateEvery": "P90D", "publishLead": "P7D", "overlap": "P-1D", "keep": 2}"#,
        ])
    func malformed(text: String) {
        expectKeyError(.malformed) { try read(text) }
    }

    @Test(
        "a keep that isn't a protocol integer is refused as malformed",
        arguments: ["\"2\"", "2.0", "-1", "true", "null", "1e2", "9007199254740992"])
    func malformedKeep(text: String) {
        let text = Self.standard.replacing("\"keep\": 2", with: "\"keep\": \(text)")
        expectKeyError(.malformed) { try read(text) }
    }

    @Test("a keep outside 1 to 100 throws invalidPolicy", arguments: ["0", "101", "1001", "9007199254740991"])
    func keepOutOfRange(text: String) {
        let text = Self.standard.replacing("\"keep\": 2", with: "\"keep\": \(text)")
        expectKeyError(.invalidPolicy) { try read(text) }
    }

    @Test("a publishLead that isn't shorter than rotateEvery throws invalidPolicy")
    func leadNotShorterThanTheRotation() {
        expectKeyError(.invalidPolicy) { try read(Self.standard.replacing("P7D", with: "P90D")) }
    }

    @Test(
        "a required coverage that isn't a percentage is refused as malformed",
        arguments: ["\"99.9\"", "\"99.9%\"", "100.1", "-1", "1e1", "99.9999", "true", "null", "{}", "[99]"])
    func malformedCoverage(text: String) {
        let text = String(Self.standard.dropLast()) + ", \"requireCoverage\": \(text)}"
        expectKeyError(.malformed) { try read(text) }
    }
}
