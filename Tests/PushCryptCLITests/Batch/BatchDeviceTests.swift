import Foundation
import PushCryptTestSupport
import Testing

/// With a public key `device` is only a name, from which a campaign's ids are derived.
@Suite("device members of a batch's lines", .ownThreads)
struct BatchDeviceTests {
    private static let devices: [String?] = [nil, "d1", "d2", "d1"]
    private static let payload = #""payload":{"aps":{"alert":"x"}}"#

    /// How a line names its key.
    enum Way: CaseIterable {
        case jwk, kid, option
    }

    private let batch: BatchPlace

    init() throws {
        batch = try BatchPlace()
        try batch.importRecipients(["p256 psk", "device"])
        try batch.place.write(Data(BatchPlace.jwk("device").utf8), to: "device.json")
        try batch.place.write(Data(BatchPlace.registration("p256 psk").utf8), to: "registration.json")
    }

    private static func line(_ number: Int, to: String, _ device: String?) -> String {
        let device = device.map { #""device":"\#($0)","# } ?? ""
        return #"{"n":\#(number),\#(to)\#(device)\#(payload)}"#
    }

    private func seal(_ way: Way, _ options: String...) throws -> Output {
        let (to, wayOptions) =
            switch way {
            case .jwk: (#""to":\#(try BatchPlace.registration("p256 psk")),"#, [String]())
            case .kid: (#""to":"\#(try BatchPlace.kid("p256 psk"))","#, ["--recipients", "recipients.db"])
            case .option: ("", ["--to", "registration.json"])
            }
        let lines = Self.devices.enumerated().map { Self.line($0, to: to, $1) }
        let output = try batch.place.run(BatchPlace.seal + wayOptions + options, stdin: BatchPlace.data(lines))
        #expect(output.exit == 0, "\(output)")
        return output
    }

    @Test(
        "two runs of a campaign give each device the same message id, and without --id-from every id is random",
        arguments: Way.allCases)
    func campaign(_ way: Way) throws {
        let runs = try (0..<2).map { _ in try seal(way, "--id-from", "spring sale") }
        #expect(runs[0].stdout != runs[1].stdout)
        // HMAC-SHA256 by Python's hmac with the psk, over "pushcrypt/1 campaign", the name, the kid and the device.
        let expected = ["AbhPkIMX6uN6SM47qqdrpA", "ncSuTWaniXXofA_Sq75hdQ", "CCTHLFYF0YBqdEvblfDCHQ"]
        for run in runs { #expect(BatchPlace.ids(run) == expected + [expected[1]]) }
        #expect(try Set(BatchPlace.ids(seal(way)) + BatchPlace.ids(seal(way))).count == 8)
        let opened = try batch.open(runs[1].text.linesWithNewline, "--keys", "devices.json")
        #expect(opened.exit == 0 && BatchPlace.numbers(opened.stdout) == [0, 1, 2, 3], "\(opened)")
        #expect(BatchPlace.ids(opened) == expected + [expected[1]])
    }

    @Test("a key pair's record with a device is refused by seal and by open")
    func recordWithDevice() throws {
        func named(_ jwk: String) -> String { #"{"device":"d1","# + jwk.dropFirst() }
        let line = Self.line(0, to: #""to":\#(named(try BatchPlace.registration("p256"))),"#, nil)
        #expect(try batch.seal([line], "--errors", "errors.jsonl").exit == 65)
        #expect(try batch.place.refusedLines().map(\.reason) == ["malformed"])
        try batch.place.write(Data(named(BatchPlace.jwk("p256")).utf8), to: "named.json")
        expectRefusal(try batch.open([], "--keys", "named.json"), 65, saying: "device")
    }

    /// A device's own key is refused for another device, by JWK, kid or option.
    @Test("the own key of a device seals for that device only", arguments: ["phone-1_A", "tablet-2"])
    func sharedKey(_ device: String) throws {
        let lines = [
            Self.line(0, to: "", device), Self.line(1, to: #""to":\#(try BatchPlace.jwk("device")),"#, device),
            Self.line(2, to: #""to":"\#(try BatchPlace.kid("device"))","#, device),
        ]
        let output = try batch.seal(
            lines, "--to", "device.json", "--recipients", "recipients.db", "--errors", "errors.jsonl")
        let isOwn = device == "phone-1_A"
        #expect(output.exit == (isOwn ? 0 : 65) && BatchPlace.ids(output).count == (isOwn ? 3 : 0), "\(output)")
        let reasons = isOwn ? [] : ["wrongDevice", "wrongDevice", "unknownKey"]
        #expect(try batch.place.refusedLines().map(\.reason) == reasons)
    }
}
