import Foundation
import PushCryptCore
import PushCryptTestSupport
import Testing

/// Whoever can write the folder can put a keyset of his own in place, in plain text, which needs no secret to be made.
@Suite("a plain keyset in place of an encrypted one", .ownThreads)
struct ExchangedKeysetTests {
    private static let at = "--at \(Workplace.now)"

    static let commands = [
        "seal --to Keys/ios --topic com.example.app \(at)",
        "seal --to Keys/other --sign-with Keys/ios --topic a.b \(at)",
        "open --keys Keys/ios --topic com.example.app \(at)", "keys export Keys/ios", "keys add Keys/ios --force \(at)",
        "rotate Keys/ios --now \(at)", "keys policy Keys/ios --keep 3 \(at)",
        "keys passwd Keys/ios --new-passphrase-file other \(at)", "keys passwd Keys/ios --insecure-plaintext \(at)",
    ]

    @Test("is refused by whoever gives a secret", arguments: commands)
    func refused(_ command: String) throws {
        let encrypted = try EncryptedPlace()
        try encrypted.place.create("Keys/ios", "recipient")
        try encrypted.create("Keys/other", .recipient)
        let before = try encrypted.place.read("Keys/ios/keyset.json")
        for source in EncryptedPlace.Source.allCases where !(source.isCommand && command.contains("Keys/other")) {
            let output = try encrypted.run(command, source, stdin: Workplace.inner)
            expectRefusal(
                output, 65, saying: "Keys/ios/keyset.json holds its keys in plain text, though a secret was given")
        }
        #expect(try encrypted.place.read("Keys/ios/keyset.json") == before)
    }

    @Test("is used as it is by whoever gives none")
    func accepted() throws {
        let encrypted = try EncryptedPlace()
        try encrypted.place.create("Keys/ios", "recipient")
        let sealed = try encrypted.place.seal(to: "Keys/ios")
        #expect(sealed.isSuccess, "\(sealed)")
    }

    @Test("stops one keyset of several, not the others")
    func several() throws {
        let encrypted = try EncryptedPlace()
        try encrypted.place.create("Keys/a", "sender")
        try encrypted.create("Keys/b", .sender)
        let output = try encrypted.run("rotate --all --now \(Self.at)")
        #expect(output.exit == 65 && output.stderr.contains("Keys/a/keyset.json"), "\(output)")
        #expect(try Payload.member("pushcrypt.seq", of: encrypted.place.read("Keys/a/keyset.json")) as? Int == 1)
        #expect(try Payload.member("pushcrypt.seq", of: encrypted.place.read("Keys/b/keyset.json")) as? Int == 2)
    }

    @Test("leaves the published demo keys alone, which are plain for everybody")
    func demo() throws {
        let encrypted = try EncryptedPlace()
        try encrypted.place.copyDemoKeys()
        let output = try encrypted.run(
            "seal --to Keys/demo/recipient --allow-demo-keys --topic a.b", .environment, stdin: Workplace.inner)
        #expect(output.isSuccess, "\(output)")
    }
}
