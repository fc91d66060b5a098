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

    @Test("rotate --now with a pending key says that there is one, and how it seals now")
    func now() throws {
        _ = try place.writeKeyset("Keys/app", [SampleLifecycles.primary, SampleLifecycles.pending])
        expectNote(try place.run("rotate", "Keys/app", "--now", "--at", Workplace.now), "--now --at-once makes it seal")
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
}
