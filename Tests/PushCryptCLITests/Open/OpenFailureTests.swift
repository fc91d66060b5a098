import Foundation
import PushCryptKeysets
import Testing

@Suite("open of a payload that can't be opened", .ownThreads)
struct OpenFailureTests {
    @Test(
        "input that isn't a sealed payload shows the placeholder",
        arguments: SealInputTests.noObjects + SealInputTests.objects)
    func notAPayload(_ test: SealInputTests.Case) throws {
        let place = try Workplace()
        try place.create("Keys/ios", "recipient")
        let output = try place.open(keys: "Keys/ios", payload: test.payload)
        let isObject = SealInputTests.objects.contains { $0.payload == test.payload }
        try expectPlaceholder(
            output, isObject ? "notSealed" : "malformed",
            note: test.payload.count < 2 ? ": stdin has no payload: it is empty" : nil)
    }

    @Test("an unsealed payload shows the bundled text, not its own")
    func notSealed() throws {
        let place = try Workplace()
        try place.create("Keys/ios", "recipient")
        let forged = Data(#"{"aps":{"alert":{"title":"Your bank","body":"Call 0190"}},"url":"https://evil"}"#.utf8)
        let output = try place.open(keys: "Keys/ios", payload: forged)
        try expectPlaceholder(output, "notSealed")
        #expect(!output.text.contains("bank") && !output.text.contains("0190") && !output.text.contains("evil"))
    }

    @Test(
        "a changed outer payload shows the placeholder with its failure class",
        arguments: [
            (#""v":1"#, #""v":2"#, "unsupportedVersion"), (#""v":1,"#, "", "malformed"),
            (#""kid":"#, #""skid":"AAAAAAAAAAA","kid":"#, "unknownKey"),
            (#""kid":"#, #""kid":"AAAAAAAAAAA","id":"#, "unknownKey"), ("\n", "x", "malformed"),
            (#""pushcrypt":"#, #""pushcrypt":null,"pushcrypt2":"#, "malformed"),
            (#""mutable-content":1"#, #""mutable-content":0"#, "malformed"),
        ])
    func changed(_ old: String, _ new: String, _ reason: String) throws {
        let place = try Workplace()
        try place.create("Keys/ios", "recipient")
        let sealed = try place.sealed(to: "Keys/ios")
        try expectPlaceholder(
            try place.open(keys: "Keys/ios", payload: Payload.replacing(old, with: new, in: sealed)), reason)
    }

    @Test(
        "a modified payload and a payload for another app or key show the placeholder",
        arguments: ["recipient", "shared"])
    func misdirected(_ kind: String) throws {
        let place = try Workplace()
        try place.create("Keys/ios", kind)
        try place.create("Keys/other", kind)
        let sealed = try place.sealed(to: "Keys/ios")
        let kid = try #require(try Payload.string("pushcrypt.kid", of: sealed))
        let note = kind == "shared" ? Self.noteWithoutDevice(kid) : nil
        try expectPlaceholder(
            try place.open(keys: "Keys/ios", payload: Payload.tampered(sealed)), "undecryptable", note: note)
        try expectPlaceholder(try place.open(keys: "Keys/ios", payload: sealed.dropLast(3)), "malformed")
        try expectPlaceholder(
            try place.open(keys: "Keys/ios", "--topic", "com.example.App", payload: sealed), "undecryptable", note: note
        )
        try expectPlaceholder(try place.open(keys: "Keys/other", payload: sealed), "unknownKey")
    }

    /// It doesn't depend on what was decrypted.
    private static func noteWithoutDevice(_ kid: String) -> String {
        ": key \(kid) is a shared (master) key, and a push to one device opens only with --device ID"
    }

    @Test("a device's payload shows the placeholder with another device's key and with the bare key")
    func device() throws {
        let place = try Workplace()
        try place.create("Keys/ios", "shared")
        let sealed = try place.sealed(to: "Keys/ios", "--device", "one")
        let kid = try #require(try Payload.string("pushcrypt.kid", of: sealed))
        for (options, note) in [(["--device", "two"], nil), ([], Self.noteWithoutDevice(kid))] {
            let output = try place.run(
                ["open", "--keys", "Keys/ios", "--topic", Workplace.topic, "--at", Workplace.now] + options,
                stdin: sealed)
            try expectPlaceholder(output, "undecryptable", note: note)
        }
    }

    @Test(
        "--fallback selects the payload's alert, which is the default, or a bundled text",
        arguments: [([], "Outside"), (["--fallback", "bundled"], "New message")])
    func fallback(_ options: [String], _ title: String) throws {
        let place = try Workplace()
        try place.create("Keys/ios", "recipient")
        let sealed = try place.sealed(to: "Keys/ios", "--placeholder-title", "Outside", "--expose", "badge")
        let output = try place.run(
            ["open", "--keys", "Keys/ios", "--topic", Workplace.topic, "--at", Workplace.now] + options,
            stdin: Payload.tampered(sealed))
        try expectPlaceholder(output, "undecryptable", title: title)
        #expect(!output.text.contains("badge") && !output.text.contains("mutable-content"))
    }

    @Test(
        "payloads of expired and revoked keys show the placeholder",
        arguments: [(KeysetChanges.Moment.expiresAt, "keyExpired"), (.revokedAt, "keyRevoked")])
    func ended(_ member: KeysetChanges.Moment, _ reason: String) throws {
        let place = try Workplace()
        let kid = try place.create("Keys/ios", "shared")
        let sealed = try place.sealed(to: "Keys/ios")
        try place.set(member, of: kid, in: "Keys/ios", to: Workplace.now)
        try expectPlaceholder(try place.open(keys: "Keys/ios", payload: sealed), reason)
    }
}

/// Unusable keys are the caller's mistake, not a failed push: no placeholder is shown.
@Suite("keys that open refuses", .ownThreads)
struct OpenKeyRefusalTests {
    @Test("--trust refuses keys that aren't sender keys")
    func trust() throws {
        let place = try Workplace()
        try place.create("Keys/ios", "recipient")
        expectRefusal(
            try place.open(keys: "Keys/ios", "--trust", "Keys/ios", payload: Data("{}".utf8)), 65,
            saying: "sender keys are needed")
        expectRefusal(try place.open(keys: "Keys/ios", "--trust", "none", payload: Data()), 66)
    }

    @Test("public keys and sender keys are refused")
    func unusable() throws {
        let place = try Workplace()
        try place.create("Keys/ios", "recipient")
        try place.create("Keys/push", "sender")
        try place.export("Keys/ios", to: "set.json")
        let sealed = try place.sealed(to: "set.json")
        expectRefusal(try place.open(keys: "set.json", payload: sealed), 65, saying: "public key")
        expectRefusal(try place.open(keys: "Keys/push", payload: sealed), 65, saying: "sender")
    }

    @Test("--device is refused for keys that aren't shared, and so is a malformed device id")
    func device() throws {
        let place = try Workplace()
        try place.create("Keys/ios", "recipient")
        try place.create("Keys/master", "shared")
        expectRefusal(try place.open(keys: "Keys/ios", "--device", "one", payload: Data()), 64)
        expectRefusal(try place.open(keys: "Keys/master", "--device", "o n e", payload: Data()), 64)
    }
}
