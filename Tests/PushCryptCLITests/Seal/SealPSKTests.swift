import Foundation
import Testing

/// A record that lost its psk on the way is sealed to, and the device can't open the push.
@Suite("what seal says about a psk", .ownThreads)
struct SealPSKTests {
    private let batch: BatchPlace
    private var place: Workplace { batch.place }
    private static let payload = #""payload":{"aps":{"alert":"x"}}"#
    private static let note = "a device can't open a push if the record lost its psk; --require-psk refuses these lines"

    init() throws {
        batch = try BatchPlace()
        for name in ["p256", "p256 psk", "x25519", "x25519 psk"] {
            try place.write(Data(BatchPlace.registration(name).utf8), to: "\(name).json")
        }
    }

    @Test("a set in which another key has a psk is sealed to with a note, and -q omits it")
    func set() throws {
        let names = ["p256", "p256 psk"]
        let keys = try names.map { try BatchPlace.registration($0) }.joined(separator: ",")
        let kids = try names.map { try BatchPlace.kid($0) }
        let lives = zip(kids, ["02", "01"]).map { #""\#($0)":{"activatesAt":"2026-\#($1)-01T00:00:00Z"}"# }
        let set = #"{"keys":[\#(keys)],"pushcrypt":{"seq":1,"keys":{\#(lives.joined(separator: ","))}}}"#
        try place.write(Data(set.utf8), to: "set.json")
        let output = try place.seal(to: "set.json")
        #expect(output.exit == 0, "\(output)")
        #expect(
            output.stderr.hasPrefix(
                "pushcrypt: key \(kids[0]) of set.json has no psk, and another key has one"),
            "\(output)")
        #expect(try place.seal(to: "set.json", "-q").stderr.isEmpty)
    }

    private func seal(_ names: [String], _ options: String...) throws -> Output {
        let lines = try names.map { #"{"to":\#(try BatchPlace.registration($0)),\#(Self.payload)}"# }
        return try place.run(BatchPlace.seal + options, stdin: BatchPlace.data(lines))
    }

    @Test("a batch in which some records have a psk and others don't ends with a note, and -q omits it")
    func batchNote() throws {
        let mixed = try seal(["p256 psk", "p256", "x25519 psk"])
        #expect(mixed.exit == 0, "\(mixed)")
        #expect(mixed.stderr.contains("2 pushes used a psk, and 1 had none: \(Self.note)"), "\(mixed)")
        #expect(try !seal(["p256 psk", "p256"], "-q").stderr.contains("psk"))
        for names in [["p256", "x25519"], ["p256 psk", "x25519 psk"]] {
            #expect(try !seal(names).stderr.contains("psk"))
        }
    }
}
