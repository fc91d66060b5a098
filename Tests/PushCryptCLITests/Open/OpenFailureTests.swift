import Foundation
import PushCryptKeysets
import Testing

@Suite("open of a payload that can't be opened", .ownThreads)
struct OpenFailureTests {
    @Test(
        "input that isn't a sealed payload shows the placeholder",
        arguments: SealInputTests.cases.filter { !["a pushcrypt member"].contains($0.testDescription) })
    func notAPayload(_ test: SealInputTests.Case) throws {
        let place = try Workplace()
        try place.create("Keys/ios", "recipient")
        let output = try place.open(keys: "Keys/ios", payload: test.payload)
        let isObject = ["no aps", "aps of another type", "no alert", "an empty alert", "an alert without text"]
            .contains(test.testDescription)
        let isEmpty = ["empty", "a newline"].contains(test.testDescription)
        try expectPlaceholder(
            output, isObject ? "notSealed" : "malformed", note: isEmpty ? ": stdin has no payload: it is empty" : nil)
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
            (#""v":1"#, #""v":2"#, "unsupportedVersion"), (#""v":1"#, #""v":true"#, "malformed"),
            (#""v":1"#, #""v":1.0"#, "malformed"), (#""v":1,"#, "", "malformed"),
            (#""kid":"#, #""skid":"AAAAAAAAAAA","kid":"#, "unknownKey"),
            (#""kid":"#, #""skid":null,"kid":"#, "malformed"), (#""sealed":"#, #""sealed":"","other":"#, "malformed"),
            (#""kid":"#, #""kid":"AAAAAAAAAAA","id":"#, "unknownKey"),
            (#""kid":"#, #""kid":"","id":"#, "malformed"), ("\n", "x", "malformed"),
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
        let note = kind == "shared" ? Self.noteWithoutDevice(kid) : ""
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
        for (options, note) in [(["--device", "two"], ""), ([], Self.noteWithoutDevice(kid))] {
            let output = try place.run(
                ["open", "--keys", "Keys/ios", "--topic", Workplace.topic, "--at", Workplace.now] + options,
                stdin: sealed)
            try expectPlaceholder(output, "undecryptable", note: note)
        }
    }

    @Test("with pinned senders unsigned, unpinned and forged payloads show the placeholder")
    func signatures() throws {
        let place = try Workplace()
        try place.create("Keys/ios", "recipient")
        try place.create("Keys/push", "sender")
        try place.create("Keys/stranger", "sender")
        let signed = try place.sealed(to: "Keys/ios", "--sign-with", "Keys/push")
        let unsigned = try place.sealed(to: "Keys/ios")
        let trust = ["--trust", "Keys/push"]
        let notSigned = try place.open(keys: "Keys/ios", trust[0], trust[1], payload: unsigned)
        #expect(
            notSigned.stderr.hasPrefix("pushcrypt: not opened: undecryptable: the push isn't signed"), "\(notSigned)")
        try expectPlaceholder(try place.open(keys: "Keys/ios", payload: signed), "unknownKey")
        try expectPlaceholder(
            try place.open(keys: "Keys/ios", "--trust", "Keys/stranger", payload: signed), "unknownKey")
        try expectPlaceholder(
            try place.open(keys: "Keys/ios", trust[0], trust[1], payload: Payload.tampered(signed)), "undecryptable")
    }

    @Test(
        "--fallback selects the payload's alert, which is the default, or a bundled text",
        arguments: [
            ([], "Outside"), (["--fallback", "outer"], "Outside"), (["--fallback", "bundled"], "New message"),
        ])
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
        "open exits 64 for an unknown --fallback and for --fallback with --batch",
        arguments: [["inner"], ["outer", "--batch"]])
    func fallbackRefused(_ words: [String]) throws {
        let place = try Workplace()
        try place.create("Keys/ios", "recipient")
        let output = try place.run(
            ["open", "--keys", "Keys/ios", "--topic", Workplace.topic, "--fallback"] + words, stdin: Data())
        expectUsageError(output)
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
