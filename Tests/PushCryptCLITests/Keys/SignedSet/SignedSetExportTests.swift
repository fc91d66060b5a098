import Foundation
import PushCryptCore
import PushCryptTestSupport
import Testing

@Suite("keys export of a signed set and its pins", .ownThreads)
struct SignedSetExportTests {
    @Test("--signed-by prints a document that the pins verify")
    func verified() throws {
        let signed = try SignedSetPlace()
        try signed.publish()
        let pins = try SenderSetPins(json: Array(signed.place.read("pins")))
        let set = try SignedSenderSet.verify(Array(signed.place.read("set")), publishers: pins.publishers)
        #expect(set.publication.topics.map(\.description) == [Workplace.topic])
        #expect(set.publication.issuedAt.description == Workplace.now)
        #expect(set.publication.set == pins.set && pins.epoch == 1)
        #expect(try set.signedBy.description == signed.kid("Keys/publisher"))
        #expect(try set.keyset.keyIDs.map(\.description) == [signed.kid("Keys/senders")])
    }

    @Test("the document is the same at every time until it expires, and then exits 65")
    func deterministic() throws {
        let signed = try SignedSetPlace()
        let first = try signed.export()
        #expect(first.isSuccess, "\(first)")
        #expect(try signed.export(at: SignedSetPlace.day(59)).stdout == first.stdout)
        expectRefusal(try signed.export(at: SignedSetPlace.day(60)), 65, saying: "`rotate` issues it again")
    }

    @Test("an epoch above the keyset's exits 65 and says how to raise it")
    func laterEpoch() throws {
        let signed = try SignedSetPlace()
        expectRefusal(
            try signed.export("--epoch", "3"), 65,
            saying: "the keyset's epoch is 1; raise it with `keys policy --publish-epoch 3` first")
    }

    @Test("both of two publisher keys sign")
    func twoSigners() throws {
        let signed = try SignedSetPlace()
        try signed.place.succeed("keys", "add", "Keys/publisher")
        try signed.publish()
        let root = try JSONText(Array(signed.place.read("set"))).root
        #expect(root["signatures"]?.elements.count == 2)
        #expect(try SenderSetPins(json: Array(signed.place.read("pins"))).publishers.count == 2)
    }

    @Test("each keyset opens with its own passphrase")
    func twoPassphrases() throws {
        let signed = try SignedSetPlace(secrets: ("red horse", "blue horse"))
        let own = ["--passphrase-file", "sender.pass", "--publisher-passphrase-file", "publisher.pass"]
        let output = try signed.place.run(
            ["keys", "export", "Keys/senders", "--signed-by", "Keys/publisher", "--at", Workplace.now] + own)
        #expect(output.isSuccess, "\(output)")
        let pins = try signed.place.run(["keys", "export", "Keys/publisher", "--pins-for", "Keys/senders"] + own)
        #expect(pins.isSuccess, "\(pins)")
        for wrong in [["sender.pass", "sender.pass"], ["publisher.pass", "publisher.pass"]] {
            let options = ["--passphrase-file", wrong[0], "--publisher-passphrase-file", wrong[1]]
            let refused = try signed.place.run(
                ["keys", "export", "Keys/senders", "--signed-by", "Keys/publisher", "--at", Workplace.now] + options)
            expectRefusal(refused, 77, saying: "the passphrase is wrong")
        }
        let advice = ". --passphrase-file is for Keys/senders; if Keys/publisher has a secret of its own, add "
        let mistakes = [
            try signed.export("--passphrase-file", "sender.pass"),
            try signed.place.run(
                "keys", "export", "Keys/publisher", "--pins-for", "Keys/senders", "--passphrase-file", "publisher.pass"),
        ]
        for (output, keyset) in zip(mistakes, ["Keys/publisher", "Keys/senders"]) {
            let words = "\(keyset)/keyset.json: the passphrase is wrong\(advice)--publisher-passphrase-file FILE"
            expectRefusal(output, 77, saying: words)
        }
        expectRefusal(try signed.export(), 64, saying: "is encrypted: use --passphrase-file")
        expectRefusal(try signed.export(), 64, saying: advice)
    }

    @Test("one passphrase opens both keysets, and a plain keyset beside it exits 65")
    func onePassphrase() throws {
        let signed = try SignedSetPlace(secrets: ("red horse", "red horse"))
        #expect(try signed.export("--passphrase-file", "sender.pass").isSuccess)
        let plain = try SignedSetPlace()
        try plain.place.write(Data("red horse".utf8), to: "pass")
        expectRefusal(try plain.export("--passphrase-file", "pass"), 65, saying: "is not encrypted")
        expectRefusal(try plain.export("--publisher-passphrase-file", "pass"), 65, saying: "Keys/publisher")
    }

    @Test("keysets of other kinds, and senders without a publication, exit 65")
    func otherKeysets() throws {
        let signed = try SignedSetPlace()
        let place = signed.place
        try place.create("Keys/other", "sender")
        for (path, option, other, text) in [
            (
                "Keys/other", "--signed-by", "Keys/publisher",
                "`pushcrypt keys policy Keys/NAME --publish-topic com.example.app`"
            ),
            ("Keys/senders", "--signed-by", "Keys/senders", "the keyset that signs contains sender keys"),
            (
                "Keys/publisher", "--signed-by", "Keys/publisher",
                "the keyset whose set is signed contains publisher keys"
            ),
            ("Keys/senders", "--pins-for", "Keys/senders", "the keyset that signs contains sender keys"),
            (
                "Keys/publisher", "--pins-for", "Keys/publisher",
                "the keyset whose set is signed contains publisher keys"
            ),
        ] {
            expectRefusal(try place.run("keys", "export", path, option, other, "--at", Workplace.now), 65, saying: text)
        }
        expectRefusal(
            try place.run("keys", "export", "Keys/senders", "--signed-by", "set.json"), 66, saying: "is not a keyset")
    }

    @Test(
        "options without effect exit 64",
        arguments: [
            ["--signed-by", "Keys/publisher", "--pins-for", "Keys/senders"],
            ["--signed-by", "Keys/publisher", "--json"],
            ["--signed-by", "Keys/publisher", "--private"], ["--publisher-passphrase-file", "pass"], ["--epoch", "1"],
            ["--pins-for", "Keys/senders", "--epoch", "1"], ["--signed-by", "Keys/publisher", "--registration"],
            [
                "--signed-by", "Keys/publisher", "--publisher-passphrase-file", "pass", "--publisher-wrap-command",
                "cat",
            ],
        ])
    func usage(_ options: [String]) throws {
        expectUsageError(try Workplace().run(["keys", "export", "Keys/senders"] + options))
    }

    @Test("a publisher key signs no push, and apps don't trust it for one")
    func pushes() throws {
        let signed = try SignedSetPlace()
        let place = signed.place
        try place.create("Keys/app", "shared")
        expectRefusal(
            try place.seal(to: "Keys/app", "--sign-with", "Keys/publisher"), 65, saying: "Keys/publisher")
        let push = try place.sealed(to: "Keys/app")
        expectRefusal(
            try place.open(keys: "Keys/app", "--trust", "Keys/publisher", payload: push), 65,
            saying: "sender keys are needed")
    }
}
