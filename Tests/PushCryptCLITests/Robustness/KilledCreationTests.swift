import Foundation
import PushCryptCore
import PushCryptKeysets
import PushCryptKeystore
import PushCryptTestSupport
import Testing

@Suite(
    "keys create and keys log --start-new, killed", .ownThreads, .enabled(if: FaultPoints.exist, FaultPoints.missing))
struct KilledCreationTests {
    static let points =
        ["create-folder"]
        + ["created", "written", "synced", "renamed"].flatMap { ["keyset-\($0)", "public-\($0)"] }
        + ["published", "logged", "create-written"]

    private static let command = [
        "keys", "create", "Keys/ios", "--kind", "recipient", "--insecure-plaintext", "--at", Workplace.now,
    ]

    @Test("a killed keys create leaves no keyset, and the next one discards its files", arguments: points)
    func early(_ point: String) throws {
        let place = try Workplace()
        let killed = try place.run(Self.command, dyingAt: point)
        #expect(killed.signal == SIGKILL, "\(killed)")
        #expect(!place.has("Keys/ios"))
        let left = try place.names(in: "Keys")
        #expect(left.count == 1 && left[0].hasPrefix(".new-"))
        if point == Self.points.last {
            expectRefusal(try place.run("rotate", "--all"), 66, saying: "no keyset in Keys")
        }
        let again = try place.run(Self.command)
        #expect(again.exit == 0, "\(again)")
        #expect(
            again.stderr
                == "pushcrypt: discarded Keys/\(left[0]), which an interrupted `keys create` had not finished\n")
        #expect(try place.names(in: "Keys") == ["ios"])
        try place.expectWhole("Keys/ios")
    }

    @Test("keys import into a new keyset reports the files of a killed keys create that it discards")
    func discardedByImport() throws {
        let place = try Workplace()
        #expect(try place.run(Self.command, dyingAt: "create-written").signal == SIGKILL)
        let left = try place.names(in: "Keys")
        try place.write(Data(count: 32).base64EncodedData(), to: "key")
        let output = try place.run(
            "keys", "import", "Keys/imported/", "--from", "key", "--kind", "shared", "--insecure-plaintext", "--json",
            "--at", Workplace.now)
        #expect(
            output.stderr
                == "pushcrypt: discarded Keys/\(left[0]), which an interrupted `keys create` had not finished\n")
        #expect(output.text.contains(#""Keys/imported""#), "\(output)")
    }

    @Test("a keys create that is killed after its last step leaves an intact keyset")
    func late() throws {
        let place = try Workplace()
        #expect(try place.run(Self.command, dyingAt: "create-published").signal == SIGKILL)
        let output = try place.run("keys", "verify", "Keys/ios", "--at", Workplace.now)
        #expect(output.isSuccess && !output.text.contains("mended"), "\(output)")
        #expect(try place.names(in: "Keys") == ["ios"])
    }

    @Test("keys create keeps folders that another process is making and folders that it didn't make")
    func others() throws {
        let place = try Workplace()
        try place.makeFolder("Keys/.new-AAAAAAAAAAAA")
        try place.makeFolder("Keys/.new-BBBBBBBBBBBB")
        try place.write(Data(), to: "Keys/.new-BBBBBBBBBBBB/thesis.txt")
        try place.makeFolder("Keys/.new-project")
        let folder = unsafe open(place.folder.path + "/Keys/.new-AAAAAAAAAAAA", O_RDONLY | O_CLOEXEC)
        try #require(flock(folder, LOCK_EX) == 0)
        let output = try place.run(Self.command)
        close(folder)
        #expect(output.isSuccess, "\(output)")
        #expect(
            try place.names(in: "Keys")
                == [".new-AAAAAAAAAAAA", ".new-BBBBBBBBBBBB", ".new-project", "ios"])
    }

    @Test(
        "a --start-new that is killed keeps the broken log and can be finished",
        arguments: ["log-set-aside"] + ChangePoint.allCases.dropFirst().map(\.rawValue))
    func log(_ point: String) throws {
        let place = try Self.brokenLog.get().place()
        let broken = try place.read("Keys/ios/audit.jsonl")
        let command = [
            "keys", "log", "Keys/ios", "--start-new", "--reason", "why", "--yes", "--at", Workplace.now,
        ]
        #expect(try place.run(command, dyingAt: point).signal == SIGKILL)
        let log = try place.run("keys", "log", "Keys/ios", "--verify")
        if log.exit == 65 { #expect(try place.run(command).exit == 0) }
        try place.expectWhole("Keys/ios")
        let kept = try place.contents(of: "Keys/ios").filter { $0.key.hasPrefix("audit.broken-") }
        #expect(Array(kept.values) == [broken])
        #expect(try StoredFile("Keys/ios", in: place).logCount == 1)
    }

    private static let brokenLog = Result {
        let place = try Workplace()
        try place.create("Keys/ios", "recipient")
        for keep in 3...5 { try place.succeed("keys", "policy", "Keys/ios", "--keep", "\(keep)") }
        try place.edit("Keys/ios/audit.jsonl") { $0 + "another line\n" }
        return try PlaceSnapshot(place)
    }
}

extension Workplace {
    /// Verifies a plain keyset as `keys verify` does, which also finishes interrupted changes, and expects no finding.
    fileprivate func expectWhole(_ path: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let verified = try KeysetStore(folder.file(path).path).verify(.none, at: UnixTime(1_772_355_600))
        #expect(verified.findings.isEmpty, "\(verified)", sourceLocation: sourceLocation)
    }
}
