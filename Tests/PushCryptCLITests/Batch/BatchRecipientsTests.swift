import Foundation
import PushCryptTestSupport
import Testing

/// Lines that name their recipient by kid.
@Suite("batch with a recipient directory", .ownThreads)
struct BatchRecipientsTests {
    private static let names = ["p256", "p256 psk", "x25519", "x25519 psk"]

    private static func place() throws -> BatchPlace {
        let batch = try BatchPlace()
        let records = try names.map { try BatchPlace.registration($0) } + [BatchPlace.jwk("shared")]
        try batch.place.write(BatchPlace.data(records), to: "recipients.jsonl", mode: 0o600)
        let imported = try batch.place.run("recipients", "import", "recipients.jsonl", "--into", "recipients.db")
        try #require(imported.isSuccess, "\(imported)")
        return batch
    }

    private static func line(_ number: Int, to name: String, device: String? = nil) throws -> String {
        let device = device.map { #""device":"\#($0)","# } ?? ""
        return #"{"n":\#(number),"to":"\#(try BatchPlace.kid(name))",\#(device)"payload":{"aps":{"alert":"x"}}}"#
    }

    /// A public key has one record with or without a device; a shared key has one for each device.
    @Test("several threads find recipients of every suite")
    func found() throws {
        let batch = try Self.place()
        let open = try (0..<200).map { try Self.line($0, to: Self.names[$0 % 4], device: $0 % 3 == 0 ? "d" : nil) }
        let shared = try (200..<300).map { try Self.line($0, to: "shared", device: "d\($0)") }
        let sealed = try batch.seal(open + shared, "--recipients", "recipients.db", "--jobs", "3")
        #expect(sealed.exit == 0, "\(sealed)")
        let lines = sealed.text.linesWithNewline
        #expect(BatchPlace.numbers(sealed.stdout) == Array(0..<300))
        for (keys, lines) in [("devices.json", lines.prefix(200)), ("fleet.json", lines.suffix(100))] {
            let opened = try batch.open(Array(lines), "--keys", keys)
            #expect(opened.exit == 0 && opened.text.linesWithNewline.count == lines.count, "\(opened)")
        }
    }

    @Test("a line with a kid that the directory lacks is refused as unknownKey")
    func unknown() throws {
        let batch = try Self.place()
        let lines = [try Self.line(0, to: "other p256"), try Self.line(1, to: "p256"), #"{"payload":{"aps":{}}}"#]
        let output = try batch.seal(lines, "--recipients", "recipients.db", "--errors", "errors.jsonl")
        #expect(output.exit == 65, "\(output)")
        #expect(BatchPlace.numbers(output.stdout) == [1])
        #expect(try batch.refusedLines().map(\.reason) == ["unknownKey", "recipientMissing"])
    }

    @Test(
        "with --require-psk a line to a key without psk is refused as pskMissing", arguments: ["--batch", "--stream"])
    func requiredPSK(_ mode: String) throws {
        let batch = try Self.place()
        let lines = try [
            Self.line(0, to: "p256"), Self.line(1, to: "p256 psk"), Self.line(2, to: "shared", device: "d"),
            #"{"n":3,"to":\#(BatchPlace.registration("x25519")),"payload":{"aps":{"alert":"x"}}}"#,
            #"{"n":4,"to":\#(BatchPlace.registration("x25519 psk")),"payload":{"aps":{"alert":"x"}}}"#,
        ]
        let errors = mode == "--batch" ? ["--errors", "errors.jsonl"] : []
        let output = try batch.place.run(
            ["seal", mode] + BatchPlace.seal.dropFirst(2) + ["--recipients", "recipients.db", "--require-psk"] + errors,
            stdin: BatchPlace.data(lines))
        if mode == "--batch" {
            #expect(output.exit == 65 && BatchPlace.numbers(output.stdout) == [1, 2, 4], "\(output)")
            #expect(try batch.refusedLines().map(\.reason) == ["pskMissing", "pskMissing"])
        } else {
            let codes = output.text.matches(of: /"code":"([^"]*)"/).map { String($0.1) }
            #expect(output.exit == 0 && codes == ["pskMissing", "pskMissing"], "\(output)")
        }
        #expect(try batch.seal(lines, "--recipients", "recipients.db").exit == 0)
    }

    @Test("with --require-psk a batch to a key without psk ends before any line is read")
    func requiredPSKOfAll() throws {
        let batch = try Self.place()
        try batch.place.write(Data(BatchPlace.registration("p256").utf8), to: "p256.json", mode: 0o600)
        let output = try batch.seal([BatchPlace.line(0)], "--to", "p256.json", "--require-psk")
        expectRefusal(output, 65, saying: "p256.json: key \(try BatchPlace.kid("p256")) has no psk")
    }

    @Test(
        "with --minimum-suite xwing a line to a key of suite 1 or 2 is refused as suiteTooLow, and the others are sealed",
        arguments: ["--batch", "--stream"])
    func minimumSuite(_ mode: String) throws {
        let batch = try Self.place()
        let lines = try [
            Self.line(0, to: "p256"), Self.line(1, to: "shared", device: "d"), Self.line(2, to: "x25519 psk"),
            #"{"n":3,"to":\#(BatchPlace.registration("p256 psk")),"payload":{"aps":{"alert":"x"}}}"#,
            Self.line(4, to: "shared", device: "e"),
        ]
        let errors = mode == "--batch" ? ["--errors", "errors.jsonl"] : []
        let output = try batch.place.run(
            ["seal", mode] + BatchPlace.seal.dropFirst(2) + [
                "--recipients", "recipients.db", "--minimum-suite", "xwing",
            ]
                + errors,
            stdin: BatchPlace.data(lines))
        let refused = Array(repeating: "suiteTooLow", count: 3)
        if mode == "--batch" {
            #expect(output.exit == 65 && BatchPlace.numbers(output.stdout) == [1, 4], "\(output)")
            #expect(try batch.refusedLines().map(\.reason) == refused)
        } else {
            #expect(output.exit == 0, "\(output)")
            #expect(output.text.matches(of: /"code":"([^"]*)"/).map { String($0.1) } == refused)
        }
    }

    @Test("with --minimum-suite xwing a batch to a key of suite 1 ends before any line is read")
    func minimumSuiteOfAll() throws {
        let batch = try Self.place()
        try batch.place.write(Data(BatchPlace.registration("p256").utf8), to: "p256.json", mode: 0o600)
        let output = try batch.seal([BatchPlace.line(0)], "--to", "p256.json", "--minimum-suite", "xwing")
        expectRefusal(output, 65, saying: "p256.json: key \(try BatchPlace.kid("p256")) has suite 1 (")
    }

    /// The directory is refused, not the lines.
    @Test(
        "an unusable directory ends the command before any line is read",
        arguments: [("none", Int32(66)), ("loose.jsonl", 77), ("lines", 65)])
    func unusable(_ name: String, _ status: Int32) throws {
        let batch = try Self.place()
        try batch.place.write(Data(BatchPlace.registration("p256").utf8), to: "loose.jsonl", mode: 0o644)
        try batch.place.write(BatchPlace.data([try Self.line(0, to: "p256")]), to: "lines")
        let output = try batch.place.run(
            BatchPlace.seal + ["--recipients", name, "--errors", "errors.jsonl"],
            stdin: BatchPlace.data([try Self.line(0, to: "p256")]))
        expectRefusal(output, status, saying: name)
        #expect(try !batch.place.names().contains { $0.hasPrefix("errors") })
    }
}
