import Foundation
import PushCryptTestSupport
import Testing

@Suite("open and keys list with a signed set", .ownThreads)
struct SignedSetTrustTests {
    /// A place with a published set and a push that its sender key signed.
    private static func place() throws -> (signed: SignedSetPlace, push: Data) {
        let signed = try SignedSetPlace()
        try signed.publish()
        try signed.place.create("Keys/app", "shared")
        return (signed, try signed.place.sealed(to: "Keys/app", "--sign-with", "Keys/senders"))
    }

    private static func open(_ place: Workplace, _ push: Data, _ options: String...) throws -> Output {
        try place.run(
            ["open", "--keys", "Keys/app", "--topic", Workplace.topic, "--trust", "set"] + options
                + (options.contains("--at") ? [] : ["--at", Workplace.now]), stdin: push)
    }

    @Test("open trusts the keys of a signed set that the pins verify")
    func opened() throws {
        let (signed, push) = try Self.place()
        let opened = try Self.open(signed.place, push, "--pins", "pins")
        #expect(opened.isSuccess && opened.payload == Workplace.inner, "\(opened)")
    }

    @Test("a signed set without pins, and pins with an unsigned set, exit 65")
    func halves() throws {
        let (signed, push) = try Self.place()
        expectRefusal(try Self.open(signed.place, push), 65, saying: "with the pins of its publishers (--pins)")
        expectRefusal(
            try signed.place.run("keys", "list", "set"), 65, saying: "with the pins of its publishers (--pins)")
        try signed.place.export("Keys/senders", to: "set")
        expectRefusal(try Self.open(signed.place, push, "--pins", "pins"), 65, saying: "is not a signed sender set")
        expectRefusal(
            try signed.place.run("keys", "list", "Keys/senders", "--pins", "pins"), 65,
            saying: "not a signed sender set")
        expectUsageError(try signed.place.run("open", "--keys", "Keys/app", "--topic", "a", "--pins", "pins"))
    }

    @Test("a set that the app would not accept exits 65")
    func refused() throws {
        let (signed, push) = try Self.place()
        let other = try SignedSetPlace()
        try other.publish()
        let place = signed.place
        try place.write(try other.place.read("pins"), to: "foreign")
        expectRefusal(try Self.open(place, push, "--pins", "foreign"), 65, saying: "none of the publishers")
        expectRefusal(
            try Self.open(place, push, "--pins", "pins", "--at", SignedSetPlace.day(60)), 65, saying: "was valid until")
        let elsewhere = try place.run(
            "open", "--keys", "Keys/app", "--topic", "com.example.other", "--trust", "set", "--pins", "pins", "--at",
            Workplace.now, stdin: push)
        expectRefusal(elsewhere, 65, saying: "is not for the app com.example.other")
        try place.edit("set") { $0.replacing("\"payload\":\"e", with: "\"payload\":\"f") }
        expectRefusal(try Self.open(place, push, "--pins", "pins"), 65, saying: "none of the publishers")
        expectRefusal(try Self.open(place, push, "--pins", "set"), 65, saying: "set: ")
    }

    @Test("a key that the set revokes verifies nothing, whatever the clock says")
    func revoked() throws {
        let (signed, push) = try Self.place()
        try signed.place.succeed(
            "keys", "revoke", "Keys/senders", try signed.kid("Keys/senders"), "--yes", at: Workplace.later(600))
        try signed.publish(at: Workplace.later(600))
        let opened = try Self.open(signed.place, push, "--pins", "pins")
        try expectPlaceholder(opened, "keyRevoked")
    }

    @Test("keys list with the pins of another set or another epoch exits 65")
    func listedForOthers() throws {
        let (signed, _) = try Self.place()
        let place = signed.place
        for (edit, reason) in [
            ("\"epoch\": 2", "the app pins epoch 2"), ("\"set\": \"BwcHBwcHBwcHBwcHBwcHBw\"", "isn't the pinned one"),
        ] {
            let name = String(edit.prefix { $0 != ":" })
            try place.write(try place.read("pins"), to: "others")
            try place.edit("others") { text in
                let start = text.range(of: name)!.lowerBound
                let end = text[start...].firstIndex { ",}".contains($0) }!
                return String(text[..<start]) + edit + String(text[end...])
            }
            expectRefusal(try place.run("keys", "list", "set", "--pins", "others"), 65, saying: reason)
        }
    }

    @Test("keys that come from a pipe are trusted")
    func pipe() throws {
        let (signed, push) = try Self.place()
        let place = signed.place
        try place.export("Keys/senders", to: "plain")
        let fifo = place.folder.file("fifo").path
        #expect(unsafe mkfifo(fifo, 0o600) == 0)
        let writer = try ChildProcess(
            executable: "/bin/sh", arguments: ["-c", "cat plain > fifo"], folder: place.folder.path
        ).start()
        let opened = try place.run(
            ["open", "--keys", "Keys/app", "--topic", Workplace.topic, "--trust", "fifo", "--at", Workplace.now],
            stdin: push)
        writer.kill()
        #expect(opened.isSuccess && opened.payload == Workplace.inner, "\(opened)")
    }

    @Test("keys list shows the verified set with its keys")
    func listed() throws {
        let (signed, _) = try Self.place()
        let (kid, publisher) = (try signed.kid("Keys/senders"), try signed.kid("Keys/publisher"))
        let text = try signed.place.run("keys", "list", "set", "--pins", "pins", "--at", SignedSetPlace.day(1))
        #expect(text.isSuccess, "\(text)")
        let words = text.text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(
            words.contains(
                "Set: issued at 2026-03-01T09:00:00Z (24h ago), valid until 2026-04-30T09:00:00Z (in 59d), epoch 1, "
                    + "seq 2, for com.example.app, signed by \(publisher)"))
        #expect(words.contains("\(kid) primary ed25519"))
    }
}
