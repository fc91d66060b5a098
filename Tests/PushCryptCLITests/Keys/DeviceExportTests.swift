import Foundation
import PushCryptCore
import PushCryptTestSupport
import Testing

@Suite("keys export --devices", .ownThreads)
struct DeviceExportTests {
    private let place: Workplace

    init() throws {
        place = try Workplace()
        try place.createAtNewYear("Keys/fleet", "shared", "--keep", "1")
    }

    private func export(_ file: String, stdin: Data = Data(), at time: String = Workplace.newYear) throws -> Output {
        try place.run(["keys", "export", "Keys/fleet", "--devices", file, "--at", time], stdin: stdin)
    }

    private func lines(_ output: Output) throws -> [(device: String, keyset: NSDictionary)] {
        try output.text.split(separator: "\n").map { line in
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            return (try #require(object?["device"] as? String), try #require(object?["keyset"] as? NSDictionary))
        }
    }

    @Test("each line has the set that --device prints, which the device opens pushes with")
    func same() throws {
        try place.write(Data("phone-1\nphone-2\n".utf8), to: "ids")
        let output = try export("ids")
        #expect(output.isSuccess, "\(output)")
        let lines = try lines(output)
        #expect(lines.map(\.device) == ["phone-1", "phone-2"])
        for line in lines {
            let single = try place.run(
                "keys", "export", "Keys/fleet", "--device", line.device, "--at", Workplace.newYear)
            #expect(try JSONSerialization.jsonObject(with: single.stdout) as? NSDictionary == line.keyset)
        }
        try place.write(JSONSerialization.data(withJSONObject: lines[1].keyset), to: "phone-2.json")
        let push = try place.sealed(to: "Keys/fleet", at: Workplace.newYear, device: "phone-2")
        #expect(try place.opening(push, with: "phone-2.json", at: Workplace.newYear) == "opened")
    }

    @Test("the lines of many blocks are in the order of the file, also from stdin and without a last newline")
    func order() throws {
        let ids = (0..<20_000).map { "device-number-\($0)" }
        let output = try export("-", stdin: Data(ids.joined(separator: "\n").utf8))
        #expect(output.isSuccess, "\(output)")
        let found = output.text.split(separator: "\n").map { $0.prefix(40).split(separator: "\"")[3] }
        #expect(found.map(String.init) == ids)
    }

    @Test("a line that is no device id is reported with its number, the others are exported, and the exit status is 65")
    func refused() throws {
        let long = String(repeating: "a", count: 65)
        let huge = String(repeating: "b", count: 3 << 20)
        let text = "a\nb c\n\n\(long)\n\(huge)\ncarriage\rreturn\nd"
        let output = try export("-", stdin: Data(text.utf8))
        #expect(output.exit == 65 && output.hasOneLineOnStderr, "\(output)")
        #expect(try lines(output).map(\.device) == ["a", "d"])
        #expect(output.stderr.hasPrefix("pushcrypt: -: exported the keys of 2 devices; no device id"), "\(output)")
        #expect(output.stderr.hasSuffix(" in line 2, 3, 4, 5, 6\n"), "\(output)")
        let many = try export("-", stdin: Data(String(repeating: "?\n", count: 500).utf8))
        #expect(many.stderr.hasSuffix(" in line 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 490 more\n"), "\(many)")
    }

    @Test(
        "a file from Windows or an editor has the same devices",
        arguments: [
            "phone-1\r\nphone-2\r\n", "\u{FEFF}phone-1\nphone-2\n", "phone-1 \nphone-2\t\n\n",
            "phone-1\nphone-2\r\n \r\n",
        ])
    func windows(_ text: String) throws {
        try place.write(Data(text.utf8), to: "ids")
        let output = try export("ids")
        #expect(output.isSuccess, "\(output)")
        #expect(try lines(output).map(\.device) == ["phone-1", "phone-2"])
    }

    @Test("a file in UTF-16 is refused by name, exit status 65")
    func utf16() throws {
        try place.write(Data("phone-1\n".utf16.flatMap { [UInt8($0 & 0xFF), 0] }), to: "ids")
        expectRefusal(try export("ids"), 65, saying: "ids is UTF-16: save it as UTF-8")
    }

    @Test("only keys that open are exported")
    func states() throws {
        try place.succeed("rotate", "Keys/fleet", at: "2026-03-25T00:00:00Z")
        for (time, count) in [("2026-03-25T00:00:00Z", 2), ("2026-05-02T00:00:00Z", 1)] {
            let line = try #require(try lines(export("-", stdin: Data("a".utf8), at: time)).first)
            #expect((line.keyset["keys"] as? [Any])?.count == count)
        }
    }

    @Test("a million devices need one unlock: the wrap command runs once for a whole file")
    func oneUnlock() throws {
        let encrypted = try EncryptedPlace()
        try encrypted.create("Keys/hsm", .shared, isCommand: true)
        try encrypted.place.write(Data("echo >>calls; sh kms \"$1\"".utf8), to: "counted")
        let ids = (0..<10_000).map { "\($0)\n" }.joined()
        let output = try encrypted.place.run(
            "keys", "export", "Keys/hsm", "--devices", "-", "--wrap-command", "sh counted", stdin: Data(ids.utf8))
        #expect(output.isSuccess, "\(output.stderr)")
        #expect(output.stdout.count { $0 == UInt8(ascii: "\n") } == 10_000)
        #expect(try encrypted.place.read("calls").count == 1)
    }

    @Test("an empty file prints nothing and exits 0; a missing one exits 66, and other kinds of keys exit 64")
    func ends() throws {
        let empty = try export("-")
        #expect(empty.isSuccess && empty.stdout.isEmpty, "\(empty)")
        expectRefusal(try export("none"), 66, saying: "none")
        try place.create("Keys/senders", "sender")
        expectRefusal(
            try place.run("keys", "export", "Keys/senders", "--devices", "-"), 64, saying: "these are sender keys")
    }

    @Test(
        "options of other outputs exit 64",
        arguments: [["--device", "a"], ["--registration"], ["--private"], ["--format", "raw"]])
    func usage(_ options: [String]) throws {
        expectUsageError(try place.run(["keys", "export", "Keys/fleet", "--devices", "-"] + options))
    }

    @Test("a closed stdout ends the export with 74")
    func closed() throws {
        let script = "\"$PUSHCRYPT\" keys export Keys/fleet --devices - >&-; exit $?"
        let output = try place.shell(script, stdin: Data("a\n".utf8))
        #expect(output.exit == 74, "\(output)")
    }
}
