import PushCryptTestSupport
import Testing

@testable import PushCryptCore

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
