import Foundation
import PushCryptCore
import Testing

@Suite("reseal", .ownThreads)
struct ResealLinesTests {
    @Test("lines of all kinds are resealed in their order")
    func mixed() throws {
        let rotated = try RotatedPlace()
        let kinds: [(key: String, device: String?, sender: String?)] = [
            ("old", nil, nil), ("old", "phone", nil), ("old", nil, "old-sender"), ("old", "phone", "old-sender"),
            ("old", "tablet", "new-sender"), ("new", "phone", "old-sender"), ("new", nil, nil),
            ("new", "tablet", "new-sender"),
        ]
        let lines = try kinds.enumerated().map { index, kind in
            let payload = try rotated.payload("body \(index)", to: kind.key, device: kind.device, by: kind.sender)
            let device = kind.device.map { #""device" : "\#($0)", "# } ?? ""
            return #" { "n":1.50e0, \#(device)"payload" : \#(payload), "x":{"payload":[]} } "#
        }
        let output = try rotated.reseal(lines, "--sign-with", "senders.json")
        #expect(output.exit == 0, "\(output)")
        #expect(output.stderr == "pushcrypt: 8 lines: 6 resealed, 2 unchanged, 0 in errors.jsonl\n")
        let resealed = output.text.linesWithNewline
        #expect(resealed.map(\.masked) == lines.map(\.masked))
        #expect(resealed.map(\.utf8.count) == lines.map(\.utf8.count))
        #expect(zip(resealed, lines).map { $0 == $1 } == [false, false, false, false, false, false, true, true])
        for (index, kind) in kinds.enumerated() {
            #expect(try rotated.opened(resealed[index], by: kind.sender.map { _ in "new-sender" }) == "body \(index)")
        }
        #expect(try rotated.place.read("errors.jsonl").isEmpty)
        #expect(try rotated.place.mode(of: "errors.jsonl") == 0o600)
    }

    @Test("many lines are resealed in their order")
    func order() throws {
        let rotated = try RotatedPlace()
        let payloads = try ["old", "new"].map { try rotated.payload("x", to: $0) }
        let lines = (0..<1_000).map { index in
            let line = "{\"n\":\(index),\"payload\":\(payloads[index % 2])}"
            return index % 5 == 4 ? String(line.dropLast()) : line
        }
        let output = try rotated.reseal(lines)
        #expect(output.exit == 65, "\(output)")
        #expect(output.stderr == "pushcrypt: 1000 lines: 400 resealed, 400 unchanged, 200 in errors.jsonl\n")
        let whole = lines.enumerated().filter { $0.offset % 5 != 4 }.map(\.element)
        #expect(output.text.linesWithNewline.map(\.masked) == whole.map(\.masked))
        let refused = try rotated.refusedLines()
        #expect(refused.map(\.line) == (1...200).map { $0 * 5 })
        #expect(refused.compactMap(\.input) == stride(from: 4, to: 1_000, by: 5).map { lines[$0] })
    }

    @Test("a keyset that was rotated reseals to its new key and signs with the sender's new key")
    func keyset() throws {
        let (place, day) = (try Workplace(), "2026-02-20T00:00:00Z")
        for (path, kind) in [("Keys/app", "shared"), ("Keys/backend", "sender")] {
            try place.createAtNewYear(path, kind)
        }
        let time = try #require(UnixTime(rfc3339: day))
        let push = try #require(place.sealedByLibrary(to: "Keys/app", by: "Keys/backend", at: time))
        for path in ["Keys/app", "Keys/backend"] { try place.rotate(path, at: day) }
        let output = try place.run(
            RotatedPlace.command + ["Keys/app", "--sign-with", "Keys/backend"],
            stdin: Data(#"{"payload":"#.utf8) + push + Data("}\n".utf8))
        #expect(output.exit == 0, "\(output)")
        for (member, path) in [("kid", "Keys/app"), ("skid", "Keys/backend")] {
            let kid = try Payload.string("payload.pushcrypt.\(member)", of: output.payload)
            #expect(try kid == place.keys(path, at: Workplace.now).last?.kid)
        }
    }

    @Test("payloads of a revoked key are resealed")
    func revoked() throws {
        let rotated = try RotatedPlace()
        let line = #"{"payload":\#(try rotated.payload("x"))}"#
        let set = Payload.replacing("retiresAt", with: "revokedAt", in: try rotated.place.read("keys.json"))
        try rotated.place.write(set, to: "keys.json")
        let output = try rotated.reseal([line])
        #expect(output.exit == 0, "\(output)")
        #expect(output.stderr == "pushcrypt: 1 line: 1 resealed, 0 unchanged, 0 in errors.jsonl\n")
        #expect(try rotated.opened(output.line) == "x")
    }

    @Test(
        "a byte order mark, white space at the ends of lines and blank lines at the end change nothing",
        arguments: [
            ("", "\n", ""), ("", "\r\n", "\r"), ("", "", ""), ("\u{FEFF}", " \t\n", " \t"), ("", "\n\n \r\n", ""),
        ])
    func ends(_ start: String, _ end: String, kept: String) throws {
        let rotated = try RotatedPlace()
        let line = #"{"payload":\#(try rotated.payload("x"))}"#
        let output = try rotated.reseal(Data((start + line + "\n" + line + end).utf8))
        #expect(output.exit == 0, "\(output)")
        // What the command doesn't change stays byte for byte: the white space at the end of a line too.
        #expect(output.text.masked == "\(line)\n\(line)\(kept)\n".masked)
    }

    @Test("empty input writes an empty errors file and no output", arguments: ["</dev/null", "<&-"])
    func nothing(_ stdin: String) throws {
        let rotated = try RotatedPlace()
        let output = try rotated.place.shell("\(RotatedPlace.script) keys.json \(stdin)")
        #expect(output.exit == 0, "\(output)")
        #expect(output.stderr == "pushcrypt: 0 lines: 0 resealed, 0 unchanged, 0 in errors.jsonl\n")
        #expect(output.stdout.isEmpty)
        #expect(try rotated.place.read("errors.jsonl").isEmpty)
        #expect(try rotated.place.mode(of: "errors.jsonl") == 0o600)
    }

    @Test("no output shows a plaintext or a key")
    func secrecy() throws {
        let rotated = try RotatedPlace()
        let whole = try rotated.payload("top secret", by: "old-sender")
        let tampered = String(decoding: try Payload.tampered(Data(whole.utf8)), as: UTF8.self)
        let lines = [whole, tampered, String(whole.dropLast())].map { #"{"payload":\#($0)}"# }
        let late = ["--at", "2027-03-01T09:00:00Z"]
        let outputs = [
            try rotated.reseal(lines, "--sign-with", "senders.json"),
            try rotated.place.run(
                ["reseal", "--keys", "keys.json", "--topic", Workplace.topic, "--errors", "late"] + late
                    + ["--sign-with", "senders.json"], stdin: Data(lines.joined(separator: "\n").utf8)),
        ]
        #expect(try rotated.refusedLines().map(\.reason) == ["undecryptable", "malformedLine"])
        #expect(try rotated.refusedLines("late").map(\.reason) == ["expired", "undecryptable", "malformedLine"])
        let files = try ["errors.jsonl", "late"].map { String(decoding: try rotated.place.read($0), as: UTF8.self) }
        let secrets = try ["keys.json", "senders.json"].flatMap { try rotated.place.secrets(in: $0) }
        #expect(secrets.count == 4)
        for text in outputs.flatMap({ [$0.text, $0.stderr] }) + files {
            for secret in secrets + ["top secret", "\"iat\"", "\"exp\""] { #expect(!text.contains(secret)) }
        }
    }
}
