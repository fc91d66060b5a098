import PushCryptCore
import PushCryptExtension
import PushCryptTestSupport
import Testing

@Suite struct RoundTripTests {
    @Test(
        "a random payload that one backend seals opens unchanged with the other, for every suite and profile",
        arguments: Channel.crosswise)
    func randomPayloads(channel: Channel) throws {
        var payloads = RandomPayload(seed: 11)
        let opener = try channel.opener()
        for _ in 0..<LongTests.value(25, short: 8) {
            let json = payloads.json()
            let push = try opener.open(try channel.seal(json), at: Channel.now).get()
            #expect(push.text == json)
            #expect(push.content.hasText)
            #expect(push.issuedAt == Channel.now)
            #expect((push.signedBy != nil) == channel.isSigned)
        }
    }

    @Test("a device that derives its key from the master opens what is sealed to its record", arguments: [false, true])
    func deviceRecords(isSigned: Bool) throws {
        let channel = Channel(key: "device", isSigned: isSigned)
        let derived = try TestKeys.keyset("shared").device(DeviceID("phone-1_A"))
        let opener = try Opener(
            topic: Channel.topic, keyring: KeysetKeyring(derived),
            senders: isSigned ? .pinned(channel.trustedSenders()) : .unsigned)
        #expect(try opener.open(channel.seal(), at: Channel.now).get().text == #"{"aps":{"alert":"x"}}"#)
    }
}
