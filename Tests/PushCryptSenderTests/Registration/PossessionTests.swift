import Foundation
import PushCryptCore
import PushCryptExtension
import PushCryptPrimitives
import PushCryptSender
import PushCryptTestSupport
import Testing

/// A device that answers challenges to its key.
private struct AnsweringDevice {
    static let host = "push.example.com"

    let channel: Channel
    let opener: Opener

    init(_ channel: Channel) throws {
        self.channel = channel
        let keyset = try Keyset(json: TestKeys.privateJWK(channel.key))
        let trust: SenderTrust =
            channel.isSigned ? .pinned(try TrustedSenders(json: TestKeys.publicJWK("sender"))) : .unsigned
        opener = try Opener(topic: "com.example.app", keyring: KeysetKeyring(keyset), senders: trust)
    }

    func challenge() throws -> PossessionChallenge {
        let registration = try Registration(json: TestKeys.publicJWK(channel.key), requiring: [])
        return try channel.sealer().challenge(registration, host: Self.host)
    }

    func answer(_ challenge: some Collection<UInt8>, host: String = host) throws -> [UInt8] {
        let record = TestKeys.publicJWK(channel.key)
        return try opener.answer(
            challenge: Array(challenge), record: SecretBytes(copying: record.bytes), host: host, at: Channel.now)
    }
}

/// `PossessionVectorTests` has the challenges that a device refuses, and the answers that a backend refuses.
@Suite("proof of possession") struct PossessionTests {
    private static let signed = Channel(key: "p256 psk", isSigned: true)

    @Test("a device proves that it has the key of its record, in every suite and profile", arguments: Channel.all)
    func proof(channel: Channel) throws {
        let device = try AnsweringDevice(channel)
        let challenge = try device.challenge()
        let answer = try device.answer(challenge.json)
        #expect(try PendingRegistration.id(ofAnswer: answer) == challenge.pending.id)
        // The backend stores the value until the answer arrives.
        let stored = try JSONEncoder().encode(challenge.pending)
        let pending = try JSONDecoder().decode(PendingRegistration.self, from: stored)
        let registration = try pending.confirm(answer: answer, at: Channel.now)
        #expect(registration.hasSameKey(as: challenge.pending.registration))
    }

    @Test("two challenges for one record have different ids, envelopes and answers")
    func fresh() throws {
        let device = try AnsweringDevice(Self.signed)
        let challenges = try (0..<2).map { _ in try device.challenge() }
        #expect(challenges[0].pending.id != challenges[1].pending.id)
        let answers = try challenges.map { try device.answer($0.json) }
        expectSenderError(.otherChallenge) {
            try challenges[0].pending.confirm(answer: answers[1], at: Channel.now)
        }
        // The code of another challenge under this challenge's id.
        let moved = String(decoding: answers[1], as: UTF8.self)
            .replacing(challenges[1].pending.id, with: challenges[0].pending.id)
        expectSenderError(.possessionNotProven) {
            try challenges[0].pending.confirm(answer: moved.utf8, at: Channel.now)
        }
    }

    @Test("with any bit of its code changed, an answer is wrong")
    func changedCode() throws {
        let device = try AnsweringDevice(Self.signed)
        let challenge = try device.challenge()
        let answer = try #require(PossessionAnswerText(json: device.answer(challenge.json)))
        for bit in 0..<256 {
            var code = answer.code
            code[bit / 8] ^= 1 << (bit % 8)
            let changed = PossessionAnswerText(registrationID: answer.registrationID, code: code)
            expectSenderError(.possessionNotProven) {
                try challenge.pending.confirm(answer: changed.json, at: Channel.now)
            }
        }
    }

    @Test("an answer at an extreme time is expired", arguments: [-Int64.max, .max])
    func extremeTime(seconds: Int64) throws {
        let device = try AnsweringDevice(Self.signed)
        let challenge = try device.challenge()
        let answer = try device.answer(challenge.json)
        expectSenderError(.challengeExpired) {
            try challenge.pending.confirm(answer: answer, at: Channel.now + seconds)
        }
    }

    @Test(
        "a device refuses a host of another form",
        arguments: [
            "", "Push.example.com", "push.example.com:443", "https://a", "a b", String(repeating: "a", count: 254),
        ])
    func hosts(host: String) throws {
        let device = try AnsweringDevice(Self.signed)
        let challenge = try device.challenge()
        expectKeyError(.invalidHost) { try device.answer(challenge.json, host: host) }
    }

    @Test("a challenge doesn't open as a push, not even one whose plaintext is a message", arguments: Channel.all)
    func challengeAsPush(channel: Channel) throws {
        let message = Array(
            #"{"aps":{"alert":"x"},"pushcrypt":{"id":"AAECAwQFBgcICQoLDA0ODw","iat":1800000000,"exp":1800000060}}"#.utf8
        )
        let (recipient, signer) = try (channel.recipient(), channel.isSigned ? TestKeys.sender(channel.backend) : nil)
        for (use, failure) in [(Envelope.Use.challenge, FailureClass.undecryptable), (.message, nil)] {
            let sealed = try Envelope.seal(
                message, to: recipient, signer: signer, topic: Topic("com.example.app"), as: use)
            let frame = OuterFrame(placeholder: Array(#""x""#.utf8), exposed: [], kid: recipient.kid, skid: signer?.kid)
            let opened = try AnsweringDevice(channel).opener.open(frame.payload(sealed: sealed), at: Channel.now)
            if let failure { #expect(throws: failure) { try opened.get() } } else { _ = try opened.get() }
        }
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
            #expect(throws: FailureClass.undecryptable) { try device.answer(changed.json) }
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
}
