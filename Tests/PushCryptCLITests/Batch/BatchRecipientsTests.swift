import Foundation
import PushCryptTestSupport
import Testing

/// Lines that name their recipient by kid.
@Suite("batch with a recipient directory", .ownThreads)
struct BatchRecipientsTests {
    private static let names = ["p256", "p256 psk", "x25519", "x25519 psk"]

    private static func place() throws -> BatchPlace {
        let batch = try BatchPlace()
        try batch.importRecipients(names + ["shared"])
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
        #expect(try batch.place.refusedLines().map(\.reason) == ["unknownKey", "recipientMissing"])
    }

    @Test(
        "with --require-psk or --minimum-suite a line to a weaker key is refused, and the others are sealed",
        arguments: [
            (["--require-psk"], "pskMissing", [1, 2, 4, 5]), (["--minimum-suite", "xwing"], "suiteTooLow", [2, 5]),
        ], ["--batch", "--stream"])
    func required(_ demand: (options: [String], reason: String, sealed: [Int]), _ mode: String) throws {
        let batch = try Self.place()
        let lines = try [
            Self.line(0, to: "p256"), Self.line(1, to: "p256 psk"), Self.line(2, to: "shared", device: "d"),
            #"{"n":3,"to":\#(BatchPlace.registration("x25519")),"payload":{"aps":{"alert":"x"}}}"#,
            #"{"n":4,"to":\#(BatchPlace.registration("x25519 psk")),"payload":{"aps":{"alert":"x"}}}"#,
            Self.line(5, to: "shared", device: "e"),
        ]
        let refused = Array(repeating: demand.reason, count: lines.count - demand.sealed.count)
        let errors = mode == "--batch" ? ["--errors", "errors.jsonl"] : []
        let output = try batch.place.run(
            ["seal", mode] + BatchPlace.seal.dropFirst(2) + ["--recipients", "recipients.db"] + demand.options + errors,
            stdin: BatchPlace.data(lines))
        if mode == "--batch" {
            #expect(output.exit == 65 && BatchPlace.numbers(output.stdout) == demand.sealed, "\(output)")
            #expect(try batch.place.refusedLines().map(\.reason) == refused)
        } else {
            #expect(output.exit == 0, "\(output)")
            #expect(output.text.matches(of: /"code":"([^"]*)"/).map { String($0.1) } == refused)
        }
    }
}
