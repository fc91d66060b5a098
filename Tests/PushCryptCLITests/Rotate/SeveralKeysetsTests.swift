import Foundation
import PushCryptTestSupport
import Testing

@Suite("rotate of several keysets", .ownThreads)
struct SeveralKeysetsTests {
    private let place: Workplace
    private static let due = "2026-03-25T00:00:00Z"

    init() throws {
        place = try Workplace()
        try place.createAtNewYear("Keys/app")
        try place.createAtNewYear("Keys/backend", "sender", "--rotate-every", "365d")
    }

    private func plans(_ output: Output) throws -> [[String: Any]] {
        try output.text.split(separator: "\n").map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
    }

    @Test("rotate --json prints one line for each keyset")
    func lines() throws {
        let output = try place.run("rotate", "Keys/app", "Keys/backend", "--json", "--at", Self.due)
        #expect(output.isSuccess, "\(output)")
        let plans = try plans(output)
        #expect(plans.map { $0["keyset"] as? String } == ["Keys/app", "Keys/backend"])
        #expect(plans.map { ($0["done"] as? [Any])?.count } == [1, 0])
        #expect(plans.allSatisfy { Set($0.keys) == ["keyset", "at", "done", "due", "blocked", "next"] })
    }

    @Test(
        "--all rotates every keyset of the keystore", arguments: [["--all"], ["--all", "Keys"], ["Keys/", "--all"]])
    func all(_ arguments: [String]) throws {
        try place.copyDemoKeys()
        try place.makeFolder("Keys/empty")
        let output = try place.run(["rotate", "--json", "--at", Self.due] + arguments)
        #expect(output.isSuccess, "\(output)")
        #expect(try plans(output).map { $0["keyset"] as? String } == ["Keys/app", "Keys/backend"])
    }

    @Test("a bad keyset doesn't stop the others, and the exit status is the most severe one")
    func bad() throws {
        try place.write(Data("{".utf8), to: "Keys/app/keyset.json")
        let output = try place.run("rotate", "Keys/app", "Keys/backend", "--json", "--now", "--at", Self.due)
        #expect(output.exit == 65)
        #expect(output.hasOneLineOnStderr)
        let plans = try plans(output)
        #expect(plans.map { $0["keyset"] as? String } == ["Keys/app", "Keys/backend"])
        #expect(Set(plans[0].keys) == ["keyset", "error"])
        #expect((plans[0]["error"] as? String).map(output.stderr.contains) == true, "\(output)")
        #expect(try place.states("Keys/backend", at: Self.due) == ["primary", "pending"])
    }

    @Test("rotate --all and keys list report a keyset whose keyset.json is lost, exit 66, and process the others")
    func lost() throws {
        try FileManager.default.removeItem(at: place.folder.file("Keys/app/keyset.json"))
        let rotated = try place.run("rotate", "--all", "--json", "--at", Self.due)
        #expect(rotated.exit == 66 && rotated.stderr.contains("Keys/app"), "\(rotated)")
        #expect(try plans(rotated).map { $0["keyset"] as? String } == ["Keys/app", "Keys/backend"])
        let listed = try place.run("keys", "list", "Keys", "--at", Self.due)
        #expect(listed.exit == 66 && (listed.text + listed.stderr).contains("Keys/app"), "\(listed)")
        #expect(listed.text.contains("backend"))
    }

    @Test("--exit-code: rotate exits 10 if a step was carried out and 0 if there was nothing to do")
    func exitCode() throws {
        let command = ["rotate", "--all", "--exit-code", "--at", Self.due]
        #expect(try place.run(command).exit == 10)
        #expect(try place.run(command).exit == 0)
        expectUsageError(try place.run(command + ["--dry-run"]))
    }

    @Test("a blocked keyset and a due one together exit 75")
    func blocked() throws {
        try place.createAtNewYear("Keys/gated", "shared", "--require-coverage", "99.9%")
        _ = try place.rotate("Keys/gated", at: Self.due)
        let output = try place.run(
            "rotate", "Keys/app", "Keys/gated", "--dry-run", "--json", "--at", "2026-04-02T00:00:00Z")
        #expect(output.exit == 75)
        let plans = try plans(output)
        #expect((plans[0]["due"] as? [Any])?.count == 1)
        #expect((plans[1]["blocked"] as? [Any])?.count == 1)
    }

    @Test(
        "rotate exits 66 without a keyset and 64 without an argument",
        arguments: ["Keys": Int32(66), "--all none": 66, "none": 66, "": 64])
    func nothing(_ arguments: String, _ status: Int32) throws {
        let output = try place.run(["rotate"] + arguments.split(separator: " ").map(String.init))
        #expect(output.exit == status, "\(output)")
        #expect(output.stdout.isEmpty)
    }
}
