import PushCryptExtension
import PushCryptPrimitives
import Testing

@testable import PushCryptCore

/// The signed profile: what a relay, a recipient or a thief of a master can do to a signed message.
@Suite struct SignatureTests {
    private static let keys = ["p256", "p256 psk", "x25519", "x25519 psk", "shared", "device"]

    @Test("an unsigned push is refused by a recipient that has pinned senders", arguments: keys)
    func unsignedWhereSendersArePinned(key: String) throws {
        let channel = Channel(key: key, isSigned: false)
        let opener = try channel.opener(senders: .pinned(channel.trustedSenders()))
        expect(.undecryptable, opener.open(try channel.seal(), at: Channel.now))
    }

    @Test("a signed push is refused by a recipient without pinned senders", arguments: keys)
    func signedWhereNoSenderIsPinned(key: String) throws {
        let channel = Channel(key: key, isSigned: true)
        expect(.unknownKey, try channel.opener(senders: .unsigned).open(channel.seal(), at: Channel.now))
    }

    @Test("a signed push without its skid is refused", arguments: keys)
    func skidTakenAway(key: String) throws {
        let channel = Channel(key: key, isSigned: true)
        let payload = OuterText(try channel.seal()).withoutSKID()
        #expect(payload.member("skid") == nil)
        expect(.undecryptable, try channel.open(payload.bytes))
        expect(.undecryptable, try channel.opener(senders: .unsigned).open(payload.bytes, at: Channel.now))
    }

    @Test("an unsigned push with an added skid is refused", arguments: keys)
    func skidAdded(key: String) throws {
        let channel = Channel(key: key, isSigned: false)
        let payload = OuterText(try channel.seal()).withSKID(TestKeys.kid("sender"))
        expect(.unknownKey, try channel.open(payload.bytes))
        let pinned = try channel.opener(senders: .pinned(channel.trustedSenders()))
        expect(.undecryptable, pinned.open(payload.bytes, at: Channel.now))
        let stranger = OuterText(try channel.seal()).withSKID(TestKeys.kid("other sender"))
        expect(.unknownKey, pinned.open(stranger.bytes, at: Channel.now))
    }

    @Test("a push whose skid names another pinned sender is refused", arguments: keys)
    func skidOfAnotherPinnedSender(key: String) throws {
        let channel = Channel(key: key, isSigned: true)
        let entries = try ["sender", "other sender"].map { name in
            Keyset.Entry(try TestKeys.keyset(name).entries[0].record, KeyLifecycle(activatesAt: UnixTime(0)))
        }
        let opener = try channel.opener(senders: .pinned(TrustedSenders(Keyset(entries))))
        let outer = OuterText(try channel.seal())
        #expect(throws: Never.self) { try opener.open(outer.bytes, at: Channel.now).get() }
        expect(.undecryptable, opener.open(outer.with("skid", TestKeys.kid("other sender")).bytes, at: Channel.now))
    }

    @Test("a push that a revoked sender has signed is refused", arguments: keys)
    func revokedSender(key: String) throws {
        let channel = Channel(key: key, isSigned: true)
        let revoked = KeyLifecycle(activatesAt: UnixTime(0), revokedAt: Channel.now)
        let entry = Keyset.Entry(try TestKeys.keyset("sender").entries[0].record, revoked)
        let opener = try channel.opener(senders: .pinned(TrustedSenders(Keyset([entry]))))
        expect(.keyRevoked, opener.open(try channel.seal(), at: Channel.now))
    }

    @Test(
        "a signed message that its recipient seals again to another recipient is refused", arguments: keys,
        keys + ["other device", "other p256", "other x25519"])
    func sealedAgainForAnother(from: String, to: String) throws {
        let (source, target) = (Channel(key: from, isSigned: true), Channel(key: to, isSigned: true))
        let plaintext = try Thief(source).plaintext(of: source.seal())
        let payload = try Thief(target).payload(plaintext)
        if from == to {
            #expect(try target.open(payload).get().text == #"{"aps":{"alert":"x"}}"#)
        } else {
            expect(.undecryptable, try target.open(payload))
        }
    }
}

/// Has a recipient's private key, or a master, and so everything that the recipient has.
private struct Thief {
    private let key: RecipientKey
    private let recipient: Recipient
    private let skid: KeyID
    private let info: [UInt8]

    init(_ channel: Channel) throws {
        key = try RecipientKey(TestKeys.keyset(channel.key).entries[0])
        recipient = try Recipient(jwk: TestKeys.publicJWK(channel.key))
        skid = try TestKeys.keyset("sender").keyIDs[0]
        let hasPSK = OwnVectors.shared.keys[channel.key]?["psk"] != nil
        info = contextInfo(
            suite: key.suite, profile: hasPSK ? [.psk, .signed] : [.signed], kid: key.kid, skid: skid,
            topic: try Topic(Channel.topic))
    }

    /// `signature || message`
    func plaintext(of payload: [UInt8]) throws -> [UInt8] {
        let sealed = try OuterPayload(JSONText(payload)).sealed
        switch key.scheme {
        case .hpke(let scheme): return try scheme.open(sealed.bytes, info: info.bytes)
        case .shared(let scheme): return try scheme.open(sealed.bytes, info: info.bytes)
        }
    }

    func payload(_ plaintext: [UInt8]) throws -> [UInt8] {
        var sealed: [UInt8] = []
        switch recipient.scheme {
        case .hpke(let scheme): try scheme.seal(plaintext.bytes, info: info.bytes, appendingTo: &sealed)
        case .shared(let scheme): try scheme.seal(plaintext.bytes, info: info.bytes, appendingTo: &sealed)
        }
        let frame = OuterFrame(placeholder: Array("\"x\"".utf8), exposed: [], kid: recipient.kid, skid: skid)
        return frame.payload(sealed: sealed)
    }
}
