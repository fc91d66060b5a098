import Foundation
import PushCryptCore
import PushCryptSender
import PushCryptTestSupport
import Testing

@Suite(.enabled(if: Python.isAvailable, Python.missing)) struct CarrierTests {
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
