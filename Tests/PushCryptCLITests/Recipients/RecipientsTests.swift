import Foundation
import PushCryptCore
import PushCryptTestSupport
import Testing

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#endif

@Suite("recipient directories")
struct RecipientsTests {
    @Test("check counts, as words and as JSON")
    func check() throws {
        let place = try Workplace()
        let line = try place.registration("Keys/ios", "--psk")
        try place.write(
            Data("\(line)\n\(try place.registration("Keys/x", "--suite", "x25519"))\n\(line)\n".utf8), to: "d")
        let words = try place.run("recipients", "check", "d")
        #expect(words.isSuccess, "\(words)")
        #expect(
            words.text == """
                2 recipients
                  suite 1  1  HPKE P-256, AES-256-GCM
                  suite 2  1  HPKE X25519, AES-128-GCM
                1 duplicate

                """)
        let object = try place.run("recipients", "check", "d", "--json").object()
        #expect(object["lines"] as? Int == 3 && object["duplicates"] as? Int == 1 && object["bad"] as? Int == 0)
        #expect(object["recipients"] as? [String: Int] == ["1": 1, "2": 1, "4": 0])
    }

    @Test("check says what is wrong, exits 65, and shows no secret")
    func bad() throws {
        let place = try Workplace()
        let line = try place.registration("Keys/ios", "--psk")
        let psk = try #require(line.firstMatch(of: /"psk":\s*"([^"]+)"/)?.1)
        let rival = line.replacing(psk, with: "A" + psk.dropFirst())
        try place.write(Data("\(line)\n?\u{1b}[2J\n\(rival)\n".utf8), to: "d")
        let words = try place.run("recipients", "check", "d")
        #expect(words.exit == 65 && words.stderr == "pushcrypt: d: 1 collision, 1 bad record\n", "\(words)")
        #expect(words.text.contains("d: lines 1 and 3 have different records of key "))
        #expect(words.text.contains("d: line 2: not strict JSON"))
        #expect(!words.text.contains(psk.dropFirst()) && !words.text.contains("\u{1b}"))
        let json = try place.run("recipients", "check", "d", "--json")
        let object = try json.object()
        #expect(json.exit == 65 && object["collisions"] as? Int == 1 && object["bad"] as? Int == 1)
        let problems = try #require(object["problems"] as? [[String: Any]])
        #expect(problems.map { $0["line"] as? Int } == [1, 2])
        #expect(problems.map { $0["isCollision"] as? Bool } == [true, false])
    }

    @Test("import takes all, or nothing")
    func importing() throws {
        let place = try Workplace()
        try place.write(Data((try place.registration("Keys/ios") + "\n").utf8), to: "d")
        let first = try place.run("recipients", "import", "d", "--into", "d.sqlite")
        #expect(first.isSuccess && first.text == "1 added, 0 unchanged\n", "\(first)")
        #expect(try place.folder.mode(of: "d.sqlite") == 0o600)
        let again = try place.run("recipients", "import", "d", "--into", "d.sqlite", "--json").object()
        #expect(again["added"] as? Int == 0 && again["unchanged"] as? Int == 1)
        #expect(try place.run("recipients", "check", "d.sqlite").text.hasPrefix("1 recipient\n"))
        try place.write(Data("?\n".utf8), to: "e")
        expectRefusal(try place.run("recipients", "import", "e", "--into", "d.sqlite"), 65, saying: "e: ")
    }

    @Test("what can't be opened exits with its status")
    func refusals() throws {
        let place = try Workplace()
        expectRefusal(try place.run("recipients", "check", "none"), 66, saying: "can't read none")
        try place.write(Data("{}\n".utf8), to: "loose", mode: 0o644)
        expectRefusal(try place.run("recipients", "check", "loose"), 77, saying: "chmod 600 loose")
        expectRefusal(try place.run("recipients", "check", "."), 65, saying: "not a file")
        expectUsageError(try place.run("recipients", "import", "loose"))
    }

    @Test("a full disk in the midst of the index leaves nothing", arguments: [0, 8, 64, 128])
    func full(_ blocks: Int) throws {
        let place = try Workplace()
        try place.writeDevices(3_000)
        let limited = """
            (trap '' XFSZ; ulimit -f \(blocks); exec "$PUSHCRYPT" recipients check devices.jsonl 2>&1) | cat >&2
            """
        let output = try place.shell(limited)
        #expect(output.stderr.hasPrefix("pushcrypt: devices.jsonl: SQLite: "), "\(output)")
        #expect(try place.names() == ["devices.jsonl"])
        try place.expectWhole(3_000)
    }

    /// When the new index is there, and when so much of it was written.
    @Test("a killed indexer leaves nothing that is taken for an index", arguments: [0, 1, 20_000])
    func killed(_ byteCount: Int) throws {
        let place = try Workplace()
        try place.writeDevices(3_000)
        let running = try CLI.start(["recipients", "check", "devices.jsonl"], in: place.folder.url)
        let names = ["devices.jsonl.index.new", "devices.jsonl.index"].map { place.folder.file($0).path }
        while names.allSatisfy({ place.byteCount(of: $0) < byteCount }) {}
        running.process.kill()
        let output = try running.wait()
        #expect(output.signal == SIGKILL, "\(output)")
        let left = try place.names()
        #expect(byteCount > 0 || left == ["devices.jsonl", "devices.jsonl.index.new"])
        try place.expectWhole(3_000)
    }

    @Test("two that index at once don't harm each other")
    func two() throws {
        let place = try Workplace()
        try place.writeDevices(3_000)
        let running = try (0..<2).map { _ in
            try CLI.start(["recipients", "check", "devices.jsonl"], in: place.folder.url)
        }
        for process in running {
            let output = try process.wait()
            #expect(output.isSuccess && output.text.hasPrefix("3000 recipients\n"), "\(output)")
        }
        #expect(try place.names() == ["devices.jsonl", "devices.jsonl.index"])
    }

    @Test(
        "where the folder can't be written the index leaves no trace",
        .enabled(if: Unprivileged.isAvailable, Unprivileged.missing))
    func readOnly() throws {
        let place = try Workplace()
        try place.writeDevices(10)
        try place.giveAway()
        try place.setMode(0o555, of: ".")
        defer { try? place.setMode(0o755, of: ".") }
        let script = "mkdir -m 777 /tmp/\(place.folder.url.lastPathComponent)-t || exit 9; "
        let temporary = "/tmp/\(place.folder.url.lastPathComponent)-t"
        let output = try place.shell(
            "\(script) TMPDIR=\(temporary) \(Unprivileged.prefix) \"$PUSHCRYPT\" recipients check devices.jsonl; rmdir \(temporary)"
        )
        #expect(output.isSuccess && output.text.hasPrefix("10 recipients\n"), "\(output)")
        #expect(try place.names() == ["devices.jsonl"])
    }
}

