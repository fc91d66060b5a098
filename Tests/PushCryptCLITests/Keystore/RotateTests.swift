import Foundation
import PushCryptTestSupport
import Testing

@Suite("rotate", .ownThreads)
struct RotateTests {
    private let host: KeystorePlace

    init() throws {
        host = try KeystorePlace()
        try host.succeed("rotate")
    }

    @Test func `rotate --dry-run exits 10 and writes nothing, and rotate adds the key and publishes it`() throws {
        try host.pass(to: 84)
        let before = try host.place.contents(of: ".")
        let dry = try host.run("rotate", "--dry-run", day: 84)
        #expect(dry.exit == 10 && dry.text.contains("would add a key"), "\(dry)")
        #expect(try host.place.contents(of: ".") == before)
        let output = try host.succeed("rotate", day: 84)
        let new = try #require(host.kids().last)
        #expect(output.text.contains("added key \(new), primary from "), "\(output)")
        #expect(try host.servedKeys()[new] != nil)
        try host.expectHealthy(day: 84)
        #expect(try host.run("rotate", "--dry-run", day: 84).exit == 0)
    }

    @Test func `rotate --now adds a key to the named keyset, and its kid stands alone on stdout`() throws {
        let output = try host.succeed("rotate", "--now", "senders")
        #expect(output.stderr.contains("a/Keys/senders.keyset: added key"), "\(output)")
        #expect(try host.kids().count == 2 && host.kids("a/Keys/fleet.keyset").count == 1)
        #expect(try output.line == host.kids().last)
        #expect(try host.servedKeys().count == 2)
    }

    @Test func `a damaged keyset exits 65 with one command, and doesn't stop the others`() throws {
        try host.pass(to: 84)
        try host.place.edit("a/Keys/fleet.keyset") { $0.replacing("\"kind\":\"shared\"", with: "\"kind\":\"sharee\"") }
        let output = try host.run("rotate", day: 84)
        #expect(output.exit == 65 && output.hasOneLineOnStderr, "\(output)")
        #expect(output.stderr.contains("`pushcrypt restore \(host.file("a/Keys/fleet.keyset")) FILE`"), "\(output)")
        #expect(try host.kids().count == 2)
    }

    @Test
    func `the program after runs in each run, also if nothing changed; if it fails, the run exits 69 and says so`()
        throws
    {
        try host.place.edit("a/pushcrypt.json") { "{\"after\":\"/bin/false\"," + $0.dropFirst() }
        for _ in 1...2 {
            let failed = try host.run("rotate")
            expectRefusal(failed, 69, saying: "/bin/false, which runs after changes, failed with exit status 1")
        }
        let history = String(decoding: try host.place.read("a/history/\(host.id())"), as: UTF8.self)
        #expect(history.hasSuffix("\"status\":69}\n"))
        try host.place.edit("a/pushcrypt.json") { $0.replacing("/bin/false", with: "/bin/true") }
        #expect(try host.run("rotate").isSuccess)
    }

    @Test func `rotate --json prints one object for each keyset with its changes and its status`() throws {
        try host.pass(to: 84)
        let output = try host.succeed("rotate", "--json", day: 84)
        let objects = try output.objects()
        #expect(objects.count == 3)
        let senders = try #require(objects.first { ($0["keyset"] as? String)?.hasSuffix("senders.keyset") == true })
        #expect(try senders["id"] as? String == host.id() && senders["status"] as? Int == 0)
        #expect((senders["changes"] as? [String])?.count == 2, "\(senders)")
    }

    @Test func `without settings a keyset file has no history, unless PUSHCRYPT_HISTORY names one`() throws {
        let path = "a/Keys/fleet.keyset"
        func rotate(history: String? = nil, day: Int) throws -> Output {
            let variables = history.map { ["PUSHCRYPT_HISTORY": $0] } ?? [:]
            return try host.run("a", ["rotate", path], day: day, settings: nil, variables)
        }
        try host.copyFile(path, to: "old")
        #expect(try rotate(history: "seen", day: 84).exit == 0)
        try host.copyFile("old", to: path)
        #expect(try rotate(history: "seen", day: 84).exit == 78)
        #expect(try rotate(day: 84).exit == 0)
        #expect(try host.kids(path).count == 2)
    }

    @Test func `rotate --now --at-once makes the pending key seal, or a new one, and warns who lacks it`() throws {
        try host.succeed("rotate", "--now", "senders")
        let pending = try #require(host.kids().last)
        let output = try host.succeed("rotate", "--now", "--at-once", "senders", day: 1)
        #expect(output.stderr.contains("key \(pending) is primary from ") && output.stdout.isEmpty, "\(output)")
        try host.succeed("rotate", "--now", "--at-once", "senders", day: 2)
        #expect(try host.kids().count == 3)
        try host.expectHealthy(day: 2)
        #expect(try host.run("rotate", "--at-once", "senders").exit == 64)
    }
}
