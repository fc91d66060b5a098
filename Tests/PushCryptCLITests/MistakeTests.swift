import Foundation
import PushCryptTestSupport
import Testing

/// Mistakes of people who use the tool for the first time.
@Suite("a mistake in the arguments or the input: the message says what to give instead", .ownThreads)
struct MistakeTests {
    private static let place = Result { try PlaceSnapshot(set(up: Workplace())) }

    private static func set(up place: Workplace) throws -> Workplace {
        try place.create("Keys/phone", "recipient")
        try place.create("Keys/backend", "sender")
        try place.create("Keys/all", "shared")
        try place.write(Data(), to: "empty")
        try place.write(Data(), to: "phone.json")
        try place.write(Data("no keys".utf8), to: "text")
        try place.write(Data(#"{"aps":{"alert":"Hello"}}"#.utf8), to: "payload")
        let exported = try place.run("keys", "export", "Keys/backend")
        try place.write(exported.stdout, to: "backend.public")
        return place
    }

    @Test(
        "each mistake is refused with its exit status and words that say what is needed",
        arguments: [
            (
                "seal --to Keys/phone payload", 64,
                "PUSHCRYPT_TOPIC: the app's bundle identifier, such as com.example.app."
            ),
            (
                "seal --to Keys/phone --topic a.b --sign-with Keys/phone payload", 65,
                " is a recipient key: only a sender's private key signs a push"
            ),
            (
                "seal --to Keys/phone --topic a.b --sign-with backend.public payload", 65,
                " is a sender's public key: only a sender's private key signs a push"
            ),
            (
                "seal --to empty --topic a.b payload", 65, "empty: it is empty: keys are in a keyset (Keys/NAME)"
            ),
            (
                "seal --to text --topic a.b payload", 65,
                "text: not a JSON text with keys, as `pushcrypt keys export` writes it: "
            ),
            (
                "seal --to Keys/backend --topic a.b payload", 65,
                "sender key, which only signs: a push is sealed to a recipient key or a shared key"
            ),
            (
                "seal --to Keys/all --topic a.b --device phone.json payload", 64,
                "phone.json is a file: give the id itself"
            ),
            (
                "open --keys Keys/backend --topic a.b payload", 65,
                "sender key, which only signs: a push is opened with a recipient key or a shared key"
            ),
            (
                "open --keys Keys/phone --topic a.b payload", 65,
                "notSealed: it has no member \"pushcrypt\": give what `pushcrypt seal` printed"
            ),
            ("inspect empty", 65, "empty has no payload: it is empty"),
            (
                "keys create Keys/new", 64,
                "devices open with recipient keys, the backend signs with sender keys, both sides have shared keys"
            ),
            ("keys create Keys/new --kind robot", 64, "publisher keys sign the sets of sender keys that apps trust"),
            ("keys import Keys/new --kind sender", 64, "a JWK, PEM, DER or base64"),
            (
                "keys create Keys/phone --kind sender", 73,
                "Keys/phone exists already: choose another name (`keys add` adds a key to a keyset)"
            ),
            ("rotate Keys/backend --now --emergency", 64, "is for a leaked key and needs its id, --revoke KID"),
            (
                "keys publish Keys/backend --to . --signed-by Keys/phone", 65,
                "contains recipient keys; publisher keys are needed, as `pushcrypt keys create --kind publisher` makes them"
            ),
            (
                "rotate Keys/backend --overlap 5d", 64,
                "\nIt is an option of the keyset's policy: pushcrypt keys policy Keys/NAME --overlap VALUE\n"
            ),
            (
                "keys policy Keys/backend --publish-topic a.b --publish-seq 0", 64,
                "1 more than the highest of the served set's numbered copies, such as 42 for NAME.41.json"
            ),
            (
                "keys restore Keys/backend --from payload", 65,
                "payload: not a backup of keysets: give a file that `pushcrypt keys backup` wrote"
            ),
        ])
    func refused(_ command: String, _ status: Int32, _ words: String) throws {
        let output = try Self.place.get().place().run(command.split(separator: " ").map(String.init))
        #expect(output.exit == status, "\(output)")
        #expect(output.stderr.replacing(/\n +/, with: " ").contains(words), "\(output)")
    }

    @Test("a payload that is too large: the message says that the blob is uploaded before the push is sealed")
    func large() throws {
        let place = try Self.place.get().place()
        try place.write(Data(#"{"aps":{"alert":"\#(String(repeating: "a", count: 5000))"}}"#.utf8), to: "large")
        let output = try place.run("seal", "--to", "Keys/phone", "--topic", "a.b", "large")
        expectRefusal(
            output, 65, saying: "upload long.blob to that https URL, and then seal a short payload, such as its")
    }

    @Test("keys revoke of the primary key: the question says that a new key becomes primary")
    func revocation() throws {
        let place = try Self.place.get().place()
        let kid = try #require(place.keys("Keys/backend", at: Workplace.now).first?.kid)
        let output = try place.run("keys", "revoke", "Keys/backend", kid, "--at", Workplace.now)
        expectRefusal(
            output, 64,
            saying: "revoking key \(kid) of Keys/backend, in whose place a new key becomes the primary one: every push")
        expectRefusal(output, 64, saying: "; if it didn't leak, `pushcrypt rotate` replaces it without a loss. Nothing")
    }

    @Test("an unsigned set of sender keys: a note says who uses it and how it is signed, once for each set")
    func unsignedSet() throws {
        let place = try Self.place.get().place()
        try place.makeFolder("www")
        let first = try place.run("keys", "publish", "Keys/backend", "--to", "www")
        #expect(
            first.exit == 0 && first.stderr.contains("the published set isn't signed, so apps can't verify"), "\(first)"
        )
        #expect(first.stderr.contains("`pushcrypt keys policy Keys/backend --publish-topic"), "\(first)")
        let second = try place.run("keys", "publish", "Keys/backend", "--to", "www")
        #expect(second.exit == 0 && second.stderr.isEmpty, "\(second)")
        let recipients = try place.run("keys", "publish", "Keys/phone", "--to", "www")
        #expect(recipients.exit == 0 && recipients.stderr.isEmpty, "\(recipients)")
    }
}
