import PushCryptTestSupport
import Testing

@testable import PushCryptCore

@Suite struct OuterPayloadTests {
    /// Raw JSON of each member; nil leaves it out.
    struct Fields: Sendable {
        var v: String? = "1"
        var kid: String? = "\"AAAAAAAAAAA\""
        var sealed: String? = "\"AAAA\""
        var skid: String?
        var alert: String? = "\"New message\""
        var mutableContent: String? = "1"

        var json: String {
            func object(_ members: [(String, String?)]) -> String {
                let texts = members.compactMap { name, value in value.map { "\"\(name)\":\($0)" } }
                return "{" + texts.joined(separator: ",") + "}"
            }
            let envelope = object([("v", v), ("kid", kid), ("sealed", sealed), ("skid", skid)])
            let aps = object([("alert", alert), ("mutable-content", mutableContent)])
            return object([("aps", aps), ("pushcrypt", envelope)])
        }

        func with(_ field: WritableKeyPath<Fields, String?>, _ value: String?) -> Fields {
            var changed = self
            changed[keyPath: field] = value
            return changed
        }
    }

    private static func read(_ json: String) -> Result<OuterPayload, FailureClass> {
        Result { () throws(FailureClass) in
            guard let text = try? JSONText(Array(json.utf8)) else { throw .internalError }
            return try OuterPayload(text)
        }
    }

    private func expect(
        _ failure: FailureClass, _ json: String, _ location: SourceLocation = #_sourceLocation
    ) {
        switch Self.read(json) {
        case .success: Issue.record("accepted: \(json)", sourceLocation: location)
        case .failure(let found): #expect(found == failure, "\(json)", sourceLocation: location)
        }
    }

    @Test("an unsigned payload is read with kid and sealed")
    func unsigned() throws {
        let outer = try Self.read(Fields(sealed: "\"AAEC\"").json).get()
        #expect(outer.kid.description == "AAAAAAAAAAA")
        #expect(outer.sealed == [0, 1, 2])
        #expect(outer.skid == nil)
    }

    @Test("a signed payload is read with its skid")
    func signed() throws {
        let outer = try Self.read(Fields(skid: "\"AAAAAAAAAAE\"").json).get()
        #expect(outer.skid?.description == "AAAAAAAAAAE")
    }

    private static let otherWritings = [
        #"{"aps":{"alert":"x","mutable-content":1},"pushcrypt":{"v":1,"kid":"AAAAAAAAAAA","sealed":"AA","new":[1]}}"#,
        #"{"pushcrypt":{"sealed":"\u0041A","kid":"AAAAAAAAAAA","v":1},"aps":{"mutable-content":1,"alert":{"body":"x"}}}"#,
        #"{"aps":{"alert":{"loc-key":"x"},"mutable-content":1},"pushcrypt":{"v":1,"kid":"AAAAAAAAAAA","sealed":"_-8"}}"#,
        #" { "aps":{"alert":"x","mutable-content":1,"y":0}, "pushcrypt" : {"v":1,"kid":"AAAAAAAAAAA","sealed":"AA"}}"#,
    ]

    @Test("a payload in any other valid form is read", arguments: otherWritings)
    func accepted(json: String) throws {
        _ = try Self.read(json).get()
    }

    @Test(
        "a payload without a pushcrypt member throws notSealed",
        arguments: [
            #"{}"#, #"{"aps":{"alert":"x"}}"#, #"{"aps":5}"#, #"{"x":{"pushcrypt":{}}}"#, #"{"Pushcrypt":{}}"#,
        ])
    func notSealed(json: String) { expect(.notSealed, json) }

    private static let noEnvelopes = WrongJSON.types.map { #"{"pushcrypt":\#($0)}"# }

    @Test(
        "a payload whose root or pushcrypt member isn't an object is malformed",
        arguments: ["[]", "1", "null", #""pushcrypt""#, #"[{"pushcrypt":{}}]"#] + noEnvelopes)
    func noEnvelope(json: String) { expect(.malformed, json) }

    private static let notIntegers = [
        nil, "null", "true", "\"1\"", "1.0", "1e0", "10e-1", "-1", "-0", "9007199254740992", "[1]", "{}", "1.5",
        "100000000000000000000",
    ]

    @Test("a version that isn't a protocol integer is malformed", arguments: notIntegers)
    func versionIsNoInteger(text: String?) { expect(.malformed, Fields(v: text).json) }

    @Test(
        "another version throws unsupportedVersion even with unknown members",
        arguments: ["0", "2", "3", "10", "9007199254740991"])
    func otherVersion(text: String) {
        expect(.unsupportedVersion, Fields(v: text).json)
        expect(.unsupportedVersion, Fields(v: text, kid: nil, sealed: "5", skid: "null", alert: nil).json)
    }

    private static let noKeyIDs =
        WrongJSON.types + [
            "\"\"", "\"AAAAAAAAAA\"", "\"AAAAAAAAAAAA\"", "\"AAAAAAAAAAB\"", "\"AAAAAAAAAA=\"", "\"AAAAAAAAA+A\"",
            "\" AAAAAAAAAA\"", "\"AAAAAAAAAA\\u0000\"", "\"AAAAAAAAAé\"",
        ]

    @Test("a missing or wrong kid is malformed", arguments: [nil] + noKeyIDs)
    func kid(text: String?) { expect(.malformed, Fields(kid: text).json) }

    @Test("a wrong skid is malformed and doesn't mean unsigned", arguments: noKeyIDs)
    func skid(text: String) { expect(.malformed, Fields(skid: text).json) }

    private static let notBase64URL = [
        "\"\"", "\"A\"", "\"AAAAA\"", "\"AB\"", "\"AAB\"", "\"AA==\"", "\"AA+A\"", "\"A A\"", "\"AA\\n\"",
    ]

    @Test("a missing, empty or wrong sealed is malformed", arguments: [nil] + notBase64URL + WrongJSON.types)
    func sealed(text: String?) { expect(.malformed, Fields(sealed: text).json) }

    @Test(
        "a payload without a visible alert is malformed",
        arguments: [nil, "null", "\"\"", "{}", "1", "[]", #"{"title":""}"#, #"{"sound":"x"}"#, #"{"title":1}"#])
    func alert(text: String?) { expect(.malformed, Fields(alert: text).json) }

    @Test("a mutable-content that isn't 1 is malformed", arguments: notIntegers + ["0", "2"])
    func mutableContent(text: String?) { expect(.malformed, Fields(mutableContent: text).json) }

    @Test("an aps that isn't an object is malformed", arguments: WrongJSON.types)
    func apsIsNoObject(text: String) {
        let envelope = #"{"v":1,"kid":"AAAAAAAAAAA","sealed":"AAAA"}"#
        expect(.malformed, #"{"aps":\#(text),"pushcrypt":\#(envelope)}"#)
        expect(.malformed, #"{"pushcrypt":\#(envelope)}"#)
    }
}
