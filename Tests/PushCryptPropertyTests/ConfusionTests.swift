import PushCryptCore
import PushCryptExtension
import Testing

/// Valid parts in the wrong place.
@Suite struct ConfusionTests {
    private static let names = ["p256", "p256 psk", "x25519", "x25519 psk", "shared", "device"]

    @Test(
        "sealed bytes that are moved to another payload of the same recipient open with their own content",
        arguments: Channel.all)
    func swapForOneRecipient(channel: Channel) throws {
        let first = OuterText(try channel.seal(#"{"aps":{"alert":"first"}}"#))
        let second = OuterText(try channel.seal(#"{"aps":{"alert":"second"}}"#))
        let swapped = first.with("sealed", try #require(second.member("sealed")))
        #expect(try channel.open(swapped.bytes).get().text == #"{"aps":{"alert":"second"}}"#)
    }

    @Test("sealed bytes that are moved to the payload of another recipient don't open", arguments: names, names)
    func swapBetweenRecipients(from: String, to: String) throws {
        for isSigned in [false, true] {
            let sealed = OuterText(try Channel(key: from, isSigned: isSigned).seal())
            let target = Channel(key: to, isSigned: isSigned)
            let swapped = OuterText(try target.seal()).with("sealed", try #require(sealed.member("sealed")))
            if from == to {
                #expect(throws: Never.self) { try target.open(swapped.bytes).get() }
            } else {
                expect(.undecryptable, try target.open(swapped.bytes))
            }
        }
    }

    @Test(
        "a kid of another key of the recipient makes the push undecryptable", arguments: names,
        ["other p256", "other x25519", "other shared", "other device"] + names)
    func anotherKeyID(from: String, to: String) throws {
        guard TestKeys.kid(from) != TestKeys.kid(to) else { return }
        let payload = OuterText(try Channel(key: from, isSigned: false).seal()).with("kid", TestKeys.kid(to))
        expect(.undecryptable, try Channel(key: to, isSigned: false).open(payload.bytes))
    }

    @Test(
        "a push to one device of a master doesn't open with the master or with another device's key",
        arguments: ["shared", "device", "other device"], ["shared", "device", "other device"])
    func anotherDevice(from: String, to: String) throws {
        let payload = try Channel(key: from, isSigned: false).seal()
        let result = try Channel(key: to, isSigned: false).open(payload)
        if from == to {
            #expect(throws: Never.self) { try result.get() }
        } else {
            expect(.undecryptable, result)
        }
    }

    @Test("a push for one topic doesn't open under another topic", arguments: names, [false, true])
    func anotherTopic(key: String, isSigned: Bool) throws {
        let channel = Channel(key: key, isSigned: isSigned)
        let payload = try channel.seal()
        for topic in ["com.example.ap", "com.example.appp", "com.example.App", "c", String(repeating: "a", count: 155)]
        {
            let opener = try channel.opener(
                topic: topic, senders: isSigned ? .pinned(channel.trustedSenders()) : .unsigned)
            expect(.undecryptable, opener.open(payload, at: Channel.now))
        }
    }

    @Test(
        "a key pair with a psk doesn't open a push to the pair without it, nor the reverse",
        arguments: ["p256 psk", "x25519 psk"])
    func pskTakenAwayOrAdded(key: String) throws {
        let plain = try RecordWithoutPSK(key)
        let withPSK = Channel(key: key, isSigned: false)
        expect(.undecryptable, plain.opener.open(try withPSK.seal(), at: Channel.now))
        expect(.undecryptable, try withPSK.open(plain.seal()))
        #expect(throws: Never.self) { try plain.opener.open(try plain.seal(), at: Channel.now).get() }
    }
}
