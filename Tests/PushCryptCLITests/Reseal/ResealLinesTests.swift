import Foundation
import PushCryptCore
import Testing

@Suite("reseal", .ownThreads)
struct ResealLinesTests {
    private let rotated: RotatedPlace

    init() throws { rotated = try RotatedPlace() }

    @Test("lines of all kinds are resealed in their order")
    func mixed() throws {
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

    @Test(
        "a byte order mark, white space at the ends of lines and blank lines at the end change nothing",
        arguments: [
            ("", "\n", ""), ("", "\r\n", "\r"), ("", "", ""), ("\u{FEFF}", " \t\n", " \t"), ("", "\n\n \r\n", ""),
        ])
    func ends(_ start: String, _ end: String, kept: String) throws {
        let line = #"{"payload":\#(try rotated.payload("x"))}"#
        let output = try rotated.reseal(Data((start + line + "\n" + line + end).utf8))
        #expect(output.exit == 0, "\(output)")
        // What the command doesn't change stays byte for byte: the white space at the end of a line too.
        #expect(output.text.masked == "\(line)\n\(line)\(kept)\n".masked)
    }

    @Test("no output shows a plaintext or a key")
    func secrecy() throws {
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
        #expect(try rotated.place.refusedLines().map(\.reason) == ["undecryptable", "malformedLine"])
        #expect(try rotated.place.refusedLines("late").map(\.reason) == ["expired", "undecryptable", "malformedLine"])
        let files = try ["errors.jsonl", "late"].map { String(decoding: try rotated.place.read($0), as: UTF8.self) }
        let secrets = try ["keys.json", "senders.json"].flatMap { try rotated.place.secrets(in: $0) }
        #expect(secrets.count == 4)
        for text in outputs.flatMap({ [$0.text, $0.stderr] }) + files {
            for secret in secrets + ["top secret", "\"iat\"", "\"exp\""] { #expect(!text.contains(secret)) }
        }
    }

    @Test(
        "keys that reseal can't use are refused before anything is read or written",
        arguments: [
            (["--keys", "none"], Int32(66), "none"), (["--keys", "Keys"], 65, "Keys"),
            (["--keys", "recipient.json"], 65, "recipient.json: these are recipient keys"),
            (["--keys", "senders.json"], 65, "senders.json: these are sender keys"),
            (["--keys", "keys.json", "--sign-with", "keys.json"], 65, "keys.json: "),
            (["--keys", "keys.json", "--sign-with", "public.json"], 65, "public.json: "),
            (["--keys", "keys.json", "--sign-with", "none"], 66, "none"),
            (["--keys", "keys.json", "--at", "2025-01-01T00:00:00Z"], 65, "keys.json: none of the 2 keys seals"),
            (["--keys", "keys.json", "--topic", "a/b"], 64, "topic"),
            (["--keys", "Keys/demo/shared"], 64, "--allow-demo-keys"),
            (["--keys", "keys.json", "--sign-with", "Keys/demo/sender"], 64, "--allow-demo-keys"),
        ])
    func refusedKeys(_ options: [String], _ status: Int32, _ words: String) throws {
        try rotated.place.create("Keys/ios", "recipient")
        try rotated.place.export("Keys/ios", to: "recipient.json")
        try rotated.place.export("Keys/new-sender", to: "public.json")
        try rotated.place.copyDemoKeys()
        let before = try rotated.place.names()
        var arguments = ["reseal", "--errors", "errors.jsonl"] + options
        if !options.contains("--topic") { arguments += ["--topic", Workplace.topic] }
        if !options.contains("--at") { arguments += ["--at", Workplace.now] }
        expectRefusal(try rotated.place.run(arguments, stdin: Data("{}".utf8)), status, saying: words)
        #expect(try rotated.place.names() == before)
    }

    @Test("reseal with demo keys and --allow-demo-keys exits 0 and prints the current push unchanged")
    func demo() throws {
        try rotated.place.copyDemoKeys()
        let sealed = try rotated.place.sealed(to: "Keys/demo/shared", "--allow-demo-keys")
        let line = Data(#"{"payload":"#.utf8) + sealed.dropLast() + Data("}\n".utf8)
        let output = try rotated.reseal(line, keys: "Keys/demo/shared", "--allow-demo-keys")
        #expect(output.exit == 0, "\(output)")
        #expect(output.stdout == line)
        #expect(output.stderr == "pushcrypt: 1 line: 0 resealed, 1 unchanged, 0 in errors.jsonl\n")
    }
}
