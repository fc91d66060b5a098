import Foundation
import PushCryptTestSupport
import Testing

@Suite("loose modes", .ownThreads)
struct ModeTests {
    @Test("a keyset's file with a loose mode is refused", arguments: [0o644, 0o640, 0o604, 0o660, 0o620, 0o601])
    func file(_ mode: Int) throws {
        let place = try makePlace()
        try place.setMode(mode, of: "Keys/ios/keyset.json")
        try expectRefusals(
            place, byEveryCommand: mode == 0o644, saying: "correct it with: chmod 600 Keys/ios/keyset.json")
    }

    @Test("a keyset's folder with a loose mode is refused", arguments: [0o755, 0o750, 0o701, 0o777])
    func folder(_ mode: Int) throws {
        let place = try makePlace()
        try place.setMode(mode, of: "Keys/ios")
        try expectRefusals(place, byEveryCommand: mode == 0o755, saying: "correct it with: chmod 700 Keys/ios\n")
    }

    @Test("the chmod command in the error makes the keyset usable")
    func advice() throws {
        let place = try makePlace()
        try place.setMode(0o644, of: "Keys/ios/keyset.json")
        let refused = try place.run("keys", "list", "Keys/ios")
        let command = try #require(refused.stderr.firstMatch(of: /chmod .*/)?.0)
        #expect(try place.shell(String(command)).isSuccess)
        #expect(try place.run("keys", "list", "Keys/ios").isSuccess)
    }

    @Test("an open parent folder and a read-only file are accepted")
    func fine() throws {
        let place = try makePlace()
        try place.setMode(0o755, of: "Keys")
        try place.setMode(0o400, of: "Keys/ios/keyset.json")
        #expect(try place.run("keys", "list", "Keys/ios").isSuccess)
    }

    private func makePlace() throws -> Workplace {
        let place = try Workplace()
        try place.create("Keys/ios", "shared")
        try place.create("Keys/other", "recipient")
        return place
    }

    /// - Parameter all: whether every command is tried, or only one: they check modes in one place.
    private func expectRefusals(
        _ place: Workplace, byEveryCommand all: Bool, saying words: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        guard all || LongTests.areEnabled else {
            let output = try place.run("keys", "list", "Keys/ios")
            return expectRefusal(output, 77, saying: words, sourceLocation: sourceLocation)
        }
        let sealed = try place.sealed(to: "Keys/other")
        for output in [
            try place.run("keys", "list", "Keys/ios"), try place.run("keys", "export", "Keys/ios", "--device", "one"),
            try place.seal(to: "Keys/ios"), try place.seal(to: "Keys/other", "--sign-with", "Keys/ios"),
            try place.open(keys: "Keys/ios", payload: sealed),
            try place.open(keys: "Keys/other", "--trust", "Keys/ios", payload: sealed),
        ] {
            expectRefusal(output, 77, saying: words, sourceLocation: sourceLocation)
        }
    }
}
