import Foundation
import PushCryptCore
import PushCryptKeysets
import PushCryptKeystore
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

/// Keysets of suite 3 on a host whose OpenSSL may lack it: it needs OpenSSL 3.5.
@Suite("keysets of X-Wing keys", .ownThreads)
struct XWingKeysetTests {
    private static let hasSuite = PushCryptCore.Suite.xWing.isAvailable
    private static let cause = "suite 3 (xwing) needs OpenSSL 3.5 or later"

    /// A key of suite 3, made with a library that has the suite on every host.
    private static func record() throws -> KeyRecord {
        let backend = try #require(Backends.supporting(.xWing).last).backend
        return try KeyRecord.generate(.recipient, type: .xWing, psk: false, backend: backend)
    }

    /// A keyset to which another host has added a key of suite 3, and that key.
    private static func make() throws -> (place: Workplace, kid: String) {
        let (place, record) = (try Workplace(), try record())
        try place.create("Keys/r", "recipient")
        let location = KeysetLocation(place.folder.file("Keys/r").path)
        let rows = try KeysetRows(at: location, .reading)
        var (changes, key) = (KeysetChanges(), KeysetChanges.Key(record.kid))
        key.jwk = try PublicJWK(record)
        key.moments = [.createdAt: rows.log.state.at, .activatesAt: rows.log.state.at + 7 * 86_400]
        changes.keys = [key]
        let log = try rows.log.appending(.rotated, at: rows.log.state.at, who: "other", changes)
        var material = try rows.unlocked(nil)
        material.records[record.kid] = record
        try place.write(Data(material.file(log)), to: "Keys/r.keyset")
        return (place, "\(record.kid)")
    }

    @Test("keys create --suite xwing makes the keyset, or exits 69, says what it needs, and makes nothing")
    func creation() throws {
        let place = try Workplace()
        let output = try place.run(
            "keys", "create", "Keys/ios", "--kind", "recipient", "--suite", "xwing", "--insecure-plaintext", "--at",
            Workplace.now)
        guard !Self.hasSuite else {
            #expect(output.isSuccess, "\(output)")
            let pem = try place.run("keys", "export", "Keys/ios", "--format", "pem", "--at", Workplace.now)
            return expectRefusal(pem, 65, saying: "export it as JWK")
        }
        expectRefusal(output, 69, saying: Self.cause)
        #expect(!place.has("Keys"))
    }

    @Test("a host that lacks the suite names key and cause with 69 and changes nothing; the log it reads")
    func otherHost() throws {
        let (place, kid) = try Self.make()
        #expect(try place.run("keys", "policy", "Keys/r").isSuccess)
        let before = try place.contents(of: "Keys")
        let changed = try place.run("keys", "policy", "Keys/r", "--keep", "3", "--at", Workplace.now)
        guard !Self.hasSuite else { return #expect(changed.exit == 0, "\(changed)") }
        for output in [changed, try place.run("keys", "export", "Keys/r")] {
            expectRefusal(output, 69, saying: Self.cause)
            #expect(output.stderr.contains(kid) && output.stderr.contains("Keys/r.keyset"), "\(output)")
        }
        #expect(try place.contents(of: "Keys") == before)
    }
}
