import Foundation
import PushCryptCore
import PushCryptPrimitives
import PushCryptSender
import Testing

/// Payloads that are sealed although devices ignore a part of them, and payloads of Live Activities, which are refused.
@Suite struct WarningTests {
    private static let strange = #"{"aps":{"alert":"x","badge":"3","sound":{"critical":"1"}},"ids":[1,null,1e400]}"#
    private static let codes: [PayloadWarning.Code] = [.wrongType, .wrongType, .nullElement, .numberTooLarge]

    @Test("a push with values of wrong types is sealed byte for byte, and the push and the observer have the warnings")
    func sealed() throws {
        let seen = Locked<[SealObservation]>([])
        let sealer = try Sealer(
            topic: "com.example.app", observer: { observation in seen.withLock { $0.append(observation) } },
            clock: { Channel.now })
        let push = try sealer.seal(Self.strange, to: Channel.simple.recipient(), placeholder: Channel.placeholder)
        #expect(push.warnings.map(\.code) == Self.codes, "\(push.warnings)")
        #expect(try Reading(push, .simple).payload == Self.strange)
        #expect(seen.withLock { $0.map(\.warnings) } == [push.warnings])
        #expect(try sealer.encode(Self.strange).warnings == push.warnings)
    }

    @Test("an ordinary payload and a PushNotification with all members are sealed without a warning")
    func ordinary() throws {
        #expect(try Channel.simple.seal(#"{"aps":{"alert":"x","badge":3},"n":[1]}"#).warnings.isEmpty)
        let notification = PushNotification(
            title: "t", subtitle: "s", body: "b", launchImage: "i", badge: 3, sound: .critical("a", volume: 0.5),
            category: "c", threadID: "t", interruptionLevel: .timeSensitive, relevanceScore: 0.5, targetContentID: "w",
            filterCriteria: "f", isContentAvailable: true)
        let push = try Channel.simple.sealer().seal(notification, to: Channel.simple.recipient())
        #expect(push.warnings.isEmpty, "\(push.warnings)")
    }

    @Test("a payload that is offloaded or shortened keeps its warnings")
    func oversize() throws {
        let long = #"{"aps":{"alert":"\#(String(repeating: "a", count: 5_000))","badge":"3"}}"#
        let shortened = try Channel.simple.seal(long, Sealer.Options(oversize: .shortenBody(toAtLeast: 1)))
        let plan = OversizePlan.shortenBodyOrOffload(toAtLeast: 4_999) { _ in "https://example.com/b" }
        let offloaded = try Channel.simple.seal(long, Sealer.Options(oversize: plan))
        #expect(shortened.isBodyShortened && shortened.warnings.map(\.code) == [.wrongType])
        #expect(offloaded.isOffloaded && offloaded.warnings.map(\.code) == [.wrongType])
    }

    @Test(
        "the payload of a Live Activity is refused with the reason, by sealing, encoding and offloading",
        arguments: [
            #""event":"update","content-state":{"score":1},"timestamp":1800000000"#,
            #""event":"start","attributes-type":"Game","attributes":{},"content-state":{}"#, #""event":"end""#,
            #""content-state":{}"#, #""attributes":{"a":1}"#,
        ])
    func liveActivity(members: String) throws {
        // Most updates of an activity have no alert.
        for alert in [#""alert":"x","#, ""] {
            let json = #"{"aps":{\#(alert)\#(members)}}"#
            let error = expectSenderError(.invalidPayload) { try Channel.simple.seal(json) }
            #expect(error?.reason.contains("Live Activity, for which iOS runs no extension") == true, "\(error as Any)")
            expectSenderError(.invalidPayload) { try Channel.simple.sealer().encode(json) }
            expectSenderError(.invalidPayload) { try Sealer.offload(json) }
        }
    }

    @Test("an alert with an event of its own, or with null members of a Live Activity, is sealed")
    func ownEvent() throws {
        for members in [#""event":"order-shipped""#, #""event":null,"content-state":null,"attributes":null"#] {
            #expect(try Channel.simple.seal(#"{"aps":{"alert":"x",\#(members)}}"#).warnings.isEmpty)
        }
    }

    @Test("a payload that fits only without its escapes is tooLarge, and the error has the length without them")
    func escapes() throws {
        func json(_ count: Int) -> String {
            #"{"aps":{"alert":"\#(String(repeating: #"\u00e9"#, count: count))"}}"#
        }
        let error = try #require(expectSenderError(.tooLarge) { try Channel.simple.seal(json(800)) })
        let length = try #require(error.bytesWithoutEscapes)
        let utf8 = json(800).replacing(#"\u00e9"#, with: "é")
        let push = try Channel.simple.seal(utf8, Sealer.Options(padding: .none))
        #expect(push.byteCount == length && error.reason.contains("it takes \(length) bytes"))
        let longer = try #require(expectSenderError(.tooLarge) { try Channel.simple.seal(json(3_000)) })
        #expect(longer.bytesWithoutEscapes == nil && !longer.reason.contains("escapes"))
    }
}
