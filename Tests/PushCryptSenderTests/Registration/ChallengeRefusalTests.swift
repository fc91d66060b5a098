import Foundation
import PushCryptCore
import PushCryptExtension
import PushCryptPrimitives
import PushCryptSender
import PushCryptTestSupport
import Testing

@Suite("refused challenges") struct ChallengeRefusalTests {
    private static let signed = Channel(key: "p256 psk", isSigned: true)

    /// A text with the form of a challenge around any envelope.
    private static func text(_ channel: Channel, _ plaintext: [UInt8], as use: Envelope.Use) throws -> [UInt8] {
        let (recipient, signer) = try (channel.recipient(), channel.isSigned ? TestKeys.sender(channel.backend) : nil)
        let sealed = try Envelope.seal(
            plaintext, to: recipient, signer: signer, topic: Topic("com.example.app"), as: use)
        let id = try #require(RegistrationID("r"))
        return PossessionChallengeText(registrationID: id, kid: recipient.kid, skid: signer?.kid, sealed: sealed).json
    }

    @Test("a recorded push isn't answered, not even one whose message is 32 bytes long", arguments: Channel.all)
    func recordedPush(channel: Channel) throws {
        let device = try AnsweringDevice(channel)
        let push = try channel.seal(#"{"aps":{"alert":"x"}}"#)
        let outer = try OuterPayload(JSONText(Array(push.json)))
        let id = try #require(RegistrationID("r"))
        let asChallenge = PossessionChallengeText(
            registrationID: id, kid: outer.kid, skid: outer.skid, sealed: outer.sealed)
        device.expectFailure(.undecryptable, asChallenge.json)
        device.expectFailure(.undecryptable, try Self.text(channel, [UInt8](repeating: 7, count: 32), as: .message))
    }

    @Test("a challenge doesn't open as a push, not even one whose plaintext is a message", arguments: Channel.all)
    func challengeAsPush(channel: Channel) throws {
        let device = try AnsweringDevice(channel)
        let message = Array(
            #"{"aps":{"alert":"x"},"pushcrypt":{"id":"AAECAwQFBgcICQoLDA0ODw","iat":1800000000,"exp":1800000060}}"#.utf8
        )
        for (use, failure) in [(Envelope.Use.challenge, FailureClass.undecryptable), (.message, nil)] {
            let challenge = try PossessionChallengeText(json: Self.text(channel, message, as: use))
            let frame = OuterFrame(
                placeholder: Array(#""x""#.utf8), exposed: [], kid: challenge.kid, skid: challenge.skid)
            let opened = device.opener.open(frame.payload(sealed: challenge.sealed), at: Channel.now)
            if let failure { #expect(throws: failure) { try opened.get() } } else { _ = try opened.get() }
        }
    }

    @Test("a challenge whose plaintext isn't 32 bytes long is malformed", arguments: Channel.all)
    func nonceLength(channel: Channel) throws {
        let device = try AnsweringDevice(channel)
        _ = try device.answer(Self.text(channel, [UInt8](repeating: 7, count: 32), as: .challenge))
        for count in [0, 1, 31, 33, 64, 96] {
            device.expectFailure(
                .malformed, try Self.text(channel, [UInt8](repeating: 7, count: count), as: .challenge))
        }
    }

    @Test("a challenge for another topic, and one to a key that the device doesn't have, are refused like a push")
    func otherKey() throws {
        let other = try AnsweringDevice(Self.signed, topic: "com.example.other")
        other.expectFailure(.undecryptable, Array(try other.challenge().json))
        let device = try AnsweringDevice(Self.signed)
        let watch = try AnsweringDevice(Channel(key: "x25519 psk", isSigned: true))
        device.expectFailure(.unknownKey, Array(try watch.challenge().json))
    }

    @Test("a device that pins senders refuses an unsigned challenge, and one that pins none refuses a signed one")
    func trust() throws {
        let unsigned = Channel(key: "p256 psk", isSigned: false)
        let pinning = try AnsweringDevice(unsigned, trusting: ["sender"])
        pinning.expectFailure(.undecryptable, Array(try pinning.challenge().json))
        let open = try AnsweringDevice(unsigned)
        open.expectFailure(.unknownKey, Array(try AnsweringDevice(Self.signed).challenge().json))
    }

    @Test("with skid removed, a challenge is refused")
    func signer() throws {
        let device = try AnsweringDevice(Self.signed)
        let challenge = String(decoding: try device.challenge().json, as: UTF8.self)
        device.expectFailure(.undecryptable, Array(challenge.replacing(/,"skid":"[^"]*"/, with: "").utf8))
        let unsigned = try AnsweringDevice(Channel(key: "p256 psk", isSigned: false))
        let stripped = Array(challenge.replacing(/,"skid":"[^"]*"/, with: "").utf8)
        unsigned.expectFailure(.undecryptable, stripped)
    }

    @Test(
        "with any byte of its envelope changed, or cut, or longer, a challenge is undecryptable", arguments: Channel.all
    )
    func changedEnvelope(channel: Channel) throws {
        let device = try AnsweringDevice(channel)
        let challenge = try PossessionChallengeText(json: Array(device.challenge().json))
        func expectUndecryptable(_ sealed: [UInt8]) {
            let changed = PossessionChallengeText(
                registrationID: challenge.registrationID, kid: challenge.kid, skid: challenge.skid, sealed: sealed)
            device.expectFailure(.undecryptable, changed.json)
        }
        for index in challenge.sealed.indices {
            var sealed = challenge.sealed
            sealed[index] ^= 1
            expectUndecryptable(sealed)
        }
        expectUndecryptable(Array(challenge.sealed.dropLast()))
        expectUndecryptable(challenge.sealed + [0])
        expectUndecryptable([0])
    }

    @Test(
        "a challenge of another form is refused with the class of its fault",
        arguments: [
            (#""v":1"#, #""v":2"#, .unsupportedVersion), (#""v":1"#, #""v":"1""#, .malformed),
            (#""v":1"#, #""v":1.0"#, .malformed),
            (#""v":1,"#, "", .malformed), (#""v":1,"#, #""v":1,"v":1,"#, .malformed),
            (#""registration":"[^"]*","#, "", .malformed),
            (#""registration":"[^"]*""#, #""registration":"""#, .malformed),
            (#""registration":"[^"]*""#, #""registration":7"#, .malformed),
            (#""registration":"[^"]*""#, #""registration":"a b""#, .malformed),
            (#""kid":"[^"]*","#, "", .malformed), (#""kid":"[^"]*""#, #""kid":"AAAA""#, .malformed),
            (#""kid":"[^"]*""#, #""kid":"AAAAAAAAAAA""#, .unknownKey), (#","sealed":"[^"]*""#, "", .malformed),
            (#""sealed":"[^"]*""#, #""sealed":"""#, .malformed),
            (#""sealed":"[^"]*""#, #""sealed":"A+==""#, .malformed),
            (#""skid":"[^"]*""#, #""skid":null"#, .malformed), (#""skid":"[^"]*""#, #""skid":"""#, .malformed),
            (#""skid":"[^"]*""#, #""skid":"AAAAAAAAAAA""#, .unknownKey), (#"^\{"#, "[", .malformed),
            (#"\}$"#, "} x", .malformed),
        ] as [(String, String, FailureClass)])
    func form(pattern: String, replacement: String, failure: FailureClass) throws {
        let device = try AnsweringDevice(Self.signed)
        let challenge = String(decoding: try device.challenge().json, as: UTF8.self)
        let changed = challenge.replacing(try Regex(pattern), with: replacement)
        #expect(changed != challenge)
        device.expectFailure(failure, Array(changed.utf8))
    }

    @Test("unknown members and white space up to 4,096 bytes are accepted, and more is malformed")
    func length() throws {
        let device = try AnsweringDevice(Self.signed)
        var challenge = Array(try device.challenge().json)
        challenge.insert(contentsOf: Array(#" "x" : {"v":2}, "#.utf8), at: 1)
        challenge += [UInt8](repeating: 0x20, count: 4_096 - challenge.count)
        _ = try device.answer(challenge)
        device.expectFailure(.malformed, challenge + [0x20])
    }

    @Test("another registration id gives another answer, which the backend refuses")
    func otherID() throws {
        let device = try AnsweringDevice(Self.signed)
        let challenge = try device.challenge()
        let text = try PossessionChallengeText(json: Array(challenge.json))
        let moved = PossessionChallengeText(
            registrationID: try #require(RegistrationID("other")), kid: text.kid, skid: text.skid, sealed: text.sealed)
        let answer = try #require(PossessionAnswerText(json: device.answer(moved.json)))
        let back = PossessionAnswerText(registrationID: text.registrationID, code: answer.code)
        expectSenderError(.possessionNotProven) { try challenge.pending.confirm(answer: back.json, at: Channel.now) }
    }
}
