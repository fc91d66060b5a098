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
        try place.write(Data("hello".utf8), to: "text")
        try place.write(Data(#"{"aps":{"alert":"Hello"}}"#.utf8), to: "payload")
        return place
    }

    @Test(
        "each mistake is refused with its exit status and words that say what is needed",
        arguments: [
            ("seal --to Keys/phone payload", 64, "PUSHCRYPT_TOPIC: the app's bundle identifier"),
            (
                "seal --to Keys/phone --topic a.b --sign-with Keys/phone payload", 65,
                " is a recipient key: only a sender's private key signs a push"
            ),
            ("seal --to empty --topic a.b payload", 65, "empty: it is empty: keys are in a keyset, or"),
            ("seal --to text --topic a.b payload", 65, "text: not a JSON text with a JWK or JWK set"),
            (
                "seal --to Keys/backend --topic a.b payload", 65,
                "sender key, which only signs: a push is sealed to a recipient key or a shared key"
            ),
            (
                "seal --to Keys/all --topic a.b --device phone.json payload", 64,
                "phone.json is a file: give the id itself"
            ),
            ("open --keys Keys/phone --topic a.b payload", 65, "give what `pushcrypt seal` printed"),
            ("inspect text", 65, "JSON refused at byte 0: it must begin with a JSON value, such as {"),
            ("keys create Keys/new", 64, "devices open with recipient keys, the backend signs with sender keys"),
            ("keys create Keys/phone --kind sender", 73, "there is a keyset; choose another name"),
            ("rotate", 64, "there are no settings: name a KEYSET, or make keysets and settings: `pushcrypt init`"),
            ("rotate Keys/backend --overlap 5d", 64, "pushcrypt keys policy Keys/NAME --overlap VALUE"),
            ("publish Keys/backend", 64, "no folder is named: use --to FOLDER, or publish.to in the settings"),
            (
                "keys policy Keys/backend --epoch 1 --publisher Keys/phone", 64,
                "Keys/phone.keyset has recipient keys: --publisher needs a publisher keyset"
            ),
            ("keys export Keys/backend --pins", 78, "keys policy Keys/backend.keyset --epoch 1 --publisher KEYSET`"),
            ("keys export Keys/all", 65, "shared keys have no public half"),
            ("restore Keys/backend text", 65, "text isn't a whole keyset"),
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
}
