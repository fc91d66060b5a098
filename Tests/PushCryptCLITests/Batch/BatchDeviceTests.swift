import Foundation
import PushCryptTestSupport
import Testing

/// With a public key `device` is only a name, from which a campaign's ids are derived.
@Suite("device members of a batch's lines", .ownThreads)
struct BatchDeviceTests {
    private static let keys = ["p256", "p256 psk", "x25519", "x25519 psk"]
    private static let devices: [String?] = [nil, "d1", "d2", "d1"]
    private static let payload = #""payload":{"aps":{"alert":"x"}}"#

    /// How a line names its key.
    enum Way: CaseIterable {
        case jwk, kid, option
    }

    private let batch: BatchPlace

    init() throws {
        batch = try BatchPlace()
        try batch.place.write(Self.directory.get(), to: "recipients.db", mode: 0o600)
        try batch.place.write(Data(BatchPlace.jwk("device").utf8), to: "device.json")
    }

    /// The database of `recipients import`, made once.
    private static let directory = Result {
        let place = try Workplace()
        let records = try keys.map { try BatchPlace.registration($0) } + [BatchPlace.jwk("device")]
        try place.write(BatchPlace.data(records), to: "recipients.jsonl", mode: 0o600)
        let imported = try place.run("recipients", "import", "recipients.jsonl", "--into", "recipients.db")
        try #require(imported.isSuccess, "\(imported)")
        try #require(try place.names() == ["recipients.db", "recipients.jsonl"])
        return try place.read("recipients.db")
    }

