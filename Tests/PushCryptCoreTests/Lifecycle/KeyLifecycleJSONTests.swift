import Testing

@testable import PushCryptCore

@Suite struct KeyLifecycleJSONTests {
    private let kid = KeyID("AAAAAAAAAAA")!
    private static let whole = KeyLifecycle(
        createdAt: UnixTime(0), activatesAt: UnixTime(86_400), retiresAt: UnixTime(2 * 86_400),
        expiresAt: UnixTime(3 * 86_400), revokedAt: UnixTime(4 * 86_400), destroyedAt: UnixTime(5 * 86_400))

    private func read(_ text: String) throws -> KeyLifecycle {
        let json = try JSONText(Array(text.utf8))
        return try KeyLifecycle(json.root, of: kid)
    }

    @Test("a lifecycle with all times is written and read again")
    func whole() throws {
        let members = Self.whole.jsonMembers(withHistory: true)
        #expect(
            members == [
                #""createdAt": "1970-01-01T00:00:00Z""#, #""activatesAt": "1970-01-02T00:00:00Z""#,
                #""retiresAt": "1970-01-03T00:00:00Z""#, #""expiresAt": "1970-01-04T00:00:00Z""#,
                #""revokedAt": "1970-01-05T00:00:00Z""#, #""destroyedAt": "1970-01-06T00:00:00Z""#,
            ])
        #expect(try read("{" + members.joined(separator: ",") + "}") == Self.whole)
    }

    @Test("a published lifecycle has neither createdAt nor destroyedAt")
    func published() throws {
        let read = try read("{" + Self.whole.jsonMembers(withHistory: false).joined(separator: ",") + "}")
        var expected = Self.whole
        (expected.createdAt, expected.destroyedAt) = (nil, nil)
        #expect(read == expected)
    }

    @Test("an empty lifecycle is written without members and read again")
    func nothing() throws {
        #expect(KeyLifecycle().jsonMembers(withHistory: true).isEmpty)
        #expect(try read("{}") == KeyLifecycle())
        #expect(try read(#"{"suite": "p256", "unknown": 1}"#) == KeyLifecycle())
    }

    @Test(
        "a lifecycle that isn't an object is refused as malformed",
        arguments: ["[]", "null", "1", "true", #""2026-01-01T00:00:00Z""#])
    func noObject(text: String) {
        expectKeyError(.malformed) { try read(text) }
    }

    @Test(
        "a time that isn't an RFC 3339 string is refused as malformed",
        arguments: ["createdAt", "activatesAt", "retiresAt", "expiresAt", "revokedAt", "destroyedAt"],
        [#""tomorrow""#, "1772355600", "null", "{}", #""2026-02-30T00:00:00Z""#, #""2026-01-01T00:00:00""#])
    func noTime(name: String, value: String) {
        expectKeyError(.malformed) { try read("{\"\(name)\": \(value)}") }
    }
}
