import Foundation
import PushCryptTestSupport
import Testing

/// The names of a line's members: `campaign`, and names that are nearly those of the tool.
@Suite("members of a batch's lines", .ownThreads)
struct BatchMemberTests {
    private static let payload = #""payload":{"aps":{"alert":"x"}}"#

    private static func ids(_ output: Output) -> [String] {
        output.text.matches(of: /"pushcrypt":\{"line":\d+,"id":"([^"]+)"/).map { String($0.1) }
    }

    @Test("campaign in a line makes its id as --id-from does, replaces --id-from, and stays in the line")
    func campaign() throws {
        let batch = try BatchPlace()
        func line(_ campaign: String) -> String { #"{"device":"d1","campaign":"\#(campaign)",\#(Self.payload)}"# }
        let plain = #"{"device":"d1",\#(Self.payload)}"#
        let named = try ["a", "b"].map {
            try Self.ids(batch.seal([plain], "--to", "fleet.json", "--id-from", $0))[0]
        }
        let mixed = try batch.seal(
            [line("a"), line("b"), line("a"), plain], "--to", "fleet.json", "--id-from", "b")
        #expect(mixed.exit == 0, "\(mixed)")
        #expect(Self.ids(mixed) == [named[0], named[1], named[0], named[1]])
        #expect(mixed.text.hasPrefix(#"{"device":"d1","campaign":"a","payload""#))
        let alone = try batch.seal([line("a"), plain, plain], "--to", "fleet.json")
        #expect(Self.ids(alone)[0] == named[0])
        #expect(Set(Self.ids(alone)).count == 3)
    }

    @Test("a campaign that is no string of 1 to 255 bytes is refused", arguments: ["7", "null", "\"\"", "[\"a\"]"])
    func badCampaign(_ json: String) throws {
        let batch = try BatchPlace()
        let output = try batch.seal([#"{"device":"d1","campaign":\#(json),\#(Self.payload)}"#], "--to", "fleet.json")
        #expect(output.exit == 65 && output.stdout.isEmpty, "\(output)")
        #expect(output.stderr.contains(json == "\"\"" ? "invalidOption" : #""campaign" is not a string"#), "\(output)")
    }

    @Test(
        "a member whose name is nearly that of a missing one is refused, and the message has the right name",
        arguments: [
            ("expire", "expires"), ("Expires", "expires"), ("exspires", "expires"), ("epxires", "expires"),
            ("DEVICE", "device"), ("divice", "device"), ("badge_add", "badgeAdd"), ("badgeadd", "badgeAdd"),
            ("To", "to"), ("retracts", "retract"), ("place-holder", "placeholder"), ("campain", "campaign"),
        ])
    func misspelt(_ name: String, _ right: String) throws {
        let batch = try BatchPlace()
        let device = right == "device" ? "" : #""device":"d1","#
        let line = #"{\#(device)"\#(name)":"secret",\#(Self.payload)}"#
        let output = try batch.seal([line], "--to", "fleet.json")
        #expect(output.exit == 65 && output.stdout.isEmpty, "\(output)")
        #expect(output.stderr.contains("line 1: malformedLine: "), "\(output)")
        #expect(output.stderr.contains("\"\(right)\"") && !output.stderr.contains("secret"), "\(output)")
    }

    @Test("a misspelt payload is refused with the right name")
    func misspeltPayload() throws {
        let batch = try BatchPlace()
        let output = try batch.seal([#"{"device":"d1","Payload":{"aps":{"alert":"x"}}}"#], "--to", "fleet.json")
        #expect(output.exit == 65 && output.stderr.contains("nearly \"payload\""), "\(output)")
    }

    @Test(
        "other names, and a name beside the one that it is near to, stay in the line",
        arguments: [
            #""token":"a""#, #""tok":1"#, #""two":2"#, #""t":1"#, #""expires":"12h","expired":true"#,
            #""devices":["a"]"#, "\"\":1", #""quest":1"#, #""dev":1"#, #""user":"x""#,
        ])
    func others(_ members: String) throws {
        let batch = try BatchPlace()
        let output = try batch.seal([#"{"device":"d1",\#(members),\#(Self.payload)}"#], "--to", "fleet.json")
        #expect(output.exit == 0, "\(output)")
        let kept = members.replacing(#""expires":"12h","#, with: "")
        #expect(output.text.hasPrefix(#"{"device":"d1",\#(kept),"payload""#), "\(output)")
    }
}
