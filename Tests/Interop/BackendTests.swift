import Foundation
import PushCryptCore
import PushCryptExtension
import PushCryptPrimitives
import PushCryptSender
import PushCryptTestSupport
import Testing

@Suite(.enabled(if: Python.isAvailable, Python.missing)) struct BackendTests {
    @Test("a pending registration that Swift stored is read and written by Python, and confirmed by Swift")
    func pending() throws {
        let record = JWK.named("p256 psk").withoutPrivateKey.json
        let sealer = try Sealer(topic: Push.topic, clock: { UnixTime(Push.now) })
        let made = try sealer.challenge(Registration(json: record, requiring: .psk), host: "push.example.com")
        let stored = String(decoding: try JSONEncoder().encode(made.pending), as: UTF8.self)
        let answer = try Reference.ask(Request.Pending(text: stored))
        let text = try #require(answer.text, "\(answer.error ?? "")")
        let read = try JSONDecoder().decode(PendingRegistration.self, from: Data(text.utf8))
        let keyring = try KeysetKeyring(JWK.named("p256 psk").keyset(DefaultBackend.shared))
        let reply = try Opener(topic: Push.topic, keyring: keyring, senders: .unsigned).answer(
            challenge: Array(made.json), record: SecretBytes(copying: record.bytes), host: "push.example.com",
            at: UnixTime(Push.now))
        #expect(try read.confirm(answer: reply, at: UnixTime(Push.now)).kid == made.pending.registration.kid)
    }

    private static let inner =
        #"{"aps":{"alert":"x","badge":3,"sound":"a.caf","interruption-level":"time-sensitive","content-available":1}}"#

    @Test(
        "Python opens what Swift seals for a carrier, and makes the same request to its service",
        arguments: Carrier.allCases, [false, true])
    func swiftSeals(_ carrier: Carrier, isQuiet: Bool) throws {
        let key = JWK.named("shared")
        var options = Sealer.Options(carrier: carrier, exposed: ["badge", "interruption-level"], isQuiet: isQuiet)
        options.collapseID = carrier == .expo ? nil : "order"
        let sealer = try Sealer(topic: Push.topic, options: options, clock: { UnixTime(Push.now) })
        let push = try sealer.seal(
            Self.inner, to: key.recipient(DefaultBackend.shared), placeholder: .literal(title: "Zo\u{eb} \"", body: "/")
        )
        let answer = try Reference.ask(
            Request.Carried(
                carrier: carrier.rawValue, keys: [key], topic: Push.topic, payloadB64: push.json,
                headers: Dictionary(uniqueKeysWithValues: push.headers), at: Push.now))
        #expect(answer.inner == Self.inner, "\(answer.error ?? "")")
        let python = try JSONSerialization.jsonObject(with: Data(try #require(answer.text).utf8)) as? NSDictionary
        #expect(try python == JSONSerialization.jsonObject(with: Data(push.request)) as? NSDictionary)
    }
}
