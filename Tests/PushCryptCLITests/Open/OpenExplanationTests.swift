import Foundation
import Testing

/// What everyone can see in a payload, `open` says. What only decryption shows, it doesn't.
@Suite("open explains a failure by what the payload and the options show", .ownThreads)
struct OpenExplanationTests {
    private static let place = Result { try PlaceSnapshot(set(up: Workplace())) }

    private static func set(up place: Workplace) throws -> Workplace {
        try place.create("Keys/ios", "recipient")
        try place.create("Keys/other", "recipient")
        try place.create("Keys/push", "sender")
        try place.create("Keys/stranger", "sender")
        return place
    }

    private func place() throws -> Workplace { try Self.place.get().place() }

    private func kid(_ path: String, in place: Workplace) throws -> String {
        let list = try place.run("keys", "list", path, "--json", "--at", Workplace.now)
        let keys = try JSONSerialization.jsonObject(with: list.stdout) as? [[String: Any]]
        return try #require(keys?.first?["kid"] as? String)
    }

    private func reason(_ output: Output, _ failure: String) throws -> String {
        try expectPlaceholder(output, failure, note: Self.note(output, failure))
        return Self.note(output, failure)
    }

    private static func note(_ output: Output, _ failure: String) -> String {
        String(output.stderr.dropFirst("pushcrypt: not opened: \(failure)".count).dropLast())
    }

    @Test("a signed push without --trust: open names the sender's key and the option")
    func signed() throws {
        let place = try place()
        let signed = try place.sealed(to: "Keys/ios", "--sign-with", "Keys/push")
        let text = try reason(place.open(keys: "Keys/ios", payload: signed), "unknownKey")
        #expect(
            try text == ": the push is signed: give the public keys of its sender with --trust, as a keyset "
                + "(Keys/NAME) or a file (payload: signed by key \(kid("Keys/push", in: place)))")
    }

    @Test("an unsigned push with --trust: open says that only signed pushes are opened with it")
    func unsigned() throws {
        let place = try place()
        let output = try place.open(
            keys: "Keys/ios", "--trust", "Keys/push", payload: place.sealed(to: "Keys/ios"))
        let text = try reason(output, "undecryptable")
        #expect(
            text.hasPrefix(": the push isn't signed, and with --trust only signed pushes are opened: leave --trust out")
        )
    }

    @Test("a push signed by a key that --trust lacks: open names both keys")
    func stranger() throws {
        let place = try place()
        let signed = try place.sealed(to: "Keys/ios", "--sign-with", "Keys/push")
        let text = try reason(place.open(keys: "Keys/ios", "--trust", "Keys/stranger", payload: signed), "unknownKey")
        #expect(text.hasPrefix(": the push is signed by a key that --trust doesn't have"))
        for path in ["Keys/push", "Keys/stranger"] { #expect(try text.contains(kid(path, in: place))) }
    }

    @Test("a push to a key that --keys lacks: open names the push's key and the given keys")
    func otherKey() throws {
        let place = try place()
        let text = try reason(
            place.open(keys: "Keys/other", payload: place.sealed(to: "Keys/ios")), "unknownKey")
        #expect(
            try text == ": the push is sealed to a key that --keys doesn't have (payload: sealed to key "
                + "\(kid("Keys/ios", in: place)); keys: they are key \(kid("Keys/other", in: place)))")
    }

    @Test("keyRevoked says whether the recipient's key or the sender's key is revoked")
    func revoked() throws {
        let place = try place()
        let signed = try place.sealed(to: "Keys/ios", "--sign-with", "Keys/push")
        let (sender, recipient) = try (kid("Keys/push", in: place), kid("Keys/ios", in: place))
        try place.revoke("Keys/push", sender)
        let ofSender = try reason(place.open(keys: "Keys/ios", "--trust", "Keys/push", payload: signed), "keyRevoked")
        #expect(ofSender.hasPrefix(": the sender's key is revoked") && ofSender.contains(sender))
        try place.revoke("Keys/ios", recipient)
        let ofRecipient = try reason(
            place.open(keys: "Keys/ios", "--trust", "Keys/push", payload: signed), "keyRevoked")
        #expect(ofRecipient.hasPrefix(": the recipient's key is revoked") && ofRecipient.contains(recipient))
    }

    @Test("a damaged payload: open says what is wrong with its form")
    func malformed() throws {
        let place = try place()
        let sealed = try place.sealed(to: "Keys/ios")
        let withoutVersion = Payload.replacing(#""v":1,"#, with: "", in: sealed)
        let text = try reason(place.open(keys: "Keys/ios", payload: withoutVersion), "malformed")
        #expect(
            text.hasPrefix(#": something changed the member "pushcrypt""#) && text.hasSuffix("pushcrypt.v is missing)"))
        let newer = Payload.replacing(#""v":1"#, with: #""v":2"#, in: sealed)
        #expect(
            try reason(place.open(keys: "Keys/ios", payload: newer), "unsupportedVersion").contains("pushcrypt.v is 2"))
    }

    @Test("all failures of decryption print the same: a changed message, another topic, another app's push")
    func undecryptable() throws {
        let place = try place()
        let sealed = try place.sealed(to: "Keys/ios")
        let outputs = try [
            place.open(keys: "Keys/ios", payload: Payload.tampered(sealed)),
            place.open(keys: "Keys/ios", "--topic", "com.example.App", payload: sealed),
        ]
        for output in outputs { #expect(output.stderr == "pushcrypt: not opened: undecryptable\n") }
    }

    @Test(
        "an expired push and one from the future: open names their times and its own, and none if the push was changed",
        arguments: [("2026-06-01T09:00:00Z", "expired"), ("2026-02-01T09:00:00Z", "notYetValid")])
    func times(_ time: String, _ failure: String) throws {
        let place = try place()
        let sealed = try place.sealed(to: "Keys/ios", "--expires", "2d")
        let open = ["open", "-q", "--keys", "Keys/ios", "--topic", Workplace.topic, "--at", time]
        #expect(
            try reason(place.run(open, stdin: sealed), failure)
                == ": it was sealed at \(Workplace.now), expires at 2026-03-03T09:00:00Z, and the time here is \(time)")
        let changed = try place.run(open, stdin: Payload.tampered(sealed))
        #expect(changed.stderr == "pushcrypt: not opened: undecryptable\n")
    }

    @Test("open --batch and inspect give the same reason")
    func elsewhere() throws {
        let place = try place()
        let sealed = try place.sealed(to: "Keys/ios")
        let text = try reason(place.open(keys: "Keys/other", payload: sealed), "unknownKey")
        let line = Data(#"{"payload":"#.utf8) + sealed.dropLast() + Data("}\n".utf8)
        let batch = try place.run(
            "open", "--batch", "--keys", "Keys/other", "--topic", Workplace.topic, "--at", Workplace.now, stdin: line)
        #expect(batch.stderr.hasPrefix("pushcrypt: line 1: unknownKey: not opened: unknownKey\(text)\n"), "\(batch)")
        let inspected = try place.run(
            "inspect", "--keys", "Keys/other", "--topic", Workplace.topic, "--at", Workplace.now, stdin: sealed)
        #expect(inspected.exit == 65 && inspected.stderr.contains("not opened: unknownKey\(text)"), "\(inspected)")
    }
}
