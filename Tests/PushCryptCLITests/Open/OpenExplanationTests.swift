import Foundation
import Testing

/// What everyone can see in a payload, `open` says. What only decryption shows, it doesn't.
@Suite("open explains a failure by what the payload and the options show", .ownThreads)
struct OpenExplanationTests {
    private let place: Workplace
    /// The kids of the keysets by name.
    private let kids: [String: String]

    init() throws {
        let place = try Workplace()
        let kinds = ["ios": "recipient", "other": "recipient", "push": "sender", "stranger": "sender"]
        kids = try Dictionary(uniqueKeysWithValues: kinds.map { ($0, try place.create("Keys/\($0)", $1)) })
        self.place = place
    }

    private func kid(_ name: String) throws -> String { try #require(kids[name]) }

    private func reason(_ output: Output, _ failure: String) throws -> String {
        let note = String(output.stderr.dropFirst("pushcrypt: not opened: \(failure)".count).dropLast())
        try expectPlaceholder(output, failure, note: note)
        return note
    }

    @Test("a push with a signature that --trust doesn't cover: open names the sender's key and the option")
    func senders() throws {
        let signed = try place.sealed(to: "Keys/ios", "--sign-with", "Keys/push")
        let untrusted = try reason(place.open(keys: "Keys/ios", payload: signed), "unknownKey")
        #expect(untrusted.hasPrefix(": the push is signed: give the public keys of its sender with --trust"))
        #expect(try untrusted.hasSuffix("(payload: signed by key \(kid("push")))"), "\(untrusted)")
        let stranger = try reason(
            place.open(keys: "Keys/ios", "--trust", "Keys/stranger", payload: signed), "unknownKey")
        #expect(stranger.hasPrefix(": the push is signed by a key that --trust doesn't have"))
        for name in ["push", "stranger"] { #expect(try stranger.contains(kid(name)), "\(stranger)") }
        let unsigned = try place.open(
            keys: "Keys/ios", "--trust", "Keys/push", payload: place.sealed(to: "Keys/ios"))
        #expect(try reason(unsigned, "undecryptable").hasPrefix(": the push isn't signed, and with --trust only"))
    }

    @Test("a push to a key that --keys lacks: open, open --batch and inspect name the push's key and the given keys")
    func otherKey() throws {
        let sealed = try place.sealed(to: "Keys/ios")
        let text = try reason(place.open(keys: "Keys/other", payload: sealed), "unknownKey")
        #expect(
            try text == ": the push is sealed to a key that --keys doesn't have (payload: sealed to key "
                + "\(kid("ios")); keys: they are key \(kid("other")))")
        let line = Data(#"{"payload":"#.utf8) + sealed.dropLast() + Data("}\n".utf8)
        let keys = ["--keys", "Keys/other", "--topic", Workplace.topic, "--at", Workplace.now]
        let batch = try place.run(["open", "--batch"] + keys, stdin: line)
        #expect(batch.stderr.hasPrefix("pushcrypt: line 1: unknownKey: not opened: unknownKey\(text)\n"), "\(batch)")
        let inspected = try place.run(["inspect"] + keys, stdin: sealed)
        #expect(inspected.exit == 65 && inspected.stderr.contains("not opened: unknownKey\(text)"), "\(inspected)")
    }

    @Test("keyRevoked says whether the recipient's key or the sender's key is revoked")
    func revoked() throws {
        let signed = try place.sealed(to: "Keys/ios", "--sign-with", "Keys/push")
        let (sender, recipient) = try (kid("push"), kid("ios"))
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
        let sealed = try place.sealed(to: "Keys/ios")
        let outputs = try [
            place.open(keys: "Keys/ios", payload: Payload.tampered(sealed)),
            place.open(keys: "Keys/ios", "--topic", "com.example.App", payload: sealed),
        ]
        for output in outputs {
            #expect(output.stderr == "pushcrypt: not opened: undecryptable\(Output.undecryptable)\n")
        }
    }

    @Test(
        "an expired push and one from the future: open names their times and its own, and none if the push was changed",
        arguments: [("2026-06-01T09:00:00Z", "expired"), ("2026-02-01T09:00:00Z", "notYetValid")])
    func times(_ time: String, _ failure: String) throws {
        let sealed = try place.sealed(to: "Keys/ios", "--expires", "2d")
        let open = ["open", "-q", "--keys", "Keys/ios", "--topic", Workplace.topic, "--at", time]
        #expect(
            try reason(place.run(open, stdin: sealed), failure)
                == ": it was sealed at \(Workplace.now), expires at 2026-03-03T09:00:00Z, and the time here is \(time)")
        let changed = try place.run(open, stdin: Payload.tampered(sealed))
        #expect(changed.stderr == "pushcrypt: not opened: undecryptable\(Output.undecryptable)\n")
    }
}
