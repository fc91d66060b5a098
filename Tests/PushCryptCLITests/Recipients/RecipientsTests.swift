import Foundation
import PushCryptCore
import PushCryptSQLite
import PushCryptTestSupport
import Testing

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#endif

@Suite("recipients import and recipients check", .ownThreads)
struct RecipientsTests {
    private let place: Workplace

    init() throws { place = try Workplace() }

    @Test("check counts recipients by suite, as text and as JSON")
    func check() throws {
        let line = try place.registration("Keys/ios", "--psk")
        try place.write(
            Data("\(line)\n\(try place.registration("Keys/x", "--suite", "x25519"))\n\(line)\n".utf8), to: "lines")
        try place.importLines("lines", into: "d")
        let text = try place.run("recipients", "check", "d")
        #expect(text.isSuccess, "\(text)")
        #expect(
            text.text == """
                2 recipients
                  suite 1  1  HPKE P-256, AES-256-GCM
                  suite 2  1  HPKE X25519, AES-128-GCM

                """)
        let object = try place.run("recipients", "check", "d", "--json").object()
        #expect(object["collisions"] as? Int == 0 && object["bad"] as? Int == 0)
        #expect(object["recipients"] as? [String: Int] == ["1": 1, "2": 1, "3": 0, "4": 0])
    }

    @Test("check reports a bad record, exits 65 and shows no secret")
    func bad() throws {
        let line = try place.registration("Keys/ios", "--psk")
        let psk = try #require(line.firstMatch(of: /"psk":\s*"([^"]+)"/)?.1)
        try place.write(Data("\(line)\n".utf8), to: "lines")
        try place.importLines("lines", into: "d")
        try Database(path: place.folder.file("d").path, busyTimeout: .zero).run(
            "UPDATE recipients SET record = replace(record, '\"kty\"', '\u{1b}[2J')")
        let text = try place.run("recipients", "check", "d")
        #expect(text.exit == 65 && text.stderr == "pushcrypt: d: 0 collisions, 1 bad record\n", "\(text)")
        #expect(text.text.contains("d: the record of key "))
        #expect(!text.text.contains(psk) && !text.text.contains("\u{1b}"))
        let json = try place.run("recipients", "check", "d", "--json")
        let object = try json.object()
        #expect(json.exit == 65 && object["collisions"] as? Int == 0 && object["bad"] as? Int == 1)
        let problems = try #require(object["problems"] as? [[String: Any]])
        #expect(problems.map { $0["isCollision"] as? Bool } == [false])
    }

    @Test("import names bad lines and collisions, exits 65, and shows no secret", arguments: [false, true])
    func badLines(_ isCollision: Bool) throws {
        let line = try place.registration("Keys/ios", "--psk")
        let psk = try #require(line.firstMatch(of: /"psk":\s*"([^"]+)"/)?.1)
        let second =
            isCollision ? line.replacing(psk, with: (psk.first == "A" ? "B" : "A") + psk.dropFirst()) : "?\u{1b}[2J"
        try place.write(Data("\(line)\n\(second)\n".utf8), to: "lines")
        let output = try place.run("recipients", "import", "lines", "--into", "d")
        expectRefusal(
            output, 65,
            saying: isCollision
                ? "lines: lines 1 and 2 have different records of key " : "lines: line 2: not strict JSON")
        #expect(!output.stderr.contains(psk.dropFirst()) && !output.stderr.contains("\u{1b}"))
        #expect(try !place.names().contains { $0.hasPrefix("d") })
    }

    @Test("import --require-psk imports nothing if a record has no psk, and names its line")
    func requiredPSK() throws {
        let lines = [try place.registration("Keys/psk", "--psk"), try place.registration("Keys/plain")]
        try place.write(Data((lines.joined(separator: "\n") + "\n").utf8), to: "lines", mode: 0o600)
        let output = try place.run("recipients", "import", "lines", "--into", "d", "--require-psk")
        expectRefusal(output, 65, saying: "lines: line 2: key ")
        #expect(output.stderr.contains("has no psk"), "\(output)")
        #expect(try !place.names().contains { $0.hasPrefix("d") })
        try place.importLines("lines", into: "all")
        let copy = try place.run("recipients", "import", "all", "--into", "d", "--require-psk")
        expectRefusal(copy, 65, saying: "all: key ")
        try place.write(Data((lines[0] + "\n").utf8), to: "first", mode: 0o600)
        #expect(try place.run("recipients", "import", "first", "--into", "d", "--require-psk").isSuccess)
    }

    @Test("JSON lines in place of a directory are refused with the command that imports them")
    func jsonLines() throws {
        try place.writeDevices(1)
        let output = try place.run("recipients", "check", "devices.jsonl")
        expectRefusal(output, 65, saying: "pushcrypt recipients import FILE --into DATABASE")
        #expect(try place.names() == ["devices.jsonl"])
    }

    @Test("import adds all records or none")
    func importing() throws {
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

    @Test(
        "an import that fails on a full disk leaves no database",
        .enabled(if: Sanitizer.isAbsent, "\(Sanitizer.limitsFiles)"), arguments: [0, 8, 64, 128])
    func full(_ blocks: Int) throws {
        try place.writeDevices(1_000)
        let limited = """
            (trap '' XFSZ; ulimit -f \(blocks); exec "$PUSHCRYPT" recipients import devices.jsonl --into d 2>&1) | cat >&2
            """
        let output = try place.shell(limited)
        #expect(output.stderr.hasPrefix("pushcrypt: d: SQLite: "), "\(output)")
        #expect(try place.names() == ["devices.jsonl"])
        try place.expectImport(1_000)
    }

    /// The import is killed when the new database has this many bytes.
    @Test("a killed import leaves no incomplete directory, and the next import works", arguments: [0, 1, 20_000])
    func killed(_ byteCount: Int) throws {
        try place.writeDevices(1_000)
        let running = try CLI.start(["recipients", "import", "devices.jsonl", "--into", "d"], in: place.folder.url)
        let names = ["d.new", "d"].map { place.folder.file($0).path }
        while names.allSatisfy({ place.byteCount(of: $0) < byteCount }) {}
        running.process.kill()
        let output = try running.wait()
        guard output.signal == SIGKILL else { return #expect(output.isSuccess, "\(output)") }
        // The import may have finished its work before it was killed.
        guard try !place.names().contains("d") else { return }
        try place.expectImport(1_000)
        try place.expectWhole(1_000)
    }
}

extension Workplace {
    /// The record that an app uploads, as one line.
    fileprivate func registration(_ path: String, _ options: String...) throws -> String {
        _ = try create(path, "recipient", options, at: Self.now)
        return try publicJWK(path)
    }

    fileprivate func importLines(_ lines: String, into database: String) throws {
        let output = try run("recipients", "import", lines, "--into", database)
        #expect(output.isSuccess, "\(output)")
    }

    fileprivate func expectImport(_ count: Int) throws {
        let output = try run("recipients", "import", "devices.jsonl", "--into", "d")
        #expect(output.isSuccess && output.text == "\(count) added, 0 unchanged\n", "\(output)")
    }

    fileprivate func expectWhole(_ count: Int) throws {
        let check = try run("recipients", "check", "d")
        #expect(check.isSuccess && check.text.hasPrefix("\(count) recipients\n"), "\(check)")
        #expect(try names() == ["d", "devices.jsonl"])
    }

    /// The file's size; -1 if it doesn't exist.
    fileprivate func byteCount(of path: String) -> Int {
        (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? -1
    }

    /// Writes `devices.jsonl` with the first `count` of 3,000 device keys of one shared key.
    func writeDevices(_ count: Int) throws {
        try write(Data(Self.deviceLines.get().prefix(count).joined()), to: "devices.jsonl", mode: 0o600)
    }

    /// Derived once, because a debug build takes long for so many.
    private static let deviceLines = Result {
        let master = try KeyRecord.generate(.shared, backend: DefaultBackend.shared)
        return try (0..<3_000).map { number in
            var line = [UInt8]()
            try master.deviceRecord(DeviceID("phone-\(number)")).appendJWK(to: &line)
            return line + [UInt8(ascii: "\n")]
        }
    }
}
