import Foundation
import PushCryptCore
import PushCryptTestSupport
import Testing

/// A long-running process chooses the current keys for each line.
@Suite("keys of seal --stream and --batch", .ownThreads)
struct StreamKeysTests {
    private static func place() throws -> BatchPlace {
        let batch = try BatchPlace()
        for (path, kind) in [("Keys/fleet", "shared"), ("Keys/push", "sender")] {
            _ = try batch.place.create(path, kind, [], at: "\(UnixTime.now)")
        }
        try batch.place.write(Data(), to: "stderr")
        return batch
    }

    private static func client(_ batch: BatchPlace, _ mode: String, _ options: String...) throws -> StreamClient {
        let arguments = [
            "seal", mode, "--topic", Workplace.topic, "--to", "Keys/fleet", "--sign-with", "Keys/push",
        ]
        return try StreamClient(
            batch, arguments + options, stderr: batch.place.folder.file("stderr").path)
    }

    /// The ids of the keys that seal and sign a line.
    private static func kids(_ client: StreamClient) throws -> [String] {
        try client.send(BatchPlace.line(0))
        let answer = try client.answer()
        let match = try #require(
            answer.firstMatch(of: /"kid":"([^"]+)","sealed":"[^"]+","skid":"([^"]+)"/), "\(answer)")
        return [String(match.1), String(match.2)]
    }

    /// Seals lines until the condition holds. The tool checks its keysets once a second.
    private static func sealLines(
        _ client: StreamClient, until condition: ([String]) throws -> Bool
    ) throws -> [[String]] {
        var all: [[String]] = []
        repeat { all.append(try kids(client)) } while try !condition(all[all.count - 1])
        return all
    }

    @Test(
        "after a rotation in another process lines are sealed and signed with the new keys, and never with the revoked ones",
        arguments: ["--stream", "--batch"])
    func rotated(_ mode: String) throws {
        let batch = try Self.place()
        let client = try Self.client(batch, mode)
        let old = try Self.kids(client)
        for (path, kid) in zip(["Keys/fleet", "Keys/push"], old) {
            try batch.place.revoke(path, kid, at: "\(UnixTime.now)")
        }
        _ = try Self.sealLines(client) { Set($0).isDisjoint(with: old) }
        let new = try Self.kids(client)
        #expect(Set(new).isDisjoint(with: old))
        for _ in 0..<20 { #expect(try Self.kids(client) == new) }
        client.finishSending()
        #expect(try client.process.wait() == .exit(0))
        let words = String(decoding: try batch.place.read("stderr"), as: UTF8.self)
        for (path, kid) in zip(["Keys/fleet", "Keys/push"], new) {
            #expect(words.contains("pushcrypt: \(path): new keyset in use: primary key \(kid)\n"), "\(words)")
        }
    }

    /// Replaces the file by a rename, so that the tool never reads an incomplete file.
    private static func replace(_ path: String, with data: Data, _ batch: BatchPlace) throws {
        try batch.place.write(data, to: "new")
        let output = try batch.place.shell("mv new \(path)")
        try #require(output.isSuccess, "\(output)")
    }

    @Test("a damaged new keyset is reported once on stderr, and the old key stays in use until a valid one is there")
    func damaged() throws {
        let batch = try Self.place()
        let client = try Self.client(batch, "--stream")
        let old = try Self.kids(client)
        let good = try batch.place.read("Keys/push.keyset")
        try Self.replace("Keys/push.keyset", with: good.dropLast(40), batch)
        let refusal = "pushcrypt: Keys/push: keyset rejected; keeping the previous one: "
        func words() throws -> String { String(decoding: try batch.place.read("stderr"), as: UTF8.self) }
        let during = try Self.sealLines(client) { _ in try words().contains(refusal) }
        #expect(during.allSatisfy { $0 == old })
        try Self.replace("Keys/push.keyset", with: good, batch)
        try batch.place.revoke("Keys/push", old[1], at: "\(UnixTime.now)")
        _ = try Self.sealLines(client) { $0[1] != old[1] }
        client.finishSending()
        #expect(try client.process.wait() == .exit(0))
        let said = try words()
        #expect(said.components(separatedBy: refusal).count == 2, "\(said)")
        #expect(!said.contains(refusal + "Keys/push"), "\(said)")
    }

    @Test("keys from a pipe, which can be read once, stay in use")
    func pipe() throws {
        let batch = try BatchPlace()
        try batch.place.write(Data(BatchPlace.jwk("sender").utf8), to: "sender.json")
        try batch.place.write(BatchPlace.data((0..<3).map { BatchPlace.line($0) }), to: "lines")
        let output = try batch.place.shell(
            "mkfifo key; cat sender.json >key & \(StreamTests.sealScript) --sign-with key <lines")
        #expect(output.exit == 0 && output.text.matches(of: /"skid"/).count == 3, "\(output)")
    }

    @Test("a batch unwraps each keyset once")
    func unwrappedOnce() throws {
        let batch = try BatchPlace()
        let script = "#!/bin/sh\necho $1 >>calls\nbase64 \"$([ $1 = wrap ] && echo -w0 || echo -d)\"\n"
        try batch.place.write(Data(script.utf8), to: "wrap", mode: 0o700)
        let command = "\(batch.place.folder.file("wrap").path)"
        let created = try batch.place.run("keys", "create", "Keys/push", "--kind", "sender", "--wrap-command", command)
        try #require(created.exit == 0, "\(created)")
        try batch.place.remove("calls")
        try batch.place.write(Data(BatchPlace.registration("p256").utf8), to: "public.json")
        let sealed = try batch.place.run(
            "seal", "--batch", "--topic", Workplace.topic, "--to", "public.json", "--sign-with", "Keys/push",
            "--wrap-command", command, stdin: BatchPlace.data([BatchPlace.line(0)]))
        #expect(sealed.exit == 0, "\(sealed)")
        #expect(try batch.place.read("calls") == Data("unwrap\n".utf8))
    }
}
