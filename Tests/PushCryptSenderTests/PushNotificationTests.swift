import Foundation
import PushCryptSender
import Testing

@Suite struct PushNotificationTests {
    private func json(_ notification: PushNotification) throws -> String {
        let channel = Channel.simple
        let push = try channel.sealer().seal(
            notification, to: channel.recipient(), placeholder: Channel.placeholder)
        return try Reading(push, channel).payload
    }

    @Test("a notification with a text only encodes to its alert") func nothingButText() throws {
        #expect(try json(PushNotification(title: "T")) == #"{"aps":{"alert":{"title":"T"}}}"#)
        #expect(try json(PushNotification(subtitle: "S")) == #"{"aps":{"alert":{"subtitle":"S"}}}"#)
        #expect(try json(PushNotification(body: "B")) == #"{"aps":{"alert":{"body":"B"}}}"#)
    }

    @Test("a notification with every property encodes all of them") func everything() throws {
        let notification = PushNotification(
            title: "T", subtitle: "S", body: "B", titleLocKey: "TK", titleLocArguments: ["1", "2"],
            subtitleLocKey: "SK", subtitleLocArguments: ["4"], bodyLocKey: "BK", bodyLocArguments: ["3"],
            launchImage: "L", badge: 0, sound: .default, category: "C", threadID: "th",
            interruptionLevel: .timeSensitive, relevanceScore: 0.5, targetContentID: "tc", filterCriteria: "F",
            isContentAvailable: true,
            custom: ["order": 7, "list": ["a", "b"], "map": ["k": true]])
        let expected =
            #"{"aps":{"alert":{"body":"B","launch-image":"L","loc-args":["3"],"loc-key":"BK","subtitle":"S","#
            + #""subtitle-loc-args":["4"],"subtitle-loc-key":"SK","title":"T","title-loc-args":["1","2"],"title-loc-key":"TK"},"#
            + #""badge":0,"category":"C","content-available":1,"#
            + #""filter-criteria":"F","interruption-level":"time-sensitive","relevance-score":0.5,"sound":"default","#
            + #""target-content-id":"tc","thread-id":"th"},"list":["a","b"],"map":{"k":true},"order":7}"#
        #expect(try json(notification) == expected)
    }

    @Test(
        "each kind of sound encodes as APNs requires",
        arguments: [
            (PushNotification.Sound.default, #""default""#), (.named("chime.caf"), #""chime.caf""#),
            (.critical(), #"{"critical":1,"name":"default","volume":1}"#),
            (.critical("siren.caf", volume: 0.25), #"{"critical":1,"name":"siren.caf","volume":0.25}"#),
        ])
    func sound(sound: PushNotification.Sound, expected: String) throws {
        let payload = try json(PushNotification(title: "T", sound: sound))
        #expect(payload == #"{"aps":{"alert":{"title":"T"},"sound":\#(expected)}}"#)
    }

    @Test(
        "an interruption level encodes as its raw value",
        arguments: [
            (PushNotification.InterruptionLevel.passive, "passive"), (.active, "active"),
            (.timeSensitive, "time-sensitive"), (.critical, "critical"), (.init(rawValue: "new"), "new"),
        ])
    func interruptionLevel(level: PushNotification.InterruptionLevel, expected: String) throws {
        let payload = try json(PushNotification(title: "T", interruptionLevel: level))
        #expect(payload == #"{"aps":{"alert":{"title":"T"},"interruption-level":"\#(expected)"}}"#)
    }

    /// JSONEncoder encodes custom members, so it applies its strategies for URL, Data, Date and Decimal.
    @Test("custom members of any Encodable type are encoded") func customTypes() throws {
        let url = try #require(URL(string: "https://example.com/a?b=c"))
        let notification = PushNotification(
            title: "T",
            custom: [
                "a": url, "b": Data([1, 2, 3]), "c": Date(timeIntervalSinceReferenceDate: 5), "d": [url],
                "e": String?.none, "f": 1.5, "g": ["x": 1], "h": Decimal(10) / 4,
            ])
        let expected =
            #"{"a":"https://example.com/a?b=c","aps":{"alert":{"title":"T"}},"b":"AQID","c":"2001-01-01T00:00:05Z","#
            + #""d":["https://example.com/a?b=c"],"e":null,"f":1.5,"g":{"x":1},"h":2.5}"#
        #expect(try json(notification) == expected)
    }

    /// `aps` belongs to the notification, `pushcrypt` to the sealer.
    @Test(
        "a notification without text is refused at sealing",
        arguments: [
            PushNotification(), PushNotification(title: "", body: ""), PushNotification(title: " ", body: "\u{200B}\n"),
            PushNotification(badge: 3, sound: .default),
            PushNotification(isContentAvailable: true),
            PushNotification(titleLocArguments: ["a"], bodyLocArguments: ["b"]),
        ])
    func noText(notification: PushNotification) {
        expectSenderError(.invalidPayload) { try json(notification) }
    }

    @Test(
        "a text that begins with white space, an escape or other than ASCII is sealed if something in it is visible",
        arguments: [" a", "\n.", "\u{200B}é", "\u{7F}x", "\"", "\\", "👍", "\u{202E}\u{5D0}"])
    func visible(text: String) throws {
        _ = try json(PushNotification(body: text))
    }

    @Test("a notification with localization keys only is sealed") func locKeysAreText() throws {
        #expect(try json(PushNotification(bodyLocKey: "K")) == #"{"aps":{"alert":{"loc-key":"K"}}}"#)
        #expect(try json(PushNotification(titleLocKey: "K")) == #"{"aps":{"alert":{"title-loc-key":"K"}}}"#)
    }

    @Test("a number that JSON can't represent is refused", arguments: [Double.nan, .infinity, -.infinity])
    func numbersThatJSONDoesNotHave(score: Double) {
        #expect(throws: EncodingError.self) { try json(PushNotification(title: "T", relevanceScore: score)) }
    }

    @Test("a custom member that another part of the payload has is refused", arguments: ["aps", "pushcrypt"])
    func reservedMembers(name: String) throws {
        let error = expectSenderError(.invalidPayload) {
            try json(PushNotification(title: "T", custom: [name: ["alert": "x"]]))
        }
        #expect(error?.reason.contains(name) == true)
    }
}
