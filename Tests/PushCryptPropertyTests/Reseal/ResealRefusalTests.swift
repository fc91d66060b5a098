import PushCryptCore
import PushCryptPrimitives
import PushCryptSender
import PushCryptTestSupport
import Testing

/// Payloads that a resealer refuses, and their errors.
@Suite struct ResealRefusalTests {
    private static let kid = TestKeys.kid(Rotation.old)

    @Test(
        "a payload that isn't a sealed push is refused with the class of its fault",
        arguments: [
            ("", .malformed), ("{", .malformed), ("[]", .malformed), ("\u{feff}{}", .malformed), ("{}", .notSealed),
            (#"{"aps":{"alert":"x"}}"#, .notSealed), (#"{"pushcrypt":1}"#, .malformed),
            (#"{"pushcrypt":{}}"#, .malformed),
            (#"{"pushcrypt":{"v":2}}"#, .unsupportedVersion), (#"{"pushcrypt":{"v":1,"v":1}}"#, .malformed),
            (#"{"pushcrypt":{"v":1,"kid":"\#(kid)","sealed":"AAAA"}}"#, .malformed),
            (#"{"aps":{"alert":"x"},"pushcrypt":{"v":1,"kid":"\#(kid)","sealed":"AAAA"}}"#, .malformed),
            (outer(kid: kid, sealed: "AAAA"), .undecryptable), (outer(kid: kid, sealed: ""), .malformed),
            (outer(kid: "AAAAAAAAAAA", sealed: "AAAA"), .unknownKey), (outer(kid: "short", sealed: "AAAA"), .malformed),
        ] as [(String, SenderError.Code)])
    func form(payload: String, code: SenderError.Code) throws {
        expectSenderError(code) { try Rotation().resealer().reseal(Array(payload.utf8)) }
    }

    @Test("a change of any byte of sealed, a truncation and an extension are refused", arguments: Rotation.all)
    func everyByte(rotation: Rotation) throws {
        let (resealer, device) = (try rotation.resealer(), try rotation.deviceID())
        let queued = OuterText(try rotation.seal(options: .init(padding: .none)))
        let text = try #require(queued.member("sealed"))
        let sealed = try #require(Base64URL.decode(Array(text.utf8)[...]))
        var random = SplitMix64(seed: 41)
        for index in sealed.indices {
            var changed = sealed
            changed[index] ^= UInt8.random(in: 1...255, using: &random)
            let payload = queued.with("sealed", Base64URL.encode(changed)).bytes
            expectSenderError(.undecryptable, "byte \(index)") { try resealer.reseal(payload, device: device) }
        }
        for changed in [Array(sealed.dropLast()), Array(sealed.dropFirst()), sealed + [0], [0] + sealed, []] {
            let payload = queued.with("sealed", Base64URL.encode(changed)).bytes
            let code: SenderError.Code = changed.isEmpty ? .malformed : .undecryptable
            expectSenderError(code) { try resealer.reseal(payload, device: device) }
        }
    }

    @Test("a push for another topic is refused", arguments: Rotation.all)
    func topic(rotation: Rotation) throws {
        let resealer = try rotation.resealer(topic: "com.example.other")
        expectSenderError(.undecryptable) { try resealer.reseal(try rotation.seal(), device: rotation.deviceID()) }
    }

    @Test("a push with a missing, unexpected or wrong signature is refused", arguments: [nil, "phone-1_A"])
    func signatures(device: String?) throws {
        let rotation = Rotation(device: device, isSigned: true)
        let (queued, id) = (OuterText(try rotation.seal()), try rotation.deviceID())
        let unsigned = try Rotation(device: device, isSigned: false).seal()
        let withoutSender = try Rotation(device: device, isSigned: false).resealer()
        let error = expectSenderError(.signerMissing) { try withoutSender.reseal(queued.bytes, device: id) }
        #expect(error?.reason.contains(TestKeys.kid(Rotation.oldSender)) == true)
        let resealer = try rotation.resealer()
        expectSenderError(.undecryptable) { try resealer.reseal(queued.withoutSKID().bytes, device: id) }
        let pretended = OuterText(unsigned).withSKID(TestKeys.kid(Rotation.oldSender))
        expectSenderError(.undecryptable) { try resealer.reseal(pretended.bytes, device: id) }
        let stranger = try Resealer(
            topic: Channel.topic, keyset: rotation.keyset(),
            senders: Keyset([rotation.entry(Rotation.newSender, Rotation.primary)]), clock: { Rotation.now })
        expectSenderError(.unknownKey) { try stranger.reseal(queued.bytes, device: id) }
    }

    @Test("a push is resealed until the last second before its expiry and then refused", arguments: Rotation.all)
    func expired(rotation: Rotation) throws {
        let queued = try rotation.seal(options: .init(expiresAfter: .seconds(100)))
        let expiresAt = Rotation.now - 60 + 100
        let device = try rotation.deviceID()
        #expect(throws: Never.self) { try rotation.resealer(at: expiresAt - 1).reseal(queued, device: device) }
        for key in [Rotation.old, Rotation.new] {
            let queued = try rotation.seal(to: key, options: .init(expiresAfter: .seconds(100)))
            let error = expectSenderError(.expired) {
                try rotation.resealer(at: expiresAt).reseal(queued, device: device)
            }
            #expect(error?.reason == "the message has expired")
        }
    }

    @Test(
        "correctly sealed bytes that aren't a message are refused",
        arguments: ["", " ", "{}", #"{"aps":{"alert":"x"}}"#, #"{"aps":{"alert":"x"},"pushcrypt":{"id":""}}"#])
    func noMessage(message: String) throws {
        let recipient = try TestKeys.keyset(Rotation.old).recipient(at: Rotation.now)
        let sealed = try Envelope.seal(
            Array(message.utf8), to: recipient, signer: nil, topic: Topic(Channel.topic))
        let payload = Self.outer(kid: Self.kid, sealed: Base64URL.encode(sealed))
        expectSenderError(.malformed) { try Rotation().resealer().reseal(Array(payload.utf8)) }
    }

    @Test(
        "a failure of the backend throws backendFailure and not an error of the payload",
        arguments: StubBackend.Function.allCases, Rotation.all)
    func backend(failure: StubBackend.Function, rotation: Rotation) throws {
        var failing = rotation
        failing.backend = StubBackend(rotation.backend, failing: [failure])
        let resealer = try failing.resealer()
        expectSenderError(.backendFailure) {
            try resealer.reseal(try rotation.seal(), device: rotation.deviceID())
        }
    }

    private static func outer(kid: String, sealed: String) -> String {
        #"{"aps":{"alert":"x","mutable-content":1},"pushcrypt":{"v":1,"kid":"\#(kid)","sealed":"\#(sealed)"}}"#
    }
}
