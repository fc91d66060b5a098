import Foundation
import Testing

@Suite("seal --expires and --at", .ownThreads)
struct ExpiryTests {
    /// 2026-03-01T09:00:00Z
    static let start = 1_772_355_600

    @Test(
        "a message opens until it has expired, to the second",
        arguments: [
            ("90s", 90), ("5m", 300), ("12h", 43_200), ("1d", 86_400), ("2w", 1_209_600), ("30d", 2_592_000),
            (nil, 2_592_000),
        ])
    func expires(_ duration: String?, _ seconds: Int) throws {
        let place = try Workplace()
        try place.create("Keys/ios", "shared")
        let options = duration.map { ["--expires", $0] } ?? []
        let sealed = try place.run(
            ["seal", "--bare", "--to", "Keys/ios", "--topic", Workplace.topic, "--at", Workplace.now] + options,
            stdin: Workplace.inner)
        #expect(sealed.isSuccess, "\(sealed)")
        let last = "\(Self.start + seconds - 1)"
        #expect(try place.open(keys: "Keys/ios", "--at", last, payload: sealed.stdout).isSuccess)
        let late = "\(Self.start + seconds)"
        try expectPlaceholder(
            try place.open(keys: "Keys/ios", "--at", late, payload: sealed.stdout), "expired")
    }

    @Test("a message from more than ten minutes in the future doesn't open")
    func future() throws {
        let place = try Workplace()
        // Old keys, so that they don't move the clock.
        let created = try place.run(
            "keys", "create", "Keys/ios", "--kind", "shared", "--insecure-plaintext", "--at", "1000000")
        #expect(created.isSuccess, "\(created)")
        let sealed = try place.sealed(to: "Keys/ios")
        let near = "\(Self.start - 600)"
        #expect(try place.open(keys: "Keys/ios", "--at", near, payload: sealed).isSuccess)
        let far = "\(Self.start - 601)"
        try expectPlaceholder(try place.open(keys: "Keys/ios", "--at", far, payload: sealed), "notYetValid")
    }

    @Test(
        "seal exits 64 for a bad --expires",
        arguments: ["31d", "0s", "5w", "721h", "30", "d", "", "1.5h", "-1d", "30 d", "1y", "99999999999d", "４d"])
    func bad(_ duration: String) throws {
        let place = try Workplace()
        try place.create("Keys/ios", "shared")
        expectUsageError(try place.seal(to: "Keys/ios", "--expires=\(duration)"))
    }
}
