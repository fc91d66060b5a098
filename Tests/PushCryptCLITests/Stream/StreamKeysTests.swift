import Foundation
import PushCryptCore
import PushCryptTestSupport
import Testing

/// A long-running process chooses the current keys for each line.
@Suite("keys of --stream and --batch", .ownThreads)
struct StreamKeysTests {
    private let batch: BatchPlace

    init() throws {
        batch = try BatchPlace()
        for (path, kind) in [("Keys/fleet", "shared"), ("Keys/push", "sender")] {
            _ = try batch.place.create(path, kind, [], at: "\(UnixTime.now)")
        }
        try batch.place.write(Data(), to: "stderr")
    }

    private func client(_ command: String, _ mode: String) throws -> StreamClient {
        let keys =
            command == "seal"
            ? ["--to", "Keys/fleet", "--sign-with", "Keys/push"] : ["--keys", "Keys/fleet", "--trust", "Keys/push"]
        return try StreamClient(
            batch, [command, mode, "--topic", Workplace.topic] + keys, stderr: batch.place.folder.file("stderr").path)
    }

    private func words() throws -> String { String(decoding: try batch.place.read("stderr"), as: UTF8.self) }

    private func revoke(_ path: String, _ kid: String) throws {
        try batch.place.revoke(path, kid, at: "\(UnixTime.now)")
    }

    /// The ids of the keys that seal and sign a line.
    private static func kids(_ client: StreamClient) throws -> [String] {
        try client.send(BatchPlace.line(0))
        return try kids(of: client.answer())
    }

    private static func kids(of line: String) throws -> [String] {
        let match = try #require(line.firstMatch(of: /"kid":"([^"]+)","sealed":"[^"]+","skid":"([^"]+)"/), "\(line)")
        return [String(match.1), String(match.2)]
    }

    @Test(
        "after a rotation in another process lines are sealed and signed with the new keys, and never with the revoked ones",
        arguments: ["--stream", "--batch"])
    func sealing(_ mode: String) throws {
        let client = try client("seal", mode)
        let old = try Self.kids(client)
        for (path, kid) in zip(["Keys/fleet", "Keys/push"], old) { try revoke(path, kid) }
        // The tool checks its keysets once a second.
        var new = old
        repeat { new = try Self.kids(client) } while !Set(new).isDisjoint(with: old)
        for _ in 0..<20 { #expect(try Self.kids(client) == new) }
        client.finishSending()
        #expect(try client.process.wait() == .exit(0))
        let words = try words()
        for (path, kid) in zip(["Keys/fleet", "Keys/push"], new) {
            #expect(words.contains("pushcrypt: \(path): new keyset in use: primary key \(kid)\n"), "\(words)")
        }
    }

    /// A line that is sealed and signed with the keys of this moment.
    private func sealed() throws -> String {
        let output = try batch.place.run(
            "seal", "--batch", "--topic", Workplace.topic, "--to", "Keys/fleet", "--sign-with", "Keys/push",
            stdin: BatchPlace.data([BatchPlace.line(0)]))
        try #require(output.exit == 0, "\(output)")
        return String(output.text.dropLast())
    }

    private static func isOpened(_ line: String, by client: StreamClient) throws -> Bool {
        try client.send(line)
        return try client.answer().contains(#""payload":{"aps""#)
    }

    @Test(
        "after a rotation in another process lines with the new keys are opened, and the revoked sender's refused",
        arguments: ["--stream", "--batch"])
    func opening(_ mode: String) throws {
        let client = try client("open", mode)
        let line = try sealed()
        #expect(try Self.isOpened(line, by: client))
        for (path, kid) in zip(["Keys/fleet", "Keys/push"], try Self.kids(of: line)) { try revoke(path, kid) }
        #expect(try Self.isOpened(sealed(), by: client))
        if mode == "--stream" { #expect(try !Self.isOpened(line, by: client)) }
        client.finishSending()
        #expect(try client.process.wait() == .exit(0))
        let words = try words()
        for path in ["Keys/fleet", "Keys/push"] {
            #expect(words.contains("pushcrypt: \(path): new keys in use\n"), "\(words)")
        }
    }

    @Test("a damaged or older keyset is reported once, and the keys in use stay in use")
    func damaged() throws {
        let client = try client("open", "--stream")
        let first = try batch.place.read("Keys/push.keyset")
        try revoke("Keys/push", Self.kids(of: sealed())[1])
        let line = try sealed()
        #expect(try Self.isOpened(line, by: client))
        for data in [first.dropLast(40), first] {
            try batch.place.write(data, to: "Keys/push.keyset")
            for _ in 0..<3 { #expect(try Self.isOpened(line, by: client)) }
        }
        let refusals = try words().linesWithNewline.filter { $0.contains("new keys rejected") }
        #expect(refusals.count == 2 && refusals.last?.contains("doesn't go on from line") == true, "\(refusals)")
    }

    @Test("keys from a pipe, which can be read once, stay in use")
    func pipe() throws {
        try batch.place.write(Data(BatchPlace.jwk("sender").utf8), to: "sender.json")
        try batch.place.write(BatchPlace.data((0..<3).map { BatchPlace.line($0) }), to: "lines")
        let output = try batch.place.shell(
            "mkfifo key; cat sender.json >key & \(StreamTests.sealScript) --sign-with key <lines")
        #expect(output.exit == 0 && output.text.matches(of: /"skid"/).count == 3, "\(output)")
    }

    @Test("a batch unwraps each keyset once")
    func unwrappedOnce() throws {
        let script = "#!/bin/sh\necho $1 >>calls\nbase64 \"$([ $1 = wrap ] && echo -w0 || echo -d)\"\n"
        try batch.place.write(Data(script.utf8), to: "wrap", mode: 0o700)
        let command = "\(batch.place.folder.file("wrap").path)"
        let created = try batch.place.run("keys", "create", "Keys/own", "--kind", "sender", "--wrap-command", command)
        try #require(created.exit == 0, "\(created)")
        try batch.place.remove("calls")
        try batch.place.write(Data(BatchPlace.registration("p256").utf8), to: "public.json")
        let sealed = try batch.place.run(
            "seal", "--batch", "--topic", Workplace.topic, "--to", "public.json", "--sign-with", "Keys/own",
            "--wrap-command", command, stdin: BatchPlace.data([BatchPlace.line(0)]))
        #expect(sealed.exit == 0, "\(sealed)")
        #expect(try batch.place.read("calls") == Data("unwrap\n".utf8))
    }
}
