import Foundation
import PushCryptCore
import PushCryptSender
import Testing

@Suite("requests to the services of carriers") struct CarrierRequestTests {
    private static let payload =
        #"{"aps":{"alert":"x","badge":3,"sound":"chime.caf","thread-id":"t","interruption-level":"time-sensitive"}}"#
    private static let exposed = ["badge", "sound", "interruption-level"]
    private static let placeholder = Placeholder.literal(title: "New", body: "Open")

    private static func seal(
        _ carrier: Carrier, _ change: (inout Sealer.Options) -> Void = { _ in },
        placeholder: Placeholder = placeholder
    ) throws -> SealedPush {
        var options = Sealer.Options(carrier: carrier, exposed: exposed)
        change(&options)
        return try Channel.simple.seal(payload, options, placeholder: placeholder)
    }

    private static func request(_ push: SealedPush) throws -> NSDictionary {
        try #require(JSONSerialization.jsonObject(with: Data(push.request)) as? NSDictionary)
    }

    private static func dictionary(_ bytes: [UInt8]) throws -> NSDictionary {
        try #require(JSONSerialization.jsonObject(with: Data(bytes)) as? NSDictionary)
    }

    @Test("APNs gets the headers and the exact text of the payload", arguments: [Carrier.apns, .rebuilt])
    func apns(_ carrier: Carrier) throws {
        let push = try Self.seal(carrier) { $0.collapseID = "order" }
        let request = try Self.request(push)
        #expect(request["body"] as? String == String(decoding: push.bytes, as: UTF8.self))
        #expect(
            request["headers"] as? [String: String] == [
                "apns-push-type": "alert", "apns-topic": "com.example.app", "apns-priority": "10",
                "apns-expiration": "\(push.expiresAt.seconds)", "apns-collapse-id": "order",
            ])
    }

    @Test("Firebase gets the payload, or the envelope as text in data, and adds the topic itself")
    func firebase() throws {
        for carrier in [Carrier.fcm, .text] {
            let push = try Self.seal(carrier)
            let message = try #require(try Self.request(push)["message"] as? NSDictionary)
            let apns = try #require(message["apns"] as? NSDictionary)
            #expect((apns["headers"] as? NSDictionary)?["apns-topic"] == nil)
            let payload = try Self.dictionary(push.bytes)
            guard carrier == .text else {
                #expect(message.count == 1 && apns["payload"] as? NSDictionary == payload)
                continue
            }
            #expect(apns["payload"] as? NSDictionary == ["aps": try #require(payload["aps"])] as NSDictionary)
            let text = try #require((message["data"] as? [String: String])?["pushcrypt"])
            #expect(text == payload["pushcrypt"] as? String)
            #expect(try Self.dictionary(Array(text.utf8)) == Self.dictionary(push.envelope))
        }
    }

    @Test("Expo and OneSignal get the placeholder, the exposed members and the lifetime in fields of their own")
    func ownFields() throws {
        let expo = try Self.seal(.expo)
        #expect(
            try Self.request(expo) == [
                "title": "New", "body": "Open", "mutableContent": true, "badge": 3, "sound": "chime.caf",
                "interruptionLevel": "time-sensitive", "priority": "high", "expiration": expo.expiresAt.seconds,
                "data": ["pushcrypt": Self.dictionary(expo.envelope)],
            ] as NSDictionary)
        let oneSignal = try Self.seal(.oneSignal) {
            $0.exposed.append("thread-id")
            ($0.collapseID, $0.expiresAfter) = ("order", .seconds(60))
        }
        #expect(
            try Self.request(oneSignal) == [
                "headings": ["en": "New"], "contents": ["en": "Open"], "mutable_content": true, "ios_badgeCount": 3,
                "ios_badgeType": "SetTo", "ios_sound": "chime.caf", "ios_interruption_level": "time_sensitive",
                "thread_id": "t", "priority": 10, "ttl": 60, "collapse_id": "order",
                "data": ["pushcrypt": Self.dictionary(oneSignal.envelope)],
            ] as NSDictionary)
        let silent = try Self.request(
            Channel.simple.seal(
                #"{"aps":{"alert":"x"}}"#, .init(carrier: .oneSignal), placeholder: Self.placeholder))
        #expect(silent["ios_sound"] as? String == "nil" && silent["ttl"] as? Int == 28 * 86_400)
    }

    @Test("the bytes that a carrier adds are left free, unless the caller names the limit", arguments: Carrier.allCases)
    func limit(_ carrier: Carrier) throws {
        let push = try Self.seal(carrier) { $0.padding = .limit }
        let limit = 4_096 - carrier.reservedByteCount
        #expect((limit - 3...limit).contains(push.byteCount))
        let whole = try Self.seal(carrier) { ($0.padding, $0.limitInBytes) = (.limit, 4_096) }
        #expect((4_093...4_096).contains(whole.byteCount))
    }

    @Test(
        "services that write aps refuse keys of texts and members without a field",
        arguments: [Carrier.expo, .oneSignal])
    func refusals(_ carrier: Carrier) throws {
        expectSenderError(.invalidPlaceholder) {
            try Self.seal(carrier, placeholder: .localized(title: "T", body: "B"))
        }
        let payload = #"{"aps":{"alert":"x","filter-criteria":"a","sound":{"name":"a"}}}"#
        for name in ["filter-criteria", "sound"] {
            let options = Sealer.Options(carrier: carrier, exposed: [name])
            expectSenderError(.notExposable) {
                try Channel.simple.seal(payload, options, placeholder: Self.placeholder)
            }
            _ = try Channel.simple.seal(payload, .init(exposed: [name]), placeholder: Self.placeholder)
        }
    }

    @Test("Expo has no collapse id, OneSignal needs a body, and a collapse id has at most 64 characters of ASCII")
    func more() throws {
        expectSenderError(.invalidOption) { try Self.seal(.expo) { $0.collapseID = "order" } }
        expectSenderError(.invalidPlaceholder) {
            try Self.seal(.oneSignal, placeholder: .literal(title: "New", body: nil))
        }
        for id in ["", "é", "a\n", String(repeating: "a", count: 65)] {
            expectSenderError(.invalidOption) { try Self.seal(.apns) { $0.collapseID = id } }
        }
    }
}
