import Foundation
import Testing

@Suite("keys export", .ownThreads)
struct KeysExportTests {
    @Test("keys export prints the public set without secrets", arguments: ["p256", "x25519"], [true, false])
    func publicSet(_ suite: String, _ psk: Bool) throws {
        let place = try Workplace()
        let created = try place.run(
            ["keys", "create", "Keys/ios", "--kind", "recipient", "--suite", suite, "--insecure-plaintext"]
                + ["--at", Workplace.now] + (psk ? ["--psk"] : []))
        let kid = created.line
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
        #expect(try place.secrets(in: "Keys/ios/keyset.json").count == (psk ? 2 : 1))
        for secret in try place.secrets(in: "Keys/ios/keyset.json") { #expect(!text.contains(secret)) }
    }

    @Test("keys export prints a sender's public JWK set")
    func sender() throws {
        let place = try Workplace()
        try place.create("Keys/push", "sender")
        let set = try place.export("Keys/push", to: "set.json")
        let key = try #require((try Payload.member("keys", of: set) as? [[String: String]])?.first)
        #expect(Set(key.keys) == ["kty", "crv", "x", "alg", "kid"])
    }

    @Test("--registration is one JWK with the psk and without the private key")
    func registration() throws {
        let place = try Workplace()
        let kid = try place.create("Keys/ios", "recipient", "--psk")
        let record = try place.export("Keys/ios", to: "record.json", "--registration")
        let key = try #require(try JSONSerialization.jsonObject(with: record) as? [String: String])
        #expect(Set(key.keys) == ["kty", "crv", "x", "y", "alg", "kid", "psk"])
        #expect(key["kid"] == kid)
        #expect(record.filter { $0 == UInt8(ascii: "\n") }.count == 1)
    }

    @Test("--device prints the keys of that device only")
    func device() throws {
        let place = try Workplace()
        let kid = try place.create("Keys/master", "shared")
        let set = try place.export("Keys/master", to: "device.json", "--device", "phone_1-A")
        let key = try #require((try Payload.member("keys", of: set) as? [[String: String]])?.first)
        #expect(Set(key.keys) == ["kty", "k", "alg", "kid", "device"])
        #expect(key["kid"] == kid)
        #expect(key["device"] == "phone_1-A")
        let master = try #require(try place.secrets(in: "Keys/master/keyset.json").first)
        #expect(!String(decoding: set, as: UTF8.self).contains(master))
        let other = try place.export("Keys/master", to: "other.json", "--device", "phone_2")
        #expect((try Payload.member("keys", of: other) as? [[String: String]])?.first?["k"] != key["k"])
        #expect(try place.export("Keys/master", to: "again.json", "--device", "phone_1-A") == set)
    }

    @Test("the keys of one device can't be exported for another one")
    func furtherDevice() throws {
        let place = try Workplace()
        try place.create("Keys/master", "shared")
        try place.export("Keys/master", to: "device.json", "--device", "one")
        expectRefusal(try place.run("keys", "export", "device.json", "--device", "two"), 65)
    }

    @Test(
        "keys export exits 64 for bad usage",
        arguments: [
            (["Keys/master"], "shared"), (["Keys/master", "--registration"], "shared"),
            (["Keys/push", "--registration"], "sender"), (["Keys/push", "--device", "a"], "sender"),
            (["Keys/ios", "--device", "a"], "recipient"), (["Keys/master", "--device", "a b"], "shared"),
            (["Keys/master", "--device", ""], "shared"),
            (["Keys/master", "--device", String(repeating: "a", count: 65)], "shared"),
            (["Keys/ios", "--device", "a", "--registration"], "recipient"), ([], "recipient"),
        ])
    func usage(_ arguments: [String], _ kind: String) throws {
        let place = try Workplace()
        if let path = arguments.first { try place.create(path, kind) }
        expectUsageError(try place.run(["keys", "export"] + arguments))
    }

    @Test("--registration exits 65 if no key seals now")
    func nothingSeals() throws {
        let place = try Workplace()
        _ = try place.writeSet([#""activatesAt":"2027-01-01T00:00:00Z""#], to: "set.json")
        expectRefusal(try place.run("keys", "export", "set.json", "--registration", "--at", Workplace.now), 65)
    }

    @Test("--json contains the value that the format prints", arguments: ["pem", "der", "raw"], [false, true])
    func json(_ format: String, _ isPrivate: Bool) throws {
        let place = try Workplace()
        let kid = try place.create("Keys/push", "sender")
        let options = ["keys", "export", "Keys/push", "--format", format]
        let all = options + (isPrivate ? ["--private", "--insecure-plaintext"] : [])
        let plain = try place.run(all)
        let printed = try place.run(all + ["--json"])
        #expect(printed.exit == 0, "\(printed)")
        let object = try #require(try JSONSerialization.jsonObject(with: printed.stdout) as? [String: Any])
        #expect(Set(object.keys) == ["kid", "format", "private", "value"])
        #expect(object["kid"] as? String == kid)
        #expect(object["format"] as? String == format)
        #expect(object["private"] as? Bool == isPrivate)
        let value = try #require(object["value"] as? String)
        let expected = format == "der" ? plain.stdout.base64EncodedString() : plain.text
        #expect(value.trimmingCharacters(in: .newlines) == expected.trimmingCharacters(in: .newlines))
    }

    @Test("--json doesn't change output that is already JSON", arguments: [[], ["--format", "jwk"], ["--kid"]])
    func jsonOfJSON(_ options: [String]) throws {
        let place = try Workplace()
        let kid = try place.create("Keys/push", "sender")
        let all = ["keys", "export", "Keys/push"] + options + (options.last == "--kid" ? [kid] : [])
        let plain = try place.run(all)
        #expect(plain.exit == 0)
        #expect(try place.run(all + ["--json"]).stdout == plain.stdout)
    }
}
