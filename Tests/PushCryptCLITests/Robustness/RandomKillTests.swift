import Foundation
import PushCryptTestSupport
import Testing

/// Kills at random times, not only at fault points.
@Suite("a keyset whose changes are killed at random", .ownThreads)
struct RandomKillTests {
    private static let path = "Keys/ios"
    private let runs = LongTests.areEnabled ? 200 : 25

    @Test("changes that are killed at random times lose no key and no change")
    func random() throws {
        let place = try Workplace()
        try place.create(Self.path, "recipient")
        var (random, tally) = (SplitMix64(seed: 1), Tally())
        var longest = try measured(place)
        tally.kids = try StoredFile(Self.path, in: place).kids
        for run in 1...runs {
            try change(place, within: &longest, &random, &tally)
            let stored = try StoredFile(Self.path, in: place)
            #expect(stored.kids.isSuperset(of: tally.kids), "run \(run)")
            #expect(stored.kids.count - tally.kids.count <= 1, "run \(run)")
            tally.midway += try place.names(in: Self.path).contains { $0.contains(".new-") } ? 1 : 0
            tally.kids = stored.kids
            guard run % 10 == 0 else { continue }
            let listed = try place.keys(Self.path, at: Workplace.now)
            #expect(Set(listed.map(\.kid)) == stored.kids && listed.count == stored.kids.count)
        }
        #expect(tally.killed > 0)
        try expectWhole(place, tally)
        print(
            "\(runs) changes, \(tally.killed) of them killed, \(tally.midway) while a file was written, "
                + "\(tally.kids.count) keys in the end")
    }

    private struct Tally {
        var kids = Set<String>()
        /// The keys of the adds that were not killed.
        var added = Set<String>()
        var killed = 0
        /// The number of kills that left an unfinished file.
        var midway = 0
    }

    /// Starts a change and kills it after a random time. The maximum follows the durations of changes: about two of three
    /// are killed.
    private func change(
        _ place: Workplace, within longest: inout Duration, _ random: inout SplitMix64, _ tally: inout Tally
    ) throws {
        let isAdd = Bool.random(using: &random)
        let command =
            isAdd
            ? ["keys", "add", Self.path, "--force", "--json"]
            : ["keys", "policy", Self.path, "--keep", "\(Int.random(in: 2...99, using: &random))"]
        let running = try CLI.start(command + ["--at", Workplace.now], in: place.folder.url)
        sleep(longest * Double.random(in: 0...1, using: &random))
        running.process.kill()
        let output = try running.wait()
        if output.signal == SIGKILL {
            tally.killed += 1
            longest = longest * 1.05
        } else {
            longest = longest * 0.9
            #expect(output.exit == 0, "\(output)")
            guard isAdd else { return }
            let done = try output.object()["done"] as? [[String: Any]]
            tally.added.insert(try #require(done?.first?["kid"] as? String))
        }
    }

    /// The median duration of a change.
    private func measured(_ place: Workplace) throws -> Duration {
        let clock = ContinuousClock()
        let times = try (2...6).map { keep in
            try clock.measure { try place.succeed("keys", "policy", Self.path, "--keep", "\(keep)") }
        }
        return times.sorted()[2]
    }

    private func expectWhole(_ place: Workplace, _ tally: Tally) throws {
        try place.succeed("keys", "verify", Self.path)
        let verified = try place.succeed("keys", "verify", Self.path)
        #expect(!verified.text.contains("mended"), "\(verified)")
        #expect(try place.names(in: Self.path) == ["audit.jsonl", "keyset.json", "public.jwks.json"])
        let log = try place.run("keys", "log", Self.path, "--json")
        let rows = try #require(try JSONSerialization.jsonObject(with: log.stdout) as? [[String: Any]])
        let logged = rows.filter { ["created", "added"].contains($0["what"] as? String) }
            .compactMap { $0["kid"] as? String }
        #expect(Set(logged) == tally.kids && logged.count == tally.kids.count)
        #expect(tally.added.isSubset(of: tally.kids))
        let stored = try StoredFile(Self.path, in: place)
        #expect(stored.sequence == rows.count && stored.logCount == rows.count)
    }

    private func sleep(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        var (wanted, left) = (timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000)), timespec())
        while unsafe nanosleep(&wanted, &left) == -1, errno == EINTR { wanted = left }
    }
}
