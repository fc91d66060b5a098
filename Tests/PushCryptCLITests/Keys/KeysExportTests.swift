import Foundation
import PushCryptCore
import PushCryptKeysets
import PushCryptPrimitives
import Testing

@Suite("keys export", .ownThreads)
struct KeysExportTests {
    private let place: Workplace

    init() throws { place = try Workplace() }

    @Test("keys export prints the public set without secrets", arguments: [["--suite", "x25519"], ["--psk"]])
    func publicSet(_ options: [String]) throws {
        let kid = try place.create("Keys/ios", "recipient", options, at: Workplace.now)
        let psk = options == ["--psk"]
        let set = try place.export("Keys/ios", to: "set.json")
        let key = try #require((try Payload.member("keys", of: set) as? [[String: String]])?.first)
        #expect(key["kid"] == kid)
        #expect(key["d"] == nil && key["psk"] == nil)
        let lifecycle = try Payload.member("pushcrypt.keys.\(kid)", of: set) as? [String: Any]
        #expect(lifecycle?["activatesAt"] as? String == Workplace.now)
        #expect(lifecycle?["createdAt"] == nil)
        #expect(lifecycle?["psk"] as? Bool == (psk ? true : nil))
        #expect(try Payload.member("pushcrypt.seq", of: set) as? Int == 1)
        let text = String(decoding: set, as: UTF8.self)
        #expect(try place.secrets(in: "Keys/ios").count == (psk ? 2 : 1))
        for secret in try place.secrets(in: "Keys/ios") { #expect(!text.contains(secret)) }
    }

    @Test("--registration is one JWK with the psk and without the private key")
    func registration() throws {
        let kid = try place.create("Keys/ios", "recipient", "--psk")
        let record = try place.export("Keys/ios", to: "record.json", "--registration")
        let key = try #require(try JSONSerialization.jsonObject(with: record) as? [String: String])
        #expect(Set(key.keys) == ["kty", "crv", "x", "y", "alg", "kid", "psk"])
        #expect(key["kid"] == kid)
        #expect(record.filter { $0 == UInt8(ascii: "\n") }.count == 1)
    }

    @Test("--device prints the keys of that device only")
    func device() throws {
        let kid = try place.create("Keys/master", "shared")
        let set = try place.export("Keys/master", to: "device.json", "--device", "phone_1-A")
        let key = try #require((try Payload.member("keys", of: set) as? [[String: String]])?.first)
        #expect(Set(key.keys) == ["kty", "k", "alg", "kid", "device"])
        #expect(key["kid"] == kid)
        #expect(key["device"] == "phone_1-A")
        let master = try #require(try place.secrets(in: "Keys/master").first)
        #expect(!String(decoding: set, as: UTF8.self).contains(master))
        let other = try place.export("Keys/master", to: "other.json", "--device", "phone_2")
        #expect((try Payload.member("keys", of: other) as? [[String: String]])?.first?["k"] != key["k"])
        #expect(try place.export("Keys/master", to: "again.json", "--device", "phone_1-A") == set)
    }

    @Test(
        "bad usage exits 64, and a key of another kind 65",
        arguments: [
            ("Keys/master", "shared", 65), ("Keys/push --registration", "sender", 65),
            ("Keys/ios --device a", "recipient", 65), ("Keys/master --device a/b", "shared", 64),
            ("Keys/ios --pins --format pem", "recipient", 64), ("Keys/push --private", "sender", 64),
            ("Keys/push AAAAAAAAAAA", "sender", 66), ("Keys/push --pins", "sender", 78),
        ] as [(String, String, Int32)])
    func refused(_ command: String, _ kind: String, _ status: Int32) throws {
        let words = command.split(separator: " ").map(String.init)
        try place.create(words[0], kind)
        let output = try place.run(["keys", "export"] + words + ["--at", Workplace.now])
        #expect(output.exit == status && output.stdout.isEmpty && !output.stderr.isEmpty, "\(output)")
    }

    @Test("one key is printed by the first characters of its id, and the primary one without an id")
    func named() throws {
        let old = try place.create("Keys/push", "sender")
        try place.rotate("Keys/push")
        for kid in try place.keys("Keys/push", at: Workplace.now).map(\.kid) {
            let output = try place.shell(
                "\"$PUSHCRYPT\" keys export Keys/push --at \(Workplace.now) -- \(kid.prefix(6))")
            #expect(try output.object()["kid"] as? String == kid, "\(output)")
        }
        let primary = try place.run("keys", "export", "Keys/push", "--format", "jwk", "--at", Workplace.now)
        #expect(try primary.object()["kid"] as? String == old)
    }

    @Test("public keys that this host has seen need no secret; pins do")
    func withoutSecret() throws {
        let host = try KeystorePlace.empty()
        try #require(try host.initialise("--yes").exit == 0)
        try host.succeed("rotate")
        let rename = { (from: String, to: String) in try host.place.move("a/\(from)", to: "a/\(to)") }
        try rename("passphrase", "away")
        try rename("publisher-passphrase", "away2")
        let known = try host.run("keys", "export", "senders")
        #expect(known.isSuccess, "\(known)")
        #expect(try host.run("keys", "export", "senders", "--pins").exit != 0)
        try rename("away", "passphrase")
        try rename("away2", "publisher-passphrase")
        let pins = try host.succeed("keys", "export", "senders", "--pins").text
        let made = String(decoding: try host.place.read("a/sender-pins.json"), as: UTF8.self)
        #expect(pins.filter { !$0.isWhitespace } == made.filter { !$0.isWhitespace })
    }
}