extension Workplace {
    /// The record that an app uploads, as one line.
    fileprivate func registration(_ path: String, _ options: String...) throws -> String {
        let output = try run(
            ["keys", "create", path, "--kind", "recipient", "--insecure-plaintext", "--at", Self.now] + options)
        try #require(output.isSuccess, "\(output)")
        let record = try run("keys", "export", path, "--registration", "--at", Self.now)
        try #require(record.isSuccess, "\(record)")
        return record.line.replacing("\n", with: " ")
    }

    fileprivate func expectWhole(_ count: Int) throws {
        let next = try run("recipients", "check", "devices.jsonl")
        #expect(next.isSuccess && next.text.hasPrefix("\(count) recipients\n"), "\(next)")
        #expect(try names() == ["devices.jsonl", "devices.jsonl.index"])
    }

    /// -1 where there is no such file.
    fileprivate func byteCount(of path: String) -> Int {
        (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? -1
    }

    /// `devices.jsonl` with so many devices' keys of one master.
    func writeDevices(_ count: Int) throws {
        let master = try KeyRecord.generate(.shared, backend: DefaultBackend.shared)
        var lines = [UInt8]()
        for number in 0..<count {
            try master.deviceRecord(DeviceID("phone-\(number)")).appendJWK(to: &lines)
            lines.append(UInt8(ascii: "\n"))
        }
        try write(Data(lines), to: "devices.jsonl", mode: 0o600)
    }
}