    private static func line(_ number: Int, to: String, _ device: String?) -> String {
        let device = device.map { #""device":"\#($0)","# } ?? ""
        return #"{"n":\#(number),\#(to)\#(device)\#(payload)}"#
    }

    private func seal(_ key: String, _ way: Way, _ options: String...) throws -> Output {
        let registration = try BatchPlace.registration(key)
        try batch.place.write(Data(registration.utf8), to: "registration.json")
        let (to, wayOptions) =
            switch way {
            case .jwk: (#""to":\#(registration),"#, [String]())
            case .kid: (#""to":"\#(try BatchPlace.kid(key))","#, ["--recipients", "recipients.db"])
            case .option: ("", ["--to", "registration.json"])
            }
        let lines = Self.devices.enumerated().map { Self.line($0, to: to, $1) }
        let output = try batch.place.run(BatchPlace.seal + wayOptions + options, stdin: BatchPlace.data(lines))
        #expect(output.exit == 0, "\(output)")
        return output
    }

    private static func ids(_ output: Output) -> [String] {
        output.text.matches(of: /"pushcrypt":\{"line":\d+,"id":"([^"]+)"/).map { String($0.1) }
    }

    private func expectOpens(_ sealed: Output) throws {
        let opened = try batch.open(sealed.text.linesWithNewline, "--keys", "devices.json")
        #expect(opened.exit == 0 && BatchPlace.numbers(opened.stdout) == [0, 1, 2, 3], "\(opened)")
        #expect(Self.ids(opened) == Self.ids(sealed))
        for (line, device) in zip(opened.text.linesWithNewline, Self.devices) {
            #expect(line.contains(Self.payload))
            #expect(device.map { line.contains(#""device":"\#($0)""#) } ?? !line.contains("device"), "\(line)")
        }
    }

    @Test("two runs of a campaign give each device the same message id", arguments: keys, Way.allCases)
    func campaign(_ key: String, _ way: Way) throws {
        let runs = try (0..<2).map { _ in try seal(key, way, "--id-from", "spring sale") }
        #expect(runs[0].stdout != runs[1].stdout)
        // HMAC-SHA256 by Python's hmac with the psk or no key, over "pushcrypt/1 campaign", the name, the kid and the device.
        let names = [
            "p256": ["l_8GVRzjfFRaPykYrqlWHg", "NOhTsT_lykibHbyFPcZFNw", "JTZJ-f8dEKNlCAVDJTZJog"],
            "p256 psk": ["AbhPkIMX6uN6SM47qqdrpA", "ncSuTWaniXXofA_Sq75hdQ", "CCTHLFYF0YBqdEvblfDCHQ"],
            "x25519": ["hTezQIexReHmTZ2kqYNaGw", "iAYmOcL27htMM1JkK73RZQ", "4dVQyOdcCEKjrzkPToiByA"],
            "x25519 psk": ["xVh_PnQ_61WxqYFF-a4bHw", "Z1BaaUMKeTU5TuMt324FGQ", "fQR1nKfYdH40cnQrzPHa6w"],
        ]
        let expected = try #require(names[key])
        for run in runs { #expect(Self.ids(run) == expected + [expected[1]]) }
        try expectOpens(runs[1])
    }

    @Test("without --id-from every message has a random id", arguments: keys, Way.allCases)
    func random(_ key: String, _ way: Way) throws {
        let runs = try (0..<2).map { _ in try seal(key, way) }
        #expect(Set(runs.flatMap(Self.ids)).count == 8)
        try expectOpens(runs[0])
    }

    @Test("a key whose set demands a psk opens nothing without it, with and without a device", arguments: [nil, "d1"])
    func demandedPSK(device: String?) throws {
        let life = #""\#(try BatchPlace.kid("p256"))":{"activatesAt":"2026-01-01T00:00:00Z","psk":true}"#
        let other = #""\#(try BatchPlace.kid("p256 psk"))":{"activatesAt":"2026-01-01T00:00:00Z","psk":true}"#
        let keys = try ["p256", "p256 psk"].map { try BatchPlace.jwk($0) }.joined(separator: ",")
        let set = #"{"keys":[\#(keys)],"pushcrypt":{"seq":1,"keys":{\#(life),\#(other)}}}"#
        try batch.place.write(Data(set.utf8), to: "demanding.json")
        let line = Self.line(0, to: #""to":\#(try BatchPlace.registration("p256")),"#, device)
        let sealed = try batch.seal([line])
        #expect(sealed.exit == 0, "\(sealed)")
        let opened = try batch.open(
            sealed.text.linesWithNewline, "--keys", "demanding.json", "--errors", "errors.jsonl")
        #expect(opened.exit == 65, "\(opened)")
        #expect(try batch.refusedLines().map(\.reason) == ["unknownKey"])
    }

    @Test("a key pair's record with a device is refused by seal and by open", arguments: ["p256", "x25519"])
    func recordWithDevice(_ key: String) throws {
        let (registration, pair) = try (BatchPlace.registration(key), BatchPlace.jwk(key))
        func named(_ jwk: String) -> String { #"{"device":"d1","# + jwk.dropFirst() }
        let sealed = try batch.seal(
            [Self.line(0, to: #""to":\#(named(registration)),"#, nil)], "--errors", "errors.jsonl")
        #expect(sealed.exit == 65, "\(sealed)")
        #expect(try batch.refusedLines().map(\.reason) == ["malformed"])
        try batch.place.write(Data(named(pair).utf8), to: "named.json")
        let opened = try batch.open([], "--keys", "named.json")
        #expect(opened.exit == 65 && opened.stderr.contains("device"), "\(opened)")
    }

    /// A device's own key is refused for another device, by JWK, kid or option.
    @Test("the own key of a device seals for that device only", arguments: ["phone-1_A", "tablet-2"])
    func sharedKey(_ device: String) throws {
        let lines = [
            Self.line(0, to: "", device), Self.line(1, to: #""to":\#(try BatchPlace.jwk("device")),"#, device),
            Self.line(2, to: #""to":"\#(try BatchPlace.kid("device"))","#, device),
        ]
        let output = try batch.seal(
            lines, "--to", "device.json", "--recipients", "recipients.db", "--id-from", "spring sale", "--errors",
            "errors.jsonl")
        let isOwn = device == "phone-1_A"
        #expect(output.exit == (isOwn ? 0 : 65), "\(output)")
        #expect(Self.ids(output) == (isOwn ? Array(repeating: "hhsoE2C8fpvZKTkaBZzGzQ", count: 3) : []))
        let reasons = isOwn ? [] : ["wrongDevice", "wrongDevice", "unknownKey"]
        #expect(try batch.refusedLines().map(\.reason) == reasons)
    }
}
