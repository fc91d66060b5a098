import Foundation
import Testing

@Suite("keys coverage", .ownThreads)
struct KeysCoverageTests {
    private let place: Workplace
    /// Retiring, primary, pending without activatesAt, expired.
    private let kids: [String]

    private static let lifecycles = [
        #""activatesAt":"2025-06-01T00:00:00Z","retiresAt":"2026-01-01T00:00:00Z""#,
        #""activatesAt":"2026-01-01T00:00:00Z""#, "",
        #""activatesAt":"2025-01-01T00:00:00Z","retiresAt":"2025-06-01T00:00:00Z","expiresAt":"2026-01-01T00:00:00Z""#,
    ]

    init() throws {
        place = try Workplace()
        kids = try place.writeKeyset("Keys/fleet", Self.lifecycles)
    }

    private func line(_ device: String, _ kid: String, _ seenAt: String = Workplace.now) -> String {
        #"{"device":"\#(device)","kid":"\#(kid)","seenAt":"\#(seenAt)"}"# + "\n"
    }

    /// 5 devices with the primary, 4 with the pending key, 1 with the retiring one, 1 with an unknown one, 2 not seen for 30 days.
    private var reports: Data {
        var text = "\n"
        for index in 0..<5 { text += line("p\(index)", kids[1]) }
        for index in 0..<4 { text += line("n\(index)", kids[2]) }
        text += line("p0", kids[0], "2026-02-01T00:00:00Z") + line("old", kids[0]) + line("foreign", "AAAAAAAAAAA")
        text += line("behind", kids[3])
        text += line("away", kids[1], "2026-01-30T08:59:59Z") + line("gone", kids[2], "2020-01-01T00:00:00+01:00")
        return Data(text.utf8)
    }

    private func coverage(_ options: [String], stdin: Data) throws -> Output {
        try place.run(["keys", "coverage", "Keys/fleet", "--at", Workplace.now] + options, stdin: stdin)
    }

    @Test("keys coverage prints the share of devices for each key", arguments: ["-", "reports.jsonl"])
    func table(_ file: String) throws {
        try place.write(reports, to: "reports.jsonl")
        let output = try coverage(["--reports", file], stdin: file == "-" ? reports : Data())
        #expect(output.isSuccess, "\(output)")
        #expect(
            output.text == """
                14 devices reported: 12 seen in the last 30 days, 2 not; the newest key of 1 of the seen devices no
                longer opens; the newest key of 1 of the seen devices is not in the keyset.

                Devices seen in the last 30 days that hold each key
                KID          STATE                                  SHARE  DEVICES
                \(kids[0])  retiring  ██████████████████████████▋  83.3%  10
                \(kids[1])  primary   ████████████████████████     75%    9
                \(kids[2])  pending   ██████████▋                  33.3%  4

                """)
    }

    @Test("--json has the counts, and whether a key of the keyset has the coverage that the policy requires")
    func json() throws {
        let kids = try place.writeKeyset(
            "Keys/app", Array(Self.lifecycles.prefix(3)),
            policy: #"{"rotateEvery":"P90D","publishLead":"P7D","overlap":"P30D","keep":2,"requireCoverage":33.4}"#)
        let known = zip(self.kids, kids).reduce(String(decoding: reports, as: UTF8.self)) {
            $0.replacing($1.0, with: $1.1)
        }
        let output = try place.run(
            "keys", "coverage", "Keys/app", "--reports", "-", "--at", Workplace.now, "--json", stdin: Data(known.utf8))
        let object = try output.object()
        let counts = object.compactMapValues { $0 as? Int }
        #expect(counts == ["devices": 14, "seen": 12, "unseen": 2, "ahead": 0, "unknownKid": 2, "outdated": 0])
        #expect(object["requireCoverage"] as? String == "33.4%" && object["at"] as? String == Workplace.now)
        let keys = try #require(object["keys"] as? [[String: Any]])
        #expect(keys.map { $0["kid"] as? String } == kids)
        #expect(keys.map { $0["holding"] as? Int } == [10, 9, 4] && keys.map { $0["newest"] as? Int } == [1, 5, 4])
        #expect(keys.map { $0["state"] as? String } == ["retiring", "primary", "pending"])
        #expect(keys.map { $0["isCovered"] as? Bool } == [true, true, false])
        let text = try place.run(
            "keys", "coverage", "Keys/app", "--reports", "-", "--at", Workplace.now, stdin: Data(known.utf8)
        ).text
        #expect(text.contains("REQUIRED 33.4%\n") && text.contains("33.3%  4        no\n"), "\(text)")
    }

    @Test("the error for a bad line names its number and its file", arguments: ["-", "reports.jsonl"])
    func badLine(_ file: String) throws {
        let bad = Data((line("a", kids[0]) + "\n" + line("b", "short")).utf8)
        try place.write(bad, to: "reports.jsonl")
        let output = try coverage(["--reports", file], stdin: bad)
        expectRefusal(output, 65, saying: "\(file == "-" ? "stdin" : file): line 3: kid is missing")
    }

    @Test("an endless line is refused without being kept in memory")
    func longLine() throws {
        let output = try place.shell(
            "head -c 5000000 /dev/zero | tr '\\0' a | \"$PUSHCRYPT\" keys coverage Keys/fleet --reports -")
        expectRefusal(output, 65, saying: "line 1 is longer than 65536 bytes")
    }
}
