import PushCryptCore
import PushCryptExtension
import Testing

@Suite struct RoundTripTests {
    /// Sealed by one backend, opened by the other, for every suite and profile.
    @Test(arguments: Channel.crosswise)
    func randomPayloads(channel: Channel) throws {
        var payloads = RandomPayload(seed: 11)
        let opener = try channel.opener()
        for _ in 0..<25 {
            let json = payloads.json()
            let push = try opener.open(try channel.seal(json), at: Channel.now).get()
            #expect(push.text == json)
            #expect(push.content.hasText)
            #expect(push.issuedAt == Channel.now)
            #expect((push.signedBy != nil) == channel.isSigned)
        }
    }

    /// A device that derives from the master and one that has its own record read the same.
    @Test(arguments: [false, true])
    func deviceRecords(isSigned: Bool) throws {
        let channel = Channel(key: "device", isSigned: isSigned)
        let derived = try TestKeys.keyset("shared").device(DeviceID("phone-1_A"))
        let opener = try Opener(
            topic: Channel.topic, keyring: KeysetKeyring(derived),
            senders: isSigned ? .pinned(channel.trustedSenders()) : .unsigned)
        #expect(try opener.open(channel.seal(), at: Channel.now).get().text == #"{"aps":{"alert":"x"}}"#)
    }
}
