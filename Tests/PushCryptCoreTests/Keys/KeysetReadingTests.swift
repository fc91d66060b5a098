import PushCryptTestSupport
import Testing

@testable import PushCryptCore

@Suite struct KeysetReadingTests {
    private static let first = TestJWK.named("p256")
    private static let second = TestJWK.named("other p256")

    private static func set(_ keys: [TestJWK], _ member: String?) -> [UInt8] {
        let list = keys.map(\.json).joined(separator: ",")
        return Array("{\"keys\":[\(list)]\(member.map { ",\"pushcrypt\":" + $0 } ?? "")}".utf8)
    }

    private static func lifecycles(_ texts: [(TestJWK, String)]) -> String {
        "{" + texts.map { "\"\($0.text("kid"))\":\($1)" }.joined(separator: ",") + "}"
    }

    @Test("a whole set is read with keys, lifecycles, seq and updatedAt")
    func whole() throws {
        let member = """
            {"seq": 9007199254740991, "updatedAt": "2026-03-02T00:00:00Z", "more": 1, "keys": \
            {"AAAAAAAAAAA": {}, "\(Self.first.text("kid"))": {"createdAt": "2026-01-01T00:00:00Z", \
            "activatesAt": "2026-02-01T01:00:00+01:00", "retiresAt": "2026-03-01T00:00:00Z", \
            "expiresAt": "2026-04-01T00:00:00.9Z", "revokedAt": "2026-05-01T00:00:00Z", "x": 1}, \
            "\(Self.second.text("kid"))": {}}}
            """
        let keyset = try Keyset(json: Self.set([Self.first, Self.second], member))
        #expect(keyset.kind == .recipient)
        #expect(keyset.sequence == 9_007_199_254_740_991)
        #expect(keyset.updatedAt?.description == "2026-03-02T00:00:00Z")
        #expect(keyset.keyIDs.map(\.description) == [Self.first.text("kid"), Self.second.text("kid")])
        let lifecycle = keyset.entries[0].lifecycle
        #expect(lifecycle.createdAt?.description == "2026-01-01T00:00:00Z")
        #expect(lifecycle.activatesAt?.description == "2026-02-01T00:00:00Z")
        #expect(lifecycle.retiresAt?.description == "2026-03-01T00:00:00Z")
        #expect(lifecycle.expiresAt?.description == "2026-04-01T00:00:00Z")
        #expect(lifecycle.revokedAt?.description == "2026-05-01T00:00:00Z")
        #expect(keyset.entries[1].lifecycle == KeyLifecycle())
    }

    @Test("a single key without a lifecycle always seals and opens", arguments: TestJWK.all)
    func oneKey(jwk: TestJWK) throws {
        for json in [Array(jwk.json.utf8), Self.set([jwk], nil)] {
            let keyset = try Keyset(json: json)
            let kid = try #require(KeyID(jwk.text("kid")))
            for time in [0, 1_800_000_000, UnixTime.protocolRange.upperBound] {
                #expect(keyset.state(of: kid, at: UnixTime(time)) == .primary)
            }
        }
    }

    @Test(
        "two keys without lifecycles are refused as malformed",
        arguments: [
            nil, "null", "1", "[]", "{}", #"{"seq":1}"#, #"{"keys":{}}"#, #"{"seq":1,"keys":{}}"#,
            #"{"seq":1,"keys":[]}"#,
            #"{"seq":1,"keys":null}"#,
        ])
    func twoKeysWithoutLifecycles(member: String?) {
        expectKeyError(.malformed) { try Keyset(json: Self.set([Self.first, Self.second], member)) }
    }

    @Test(
        "a set whose seq isn't a protocol integer is refused as malformed",
        arguments: ["null", "-1", "1.0", "1e3", "\"1\"", "true", "[]", "9007199254740992"])
    func sequence(text: String) {
        let member = #"{"seq":\#(text),"keys":\#(Self.lifecycles([(Self.first, "{}")]))}"#
        expectKeyError(.malformed) { try Keyset(json: Self.set([Self.first], member)) }
    }

    @Test("a set without the lifecycle of one key is refused as malformed")
    func oneOfTwoLifecyclesIsMissing() {
        let member = #"{"seq":1,"keys":\#(Self.lifecycles([(Self.first, "{}")]))}"#
        expectKeyError(.malformed) { try Keyset(json: Self.set([Self.first, Self.second], member)) }
    }

    @Test(
        "a lifecycle that isn't an object is refused as malformed",
        arguments: ["null", "1", "true", "\"\"", "[]", "[1]"])
    func lifecycleIsNoObject(text: String) {
        let member = #"{"seq":1,"keys":\#(Self.lifecycles([(Self.first, text)]))}"#
        expectKeyError(.malformed) { try Keyset(json: Self.set([Self.first], member)) }
    }

    @Test(
        "a time of a key that isn't an RFC 3339 string is refused as malformed",
        arguments: ["createdAt", "activatesAt", "retiresAt", "expiresAt", "revokedAt"])
    func timesOfAKey(name: String) {
        for time in Self.wrongTimes {
            let member = #"{"seq":1,"keys":\#(Self.lifecycles([(Self.first, "{\"\(name)\":\(time)}")]))}"#
            expectKeyError(.malformed) { try Keyset(json: Self.set([Self.first], member)) }
        }
    }

    @Test("an updatedAt that isn't an RFC 3339 string is refused as malformed")
    func timeOfTheSet() {
        for time in Self.wrongTimes {
            let member = #"{"seq":1,"updatedAt":\#(time),"keys":\#(Self.lifecycles([(Self.first, "{}")]))}"#
            expectKeyError(.malformed) { try Keyset(json: Self.set([Self.first], member)) }
        }
    }

    private static let wrongTimes = [
        "null", "1772355600", "\"\"", "\"2026-02-30T00:00:00Z\"", "\"2026-03-01\"", "\"2026-03-01T00:00:00\"", "[]",
        "{}",
        "true", "\" 2026-03-01T00:00:00Z\"",
    ]

    @Test(
        "a psk in a lifecycle that isn't true is refused as malformed",
        arguments: ["false", "null", "1", "\"true\"", "[]", "{}"])
    func pskIsTrueOrAbsent(text: String) {
        let member = #"{"seq":1,"keys":\#(Self.lifecycles([(Self.first, "{\"psk\":\(text)}")]))}"#
        expectKeyError(.malformed) { try Keyset(json: Self.set([Self.first], member)) }
    }

    @Test(
        "a psk in the lifecycle of a key that isn't a recipient's is refused as malformed",
        arguments: ["shared", "device", "sender"])
    func pskOfAnotherKind(name: String) {
        let jwk = TestJWK.named(name)
        let member = #"{"seq":1,"keys":\#(Self.lifecycles([(jwk, "{\"psk\":true}")]))}"#
        expectKeyError(.malformed) { try Keyset(json: Self.set([jwk], member)) }
    }

    @Test("a set that contains one key twice throws duplicateKey")
    func sameKeyTwice() {
        let member = #"{"seq":1,"keys":\#(Self.lifecycles([(Self.first, "{}")]))}"#
        for copy in [Self.first, Self.first.withoutPrivateKey] {
            expectKeyError(.duplicateKey) { try Keyset(json: Self.set([Self.first, copy], member)) }
        }
        let shared = #"{"seq":1,"keys":\#(Self.lifecycles([(TestJWK.named("shared"), "{}")]))}"#
        let both = [TestJWK.named("shared"), TestJWK.named("device")]
        expectKeyError(.duplicateKey) { try Keyset(json: Self.set(both, shared)) }
    }

    @Test(
        "a set with keys of two kinds throws wrongKind",
        arguments: [("p256", "sender"), ("sender", "x25519"), ("shared", "p256"), ("sender", "device")])
    func mixedKinds(first: String, second: String) {
        let keys = [first, second].map { TestJWK.named($0) }
        let member = #"{"seq":1,"keys":\#(Self.lifecycles(keys.map { ($0, "{}") }))}"#
        expectKeyError(.wrongKind) { try Keyset(json: Self.set(keys, member)) }
    }

    @Test("a set with recipient keys of two suites is accepted")
    func mixedSuites() throws {
        let keys = [TestJWK.named("p256"), TestJWK.named("x25519 psk")]
        let member = #"{"seq":1,"keys":\#(Self.lifecycles(keys.map { ($0, "{}") }))}"#
        #expect(try Keyset(json: Self.set(keys, member)).keyIDs.count == 2)
    }

    @Test("a set with one invalid record is refused")
    func anyRecordMustBeValid() {
        let member = #"{"seq":1,"keys":\#(Self.lifecycles([(Self.first, "{}"), (Self.second, "{}")]))}"#
        let broken = Self.second.with("alg", "\"ES256\"")
        expectKeyError(.unsupportedKey) { try Keyset(json: Self.set([Self.first, broken], member)) }
    }

    @Test("a set without keys is refused as malformed")
    func noKeys() {
        expectKeyError(.malformed) { try Keyset([]) }
        expectKeyError(.malformed) { try Keyset(json: Self.set([], #"{"seq":1,"keys":{}}"#)) }
    }
}
