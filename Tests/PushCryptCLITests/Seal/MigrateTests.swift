import Foundation
import PushCryptCore
import PushCryptTestSupport
import Testing

@Suite("migrate", .ownThreads)
struct MigrateTests {
    private let place: Workplace

    init() throws { place = try Workplace() }

    private static func line(_ body: Int, _ others: String = "", root: String = "") -> String {
        #"{"aps":{"alert":{"title":"t","body":"\#(String(repeating: "x", count: body))"}\#(others)}\#(root)}"#
    }

    private func plan(_ lines: [String]) throws -> (exit: Int32?, json: [String: Any]) {
        let output = try place.run(["migrate", "--json"], stdin: Data(lines.joined(separator: "\n").utf8))
        return (output.exit, try Payload.object(output.payload))
    }

    private func fit(_ json: [String: Any], _ suite: Int, _ carrier: Carrier) throws -> (Int, [Int], [Int]) {
        let cell = try #require(
            ((json["fits"] as? [String: Any])?["\(suite)"] as? [String: Any])?[carrier.rawValue] as? [String: Any])
        return (
            try #require(cell["whole"] as? Int), try #require(cell["shortened"] as? [Int]),
            try #require(cell["offloaded"] as? [Int])
        )
    }

    @Test("payloads are counted by suite and carrier: whole, with a shortened body, only offloaded")
    func fits() throws {
        let custom = #","data":"\#(String(repeating: "y", count: 3_000))""#
        let (exit, json) = try plan([Self.line(10), Self.line(2_600), Self.line(10, root: custom)])
        #expect(exit == 0 && json["payloads"] as? Int == 3)
        #expect(try fit(json, 1, .apns) == (2, [], [3]))
        // The text of an envelope, and what Firebase adds, leave less room, and a key of suite 3 still less.
        #expect(try fit(json, 1, .text) == (1, [2], [3]))
        #expect(try fit(json, 3, .apns) == (1, [2], [3]))
    }

    @Test("what the plan says fits is what seal accepts", arguments: Carrier.allCases)
    func isTrue(_ carrier: Carrier) throws {
        try place.create("Keys/ios", "recipient")
        try place.create("Keys/push", "sender")
        let seal =
            ["seal", "--to", "Keys/ios", "--sign-with", "Keys/push", "--carrier", carrier.rawValue]
            + Workplace.atTopic([])
        func fits(_ body: Int) throws -> Bool { try fit(plan([Self.line(body)]).json, 1, carrier).0 == 1 }
        var (low, high) = (10, 4_000)
        while high - low > 1 {
            let middle = (low + high) / 2
            if try fits(middle) { low = middle } else { high = middle }
        }
        #expect(try place.run(seal, stdin: Data(Self.line(low).utf8)).exit == 0)
        #expect(try place.run(seal, stdin: Data(Self.line(high).utf8)).exit == 65)
    }

    @Test(
        "silent pushes and Live Activities are named by line, refused payloads with a reason, and visible members counted"
    )
    func others() throws {
        let lines = [
            #"{"aps":{"content-available":1},"n":1}"#, #"{"aps":{"event":"update","content-state":{"a":1}}}"#,
            Self.line(3, #","sound":"a.caf""#), Self.line(3, #","content-available":1"#), #"{"aps":{}}"#, "not JSON",
            #"{"token":"ab","payload":\#(Self.line(3))}"#,
        ]
        let (exit, json) = try plan(lines)
        #expect(exit == 65 && json["silent"] as? [Int] == [1, 5] && json["liveActivities"] as? [Int] == [2])
        #expect(json["visible"] as? [String: Int] == ["sound": 1, "content-available": 1])
        let refused = try #require(json["refused"] as? [[String: Any]])
        #expect(refused.compactMap { $0["line"] as? Int } == [6])
        #expect(try fit(json, 2, .fcm).0 == 3)
        let text = try place.run(["migrate"], stdin: Data(lines.joined(separator: "\n").utf8))
        #expect(
            text.text.contains("oneSignal") && text.text.contains("(lines 1, 5)") && !text.text.contains("a.caf"),
            "\(text)"
        )
    }

    @Test("no payload is an error")
    func empty() throws { #expect(try place.run(["migrate"], stdin: Data()).exit == 65) }
}
