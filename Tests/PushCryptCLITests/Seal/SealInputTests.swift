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

    static let cases = [
        Case("empty", ""),
        Case("a newline", "\n"),
        Case("truncated", #"{"aps":{"alert":"x""#),
        Case("trailing bytes", #"{"aps":{"alert":"x"}}{}"#),
        Case("duplicate names", #"{"aps":{"alert":"x"},"a":1,"\u0061":2}"#),
        Case("a byte order mark", "\u{feff}{\"aps\":{\"alert\":\"x\"}}"),
        Case("a lone surrogate", #"{"aps":{"alert":"\ud800"}}"#),
        Case("binary garbage", Data((0..<4096).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ 13) })),
        Case("NUL bytes", Data(count: 4096)),
        Case("five megabytes of JSON", SizeTests.inner(bodyCount: 5_000_000)),
        Case("five megabytes of nothing", Data(count: 5_000_000)),
        Case("an array", "[]"),
        Case("no aps", "{}"),
        Case("aps of another type", #"{"aps":1}"#),
        Case("no alert", #"{"aps":{"badge":1}}"#),
        Case("an empty alert", #"{"aps":{"alert":""}}"#),
        Case("an alert without text", #"{"aps":{"alert":{"title":"","launch-image":"x"}}}"#),
        Case("a pushcrypt member", #"{"aps":{"alert":"x"},"pushcrypt":{}}"#),
        Case("nesting that ends the stack", String(repeating: "[", count: 500_000)),
    ]

    @Test("a malformed payload is refused with an empty stdout", arguments: cases)
    func refuse(_ test: Case) throws {
        let place = try Workplace()
        try place.create("Keys/ios", "recipient")
        expectRefusal(try place.seal(to: "Keys/ios", payload: test.payload), 65)
    }

    @Test("a payload that is already sealed is refused")
    func sealedTwice() throws {
        let place = try Workplace()
        try place.create("Keys/ios", "recipient")
        let sealed = try place.sealed(to: "Keys/ios")
        expectRefusal(try place.seal(to: "Keys/ios", payload: sealed), 65, saying: "sealed before")
    }
}
