import Foundation
import PushCryptCore
import PushCryptTestSupport
import Testing

/// A process that opens for a long time uses the keys of the moment.
@Suite("keys of open --stream and --batch", .ownThreads)
struct OpenStreamKeysTests {
    private static func place() throws -> BatchPlace {
        let batch = try BatchPlace()
        for (path, kind) in [("Keys/fleet", "shared"), ("Keys/push", "sender")] {
            _ = try batch.place.create(path, kind, [], at: "\(UnixTime.now)")
        }
        try batch.place.write(Data(), to: "stderr")
        return batch
    }

    private static func client(_ batch: BatchPlace, _ mode: String) throws -> StreamClient {
        try StreamClient(
            batch, ["open", mode, "--topic", Workplace.topic, "--keys", "Keys/fleet", "--trust", "Keys/push"],
            stderr: batch.place.folder.file("stderr").path)
    }

    /// A line that is sealed and signed with the keys of this moment.
    private static func sealed(_ batch: BatchPlace) throws -> String {
        let output = try batch.place.run(
            "seal", "--batch", "--topic", Workplace.topic, "--to", "Keys/fleet", "--sign-with", "Keys/push",
            stdin: BatchPlace.data([BatchPlace.line(0)]))
        try #require(output.exit == 0, "\(output)")
        return String(output.text.dropLast())
    }

    private static func answer(_ client: StreamClient, to line: String) throws -> String {
        try client.send(line)
        return try client.answer()
    }

    private static func words(_ batch: BatchPlace) throws -> String {
        String(decoding: try batch.place.read("stderr"), as: UTF8.self)
    }

    /// Replaces the keys that sealed (`kid`) or signed (`skid`) a line.
    private static func revoke(_ member: String, of line: String, _ path: String, _ batch: BatchPlace) throws {
        let kid = try #require(line.firstMatch(of: Regex(#""\#(member)":"([^"]+)""#))?.output[1].substring)
        try batch.place.revoke(path, String(kid), at: "\(UnixTime.now)")
    }

    @Test("after a rotation in another process, lines with the new key are opened", arguments: ["--stream", "--batch"])
    func rotated(_ mode: String) throws {
        let batch = try Self.place()
        let client = try Self.client(batch, mode)
        let line = try Self.sealed(batch)
        #expect(try Self.answer(client, to: line).contains(#""payload":{"aps""#))
        try Self.revoke("kid", of: line, "Keys/fleet", batch)
        try Self.revoke("skid", of: line, "Keys/push", batch)
        #expect(try Self.answer(client, to: Self.sealed(batch)).contains(#""payload":{"aps""#))
        client.finishSending()
        #expect(try client.process.wait() == .exit(0))
        let words = try Self.words(batch)
        for path in ["Keys/fleet", "Keys/push"] {
            #expect(words.contains("pushcrypt: \(path): new keys in use\n"), "\(words)")
        }
    }

    @Test("a line with a sender key that was revoked in the meantime is refused") func revokedSender() throws {
        let batch = try Self.place()
        let client = try Self.client(batch, "--stream")
        let line = try Self.sealed(batch)
        #expect(try Self.answer(client, to: line).contains(#""payload":{"aps""#))
        try Self.revoke("skid", of: line, "Keys/push", batch)
        #expect(try Self.answer(client, to: line).hasPrefix(#"{"error":{"code":"#))
    }

    @Test("a damaged or older keyset is reported once, and the keys in use stay in use") func damaged() throws {
        let batch = try Self.place()
        let client = try Self.client(batch, "--stream")
        let first = try batch.place.read("Keys/push.keyset")
        try Self.revoke("skid", of: Self.sealed(batch), "Keys/push", batch)
        let line = try Self.sealed(batch)
        #expect(try Self.answer(client, to: line).contains(#""payload":{"aps""#))
        for data in [first.dropLast(40), first] {
            try batch.place.write(data, to: "Keys/push.keyset")
            for _ in 0..<3 { #expect(try Self.answer(client, to: line).contains(#""payload":{"aps""#)) }
        }
        let refusals = try Self.words(batch).linesWithNewline.filter { $0.contains("new keys rejected") }
        #expect(refusals.count == 2 && refusals.last?.contains("doesn't go on from line") == true, "\(refusals)")
    }

    @Test("keys from a pipe, which can be read once, stay in use") func pipe() throws {
        let batch = try BatchPlace()
        let sealed = try batch.seal((0..<3).map { BatchPlace.line($0) }, "--to", "fleet.json")
        try batch.place.write(sealed.stdout, to: "lines")
        let command = (["\"$PUSHCRYPT\""] + BatchPlace.open + ["--keys key"]).joined(separator: " ")
        let output = try batch.place.shell("mkfifo key; cat fleet.json >key & \(command) <lines")
        #expect(output.exit == 0 && output.text.linesWithNewline.count == 3, "\(output)")
    }
}
