import Foundation
import PushCryptCore
import PushCryptExtension
import PushCryptPrimitives
import PushCryptSender
import PushCryptTestSupport
import Testing

/// A device that answers challenges: its key, its pins and the record that it uploaded.
struct AnsweringDevice {
    static let host = "push.example.com"

    let channel: Channel
    let opener: Opener
    var record: [UInt8]

    /// - Parameter trusting: the names of the pinned sender keys; nil pins the channel's.
    init(_ channel: Channel, topic: String = "com.example.app", trusting: [String]? = nil) throws {
        self.channel = channel
        let keyset = try Keyset(json: TestKeys.privateJWK(channel.key))
        let names = trusting ?? (channel.isSigned ? ["sender"] : [])
        let trust: SenderTrust =
            names.isEmpty ? .unsigned : .pinned(try TrustedSenders(json: TestKeys.publicJWK(names[0])))
        opener = try Opener(topic: topic, keyring: KeysetKeyring(keyset), senders: trust)
        record = TestKeys.publicJWK(channel.key)
    }

    func challenge() throws -> PossessionChallenge {
        try channel.sealer().challenge(Registration(json: record, requiring: []), host: Self.host)
    }

    func answer(_ challenge: some Collection<UInt8>, host: String = host) throws -> [UInt8] {
        try opener.answer(
            challenge: Array(challenge), record: SecretBytes(copying: record.bytes), host: host, at: Channel.now)
    }

    func expectFailure(_ failure: FailureClass, _ challenge: [UInt8], location: SourceLocation = #_sourceLocation) {
        #expect(throws: failure, sourceLocation: location) { try answer(challenge) }
    }
}

@Suite("proof of possession") struct PossessionTests {
    private static let channels = Channel.all
    private static let signed = Channel(key: "p256 psk", isSigned: true)

    @Test("a device proves that it has the key of its record, in every suite and profile", arguments: channels)
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

    @Test(
        "an answer is accepted up to 600 seconds from the challenge, and not one second more",
        arguments: [-1, 1] as [Int64])
    func time(sign: Int64) throws {
        let device = try AnsweringDevice(Self.signed)
        let challenge = try device.challenge()
        let answer = try device.answer(challenge.json)
        _ = try challenge.pending.confirm(answer: answer, at: Channel.now + sign * 600)
        for seconds in [601, 86_400, .max] as [Int64] {
            expectSenderError(.challengeExpired) {
                try challenge.pending.confirm(answer: answer, at: Channel.now + sign * seconds)
            }
        }
    }

    @Test("an answer for another host or another record, or with another key, is wrong")
    func otherContext() throws {
        var device = try AnsweringDevice(Self.signed)
        let challenge = try device.challenge()
        func expectWrong(_ answer: [UInt8], location: SourceLocation = #_sourceLocation) {
            expectSenderError(.possessionNotProven, location: location) {
                try challenge.pending.confirm(answer: answer, at: Channel.now)
            }
        }
        for host in ["evil.example", "push.example.co", "push.example.comm", "ush.example.com"] {
            expectWrong(try device.answer(challenge.json, host: host))
        }
        device.record.append(0x20)
        expectWrong(try device.answer(challenge.json))
        device.record = TestKeys.publicJWK("p256")
        expectWrong(try device.answer(challenge.json))
        device.record = []
        expectWrong(try device.answer(challenge.json))
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

    @Test(
        "an answer of another form is malformed",
        arguments: [
            "", "x", "[]", "{}", #"{"registration":"R","answer":"C"} x"#, #"{"registration":"R"}"#, #"{"answer":"C"}"#,
            #"{"registration":7,"answer":"C"}"#, #"{"registration":"","answer":"C"}"#,
            #"{"registration":"R","answer":7}"#,
            #"{"registration":"R","answer":""}"#, #"{"registration":"R","answer":"AAAA"}"#,
            #"{"registration":"R","answer":"C="}"#,
            #"{"registration":"R","registration":"R","answer":"C"}"#,
            #"{"registration":"R","answer":"C","answer":"C"}"#,
            #"{"registration":"R R","answer":"C"}"#, #"{"registration":"R","answer":"CAAA"}"#,
        ])
    func malformedAnswer(template: String) throws {
        let device = try AnsweringDevice(Self.signed)
        let challenge = try device.challenge()
        let answer = try #require(PossessionAnswerText(json: device.answer(challenge.json)))
        let text = template.replacing("\"R\"", with: "\"\(answer.registrationID)\"")
            .replacing("R R", with: "\(answer.registrationID) ")
            .replacing("\"C", with: "\"\(Base64URL.encode(answer.code))")
        expectSenderError(.malformed) { try challenge.pending.confirm(answer: text.utf8, at: Channel.now) }
        expectSenderError(.malformed) { try PendingRegistration.id(ofAnswer: text.utf8) }
    }

    @Test("an answer with unknown members and white space is accepted, and one of more than 4,096 bytes isn't")
    func answerForm() throws {
        let device = try AnsweringDevice(Self.signed)
        let challenge = try device.challenge()
        var answer = try device.answer(challenge.json)
        answer.insert(contentsOf: Array(#" "x" : {"answer":1}, "#.utf8), at: 1)
        answer += [UInt8](repeating: 0x20, count: 4_096 - answer.count)
        _ = try challenge.pending.confirm(answer: answer, at: Channel.now)
        expectSenderError(.malformed) { try challenge.pending.confirm(answer: answer + [0x20], at: Channel.now) }
    }

    @Test(
        "a host of another form is refused on both sides",
        arguments: [
            "", "Push.example.com", "push.example.com:443", "https://a", "a b", String(repeating: "a", count: 254),
        ])
    func hosts(host: String) throws {
        let device = try AnsweringDevice(Self.signed)
        let registration = try RegistrationTests.registration("p256 psk")
        expectSenderError(.invalidOption) { try Self.signed.sealer().challenge(registration, host: host) }
        let challenge = try device.challenge()
        let error = #expect(throws: KeyError.self) { try device.answer(challenge.json, host: host) }
        #expect(error?.code == .invalidHost)
    }

    @Test("an answer contains neither the nonce nor a secret: it has exactly the two members of the protocol")
    func answerMembers() throws {
        let device = try AnsweringDevice(Self.signed)
        let answer = try device.answer(device.challenge().json)
        let object = try #require(JSONSerialization.jsonObject(with: Data(answer)) as? [String: String])
        #expect(Set(object.keys) == ["registration", "answer"] && object["answer"]?.utf8.count == 43)
    }
}
