import Foundation
import PushCryptCore
import PushCryptTestSupport
import Testing

/// A FILE is never encrypted. A secret beside one is for another keyset of the same command, or it is a mistake.
@Suite("a secret together with a FILE", .ownThreads)
struct SecretBesideFilesTests {
    private static let here = "--topic \(Workplace.topic) --at \(Workplace.now)"
    private let encrypted: EncryptedPlace
    private var place: Workplace { encrypted.place }

    init() throws {
        encrypted = EncryptedPlace(try Self.made.get().place())
    }

    private static let made = Result {
        let encrypted = try EncryptedPlace()
        let place = encrypted.place
        try place.create("device", "recipient", "--psk")
        try place.export("device", to: "registration.json", "--registration")
        try place.create("open", "recipient")
        try place.export("open", to: "public.json")
        for name in ["device", "open"] {
            try place.export(name, to: "\(name).private", "--private", "--insecure-plaintext", "--format", "jwk")
        }
        try place.create("shared", "shared")
        try place.export("shared", to: "shared.private", "--private", "--insecure-plaintext", "--format", "jwk")
        try encrypted.create("Keys/ios", .recipient)
        try encrypted.create("Keys/push", .sender)
        try place.write(encrypted.run("keys export Keys/push").stdout, to: "senders.json")
        return try PlaceSnapshot(place)
    }

    @Test(
        "seal accepts a public file while the secret unlocks the sender key",
        arguments: ["registration.json", "public.json"], EncryptedPlace.Source.ofPassphrases)
    func sealing(_ file: String, _ source: EncryptedPlace.Source) throws {
        let sealed = try encrypted.run(
            "seal --to \(file) --sign-with Keys/push \(Self.here)", source, stdin: Workplace.inner)
        #expect(sealed.isSuccess, "\(sealed)")
        let line = Data(#"{"payload":{"aps":{"alert":"x"}}}"#.utf8)
        let batch = try encrypted.run(
            "seal --batch --to \(file) --sign-with Keys/push \(Self.here)", source, stdin: line)
        #expect(batch.exit == 0, "\(batch)")
    }

    @Test("open trusts a public file while the secret unlocks the recipient keys")
    func trusting() throws {
        let sealed = try encrypted.run(
            "seal --to Keys/ios --sign-with Keys/push \(Self.here)", stdin: Workplace.inner)
        let opened = try encrypted.run("open --keys Keys/ios --trust senders.json \(Self.here)", stdin: sealed.stdout)
        #expect(opened.isSuccess && opened.payload == Workplace.inner, "\(opened)")
        let inspected = try encrypted.run(
            "inspect --keys Keys/ios --trust senders.json \(Self.here)", stdin: sealed.stdout)
        #expect(inspected.isSuccess, "\(inspected)")
    }

    /// An attacker who can write Keys can put a file Keys/ios in place of the folder.
    @Test(
        "a public file with a secret that no key needs is refused",
        arguments: [
            "seal --to registration.json", "seal --to public.json", "seal --batch --to public.json",
            "keys export public.json",
        ])
    func alone(_ command: String) throws {
        try expectRefusal(command)
    }

    @Test(
        "a file with plain private or shared keys is refused if a secret is given",
        arguments: [
            "open --keys device.private", "open --batch --keys open.private", "inspect --keys device.private",
            "open --keys shared.private --trust Keys/push", "seal --to shared.private --sign-with Keys/push",
            "seal --to open.private --sign-with Keys/push",
            "reseal --keys shared.private --errors refused",
        ])
    func secret(_ command: String) throws {
        try expectRefusal(command)
    }

    private func expectRefusal(_ command: String) throws {
        let file = try #require(command.firstMatch(of: /[a-z]+\.(json|private)/)?.0)
        let options = command.hasPrefix("keys") ? "" : Self.here
        for source in EncryptedPlace.Source.ofPassphrases {
            let output = try encrypted.run("\(command) \(options)", source, stdin: Workplace.inner)
            PushCryptCLITests.expectRefusal(
                output, 65, saying: "\(file) is not encrypted, though a passphrase or wrap command was given")
        }
    }
}
