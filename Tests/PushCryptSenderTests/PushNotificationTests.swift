import Foundation
import PushCryptSender
import Testing

/// `RefusalVectorTests` and `AlertVectorTests` have the notifications without a visible text.
@Suite struct PushNotificationTests {
    private func json(_ notification: PushNotification) throws -> String {
        let channel = Channel.simple
        let push = try channel.sealer().seal(notification, to: channel.recipient(), placeholder: Channel.placeholder)
        return try Reading(push, channel).payload
    }

    private static func level(_ name: String) -> String { #""alert":{"title":"T"},"interruption-level":"\#(name)""# }

    @Test(
        "a notification with one member encodes to its alert or its member of aps",
        arguments: [
            (PushNotification(title: "T"), #""alert":{"title":"T"}"#),
            (PushNotification(subtitle: "S"), #""alert":{"subtitle":"S"}"#),
            (PushNotification(body: "B"), #""alert":{"body":"B"}"#),
            (PushNotification(bodyLocKey: "K"), #""alert":{"loc-key":"K"}"#),
            (PushNotification(titleLocKey: "K"), #""alert":{"title-loc-key":"K"}"#),
            (PushNotification(title: "T", sound: .default), #""alert":{"title":"T"},"sound":"default""#),
            (PushNotification(title: "T", sound: .named("chime.caf")), #""alert":{"title":"T"},"sound":"chime.caf""#),
            (
                PushNotification(title: "T", sound: .critical()),
                #""alert":{"title":"T"},"sound":{"critical":1,"name":"default","volume":1}"#
            ),
            (
                PushNotification(title: "T", sound: .critical("siren.caf", volume: 0.25)),
                #""alert":{"title":"T"},"sound":{"critical":1,"name":"siren.caf","volume":0.25}"#
            ),
            (PushNotification(title: "T", interruptionLevel: .passive), level("passive")),
            (PushNotification(title: "T", interruptionLevel: .active), level("active")),
            (PushNotification(title: "T", interruptionLevel: .timeSensitive), level("time-sensitive")),
            (PushNotification(title: "T", interruptionLevel: .critical), level("critical")),
            (PushNotification(title: "T", interruptionLevel: .init(rawValue: "new")), level("new")),
        ] as [(PushNotification, String)])
    func oneMember(notification: PushNotification, aps: String) throws {
        #expect(try json(notification) == #"{"aps":{\#(aps)}}"#)
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

    @Test("a notification without text is refused at sealing") func noText() {
        expectSenderError(.invalidPayload) { try json(PushNotification(badge: 3, sound: .default)) }
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
