import Foundation
import Testing

@Suite("payloads that seal refuses", .ownThreads)
struct SealInputTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let payload: Data

        init(_ name: String, _ payload: Data) {
            (testDescription, self.payload) = (name, payload)
        }

        init(_ name: String, _ json: String) {
            self.init(name, Data(json.utf8))
        }
    }

    /// Texts that aren't JSON objects.
    static let noObjects = [
        Case("empty", ""), Case("a newline", "\n"), Case("truncated", #"{"aps":{"alert":"x""#),
        Case("duplicate names", #"{"aps":{"alert":"x"},"a":1,"\u0061":2}"#),
        Case("a byte order mark", "\u{feff}{\"aps\":{\"alert\":\"x\"}}"),
        Case("a lone surrogate", #"{"aps":{"alert":"\ud800"}}"#),
        Case("binary garbage", Data((0..<4096).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ 13) })),
        Case("five megabytes of nothing", Data(count: 5_000_000)), Case("an array", "[]"),
        Case("nesting that ends the stack", String(repeating: "[", count: 500_000)),
    ]
    static let objects = [
        Case("no aps", "{}"), Case("aps of another type", #"{"aps":1}"#),
        Case("an alert without text", #"{"aps":{"alert":{"title":"","launch-image":"x"}}}"#),
    ]
    static let refused =
        noObjects + objects + [
            Case("five megabytes of JSON", SealOptionTests.inner(bodyCount: 5_000_000)),
            Case("a pushcrypt member", #"{"aps":{"alert":"x"},"pushcrypt":{}}"#),
        ]

    @Test("a malformed payload is refused with an empty stdout", arguments: refused)
    func refuse(_ test: Case) throws {
        let place = try Workplace()
        try place.create("Keys/ios", "recipient")
        expectRefusal(try place.seal(to: "Keys/ios", payload: test.payload), 65)
    }
}
