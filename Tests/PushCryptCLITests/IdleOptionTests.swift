import Foundation
import PushCryptCore
import Testing

/// An option that changes nothing says so.
@Suite("options without effect", .ownThreads)
struct IdleOptionTests {
    private let place: Workplace

    init() throws { place = try Workplace() }

    private func expectNote(_ output: Output, _ text: String, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(output.exit == 0 && output.stderr.contains(text), "\(output)", sourceLocation: sourceLocation)
    }

    @Test("rotate --now with a pending key names the key and how to promote it")
    func now() throws {
        try place.createAtNewYear("Keys/app")
        let command = ["rotate", "Keys/app", "--now", "--at", "2026-02-01T00:00:00Z"]
        #expect(try place.run(command).isSuccess)
        let pending = try #require(try place.keys("Keys/app", at: "2026-02-01T00:00:00Z").last?.kid)
        expectNote(
            try place.run(command),
            "Keys/app: --now has no effect: key \(pending) is already pending and seals from 2026-02-08T00:00:00Z; to make it "
                + "seal earlier: `pushcrypt keys promote Keys/app \(pending)`")
        try place.createEncrypted("Keys/ios", .recipient)
        let secret = ["--passphrase-file", "passphrase", "--at", "2026-03-02T00:00:00Z"]
        #expect(try place.run(["rotate", "Keys/ios", "--now"] + secret).isSuccess)
        let other = try #require(try place.keys("Keys/ios", at: "2026-03-02T00:00:00Z").last?.kid)
        expectNote(
            try place.run(["rotate", "Keys/ios", "--now"] + secret),
            "`pushcrypt keys promote Keys/ios --passphrase-file passphrase \(other)`")
    }

    @Test("rotate --yes without --emergency, and --reports where the policy requires no coverage")
    func rotate() throws {
        try place.createAtNewYear("Keys/app")
        try place.write(Data(), to: "reports")
        let output = try place.run(
            "rotate", "Keys/app", "--yes", "--reports", "reports", "--at", "2026-02-01T00:00:00Z")
        expectNote(output, "--yes has no effect: rotate asks only with --emergency")
        expectNote(output, "--reports has no effect: no policy requires coverage")
    }

    @Test("an overlap that is shorter than what applies, in keys create and keys policy")
    func overlap() throws {
        let create = try place.run(
            "keys", "create", "Keys/a", "--kind", "shared", "--keep", "1", "--overlap", "7d", "--insecure-plaintext")
        expectNote(
            create, "--overlap 7d has no effect: a retired key opens for 30d10m, because a push is valid for up to 30d")
        let policy = try place.run("keys", "policy", "Keys/a", "--keep", "3", "--overlap", "60d")
        expectNote(
            policy, "--overlap 60d has no effect: a retired key opens for 180d10m, so that 3 keys can open (keep)")
        #expect(try place.run("keys", "policy", "Keys/a", "--keep", "1", "--overlap", "60d").isSuccess)
    }

    @Test("seal --expose of a member that the payload doesn't have is refused")
    func expose() throws {
        try place.create("Keys/ios", "recipient")
        expectRefusal(
            try place.seal(to: "Keys/ios", "--expose", "nonsense"), 65, saying: "expose[0] can't be exposed")
    }

    @Test("seal --allow-lower-suite to a set whose newest key ranks below no other says that it has no effect")
    func lowerSuite() throws {
        try place.create("Keys/ios", "recipient")
        expectNote(
            try place.seal(to: "Keys/ios", "--allow-lower-suite"),
            "--allow-lower-suite has no effect: no older key of Keys/ios ranks above the newest one")
    }

    @Test("seal --minimum-suite of a suite that no suite ranks below", arguments: ["p256", "x25519"])
    func minimumSuite(_ suite: String) throws {
        try place.create("Keys/ios", "recipient")
        expectNote(
            try place.seal(to: "Keys/ios", "--minimum-suite", suite),
            "--minimum-suite \(suite) has no effect: no suite ranks below it")
        let xWing = try place.seal(to: "Keys/ios", "--minimum-suite", "xwing")
        #expect(!xWing.stderr.contains("no effect"), "\(xWing)")
    }

    @Test("--resume-from past the end says how the input ends")
    func resume() throws {
        try place.create("Keys/ios", "recipient")
        let output = try place.run(
            "seal", "--batch", "--to", "Keys/ios", "--topic", Workplace.topic, "--resume-from", "100",
            stdin: Data("{\"payload\":{}}\n".utf8))
        expectNote(output, "stdin ends before line 100 (--resume-from): nothing is left to do")
        #expect(output.stdout.isEmpty)
    }

    @Test("keys promote --reports without required coverage")
    func promote() throws {
        try place.createAtNewYear("Keys/app")
        _ = try place.rotate("Keys/app", at: "2026-02-01T00:00:00Z", "--now")
        let pending = try #require(try place.keys("Keys/app", at: "2026-02-01T00:00:00Z").last?.kid)
        try place.write(Data(), to: "reports")
        let output = try place.run(
            "keys", "promote", "Keys/app", "--reports", "reports", "--force", "--at", "2026-02-03T00:00:00Z", "--",
            pending)
        expectNote(output, "--reports has no effect: neither the policy nor --require-coverage requires coverage")
    }
}
