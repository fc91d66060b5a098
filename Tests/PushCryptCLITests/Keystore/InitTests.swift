import Foundation
import PushCryptTestSupport
import Testing

@Suite("init", .ownThreads)
struct InitTests {
    @Test func `init makes all from an empty host, and rotate publishes a set with the topic and the sender's key`()
        throws
    {
        let host = try KeystorePlace()
        let first = try host.run("rotate")
        #expect(first.exit == 0 && first.stderr.isEmpty, "\(first)")
        #expect(first.text.contains("published \(host.file("www"))/\(try host.id()).1.json"), "\(first)")
        #expect(try host.served()["topics"] as? [String] == [Workplace.topic])
        #expect(try Array(host.servedKeys().keys) == host.kids())
        let pins = try host.place.read("a/sender-pins.json")
        #expect(try Payload.string("set", of: pins) == host.id())
        try host.expectHealthy()
    }

    @Test func `init prints what was made, and a second run says that all was there and changes nothing`() throws {
        let host = try KeystorePlace()
        let before = try host.place.contents(of: ".")
        let again = try host.initialise("--sender", "senders", "--shared", "fleet", "--insecure-plaintext")
        #expect(again.isSuccess && !again.text.contains("made "), "\(again)")
        #expect(again.text.contains("there  keyset \(host.file("a/Keys/senders.keyset"))"), "\(again)")
        #expect(again.text.contains("pushcrypt rotate --settings \(host.file("a/pushcrypt.json"))"), "\(again)")
        #expect(try host.place.contents(of: ".") == before)
    }

    @Test func `init without --yes, or with a validity under 14 days, exits 64 and makes nothing`() throws {
        let host = try KeystorePlace.empty()
        let output = try host.initialise("--insecure-plaintext")
        #expect(output.exit == 64 && output.stderr.contains("--yes"), "\(output)")
        #expect(try host.place.names().isEmpty)
        let short = try host.initialise("--insecure-plaintext", "--yes", "--valid-for", "13d")
        expectRefusal(short, 64, saying: "for 14d to 90d")
        #expect(try host.place.names().isEmpty)
    }

    @Test func `init refuses options of keysets that it doesn't make, and makes nothing`() throws {
        let place = try Workplace()
        for options in [
            ["--shared", "fleet", "--topic", Workplace.topic], ["--shared", "fleet", "--publish-to", "www"],
        ] {
            let arguments = [
                "init", "--settings", "pushcrypt.json", "--history", "history", "--keystore", "Keys", "--yes",
            ]
            expectRefusal(try place.run(arguments + options), 64, saying: "of senders")
        }
        #expect(try place.contents(of: ".").isEmpty)
    }

    @Test func `init encrypts by default, and rotate takes the passphrases from the settings`() throws {
        let host = try KeystorePlace.empty()
        let output = try host.initialise("--yes")
        #expect(output.exit == 0, "\(output)")
        #expect(try host.place.mode(of: "a/passphrase") == 0o600)
        #expect(try host.place.read("a/passphrase") != host.place.read("a/publisher-passphrase"))
        #expect(String(decoding: try host.place.read("a/Keys/senders.keyset"), as: UTF8.self).contains("\"sealed\""))
        try host.expectHealthy()
        for name in ["passphrase", "publisher-passphrase"] {
            try host.place.write(Data("another\n".utf8), to: "a/\(name)")
        }
        // Nothing is due, and a run on this day has used the secrets.
        #expect(try host.run("rotate").isSuccess)
        let wrong = try host.run("rotate", day: 1)
        #expect(wrong.exit == 77 && wrong.stderr.contains("the passphrase is wrong"), "\(wrong)")
    }

    @Test func `init refuses a keyset of another kind and changes nothing`() throws {
        let host = try KeystorePlace()
        let before = try host.place.contents(of: ".")
        let output = try host.initialise("--recipient", "fleet", "--insecure-plaintext", "--yes")
        expectRefusal(output, 73, saying: "a/Keys/fleet.keyset is a keyset of another kind")
        #expect(try host.place.contents(of: ".") == before)
    }
}
