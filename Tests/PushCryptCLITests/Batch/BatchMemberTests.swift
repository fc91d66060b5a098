import Foundation
import PushCryptTestSupport
import Testing

/// The names of a line's members: `campaign`, and names that are nearly those of the tool.
@Suite("members of a batch's lines", .ownThreads)
struct BatchMemberTests {
    private static let payload = #""payload":{"aps":{"alert":"x"}}"#

    @Test("campaign in a line makes its id as --id-from does, replaces --id-from, and stays in the line")
    func campaign() throws {
        let batch = try BatchPlace()
        func line(_ campaign: String) -> String { #"{"device":"d1","campaign":"\#(campaign)",\#(Self.payload)}"# }
        let plain = #"{"device":"d1",\#(Self.payload)}"#
        let named = try ["a", "b"].map {
            try BatchPlace.ids(batch.seal([plain], "--to", "fleet.json", "--id-from", $0))[0]
        }
        let mixed = try batch.seal(
            [line("a"), line("b"), line("a"), plain], "--to", "fleet.json", "--id-from", "b")
        #expect(mixed.exit == 0, "\(mixed)")
        #expect(BatchPlace.ids(mixed) == [named[0], named[1], named[0], named[1]])
        #expect(mixed.text.hasPrefix(#"{"device":"d1","campaign":"a","payload""#))
        let alone = try batch.seal([line("a"), plain, plain], "--to", "fleet.json")
        #expect(BatchPlace.ids(alone)[0] == named[0])
        #expect(Set(BatchPlace.ids(alone)).count == 3)
    }

    @Test(
        "a member whose name is nearly that of a missing one is refused, and the message has the right name",
        arguments: [
            ("Expires", "expires"), ("epxires", "expires"), ("divice", "device"), ("badge_add", "badgeAdd"),
            ("To", "to"), ("place-holder", "placeholder"),
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
}
