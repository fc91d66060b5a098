import Foundation
import Testing
import UserNotifications

@testable import PushCryptApple

@Suite struct SystemContentTests {
    struct Member: Sendable, CustomStringConvertible {
        let description: String
        let set: @Sendable (inout NotificationContent) -> Void
        let isThere: @Sendable (UNNotificationContent) -> Bool

        init(
            _ description: String, _ set: @escaping @Sendable (inout NotificationContent) -> Void,
            _ isThere: @escaping @Sendable (UNNotificationContent) -> Bool
        ) {
            (self.description, self.set, self.isThere) = (description, set, isThere)
        }
    }

    private static let members = [
        Member("title", { $0.title.literal = "x" }, { $0.title == "x" }),
        Member("subtitle", { $0.subtitle.literal = "x" }, { $0.subtitle == "x" }),
        Member("body", { $0.body.literal = "x" }, { $0.body == "x" }),
        Member("badge", { $0.badge = 7 }, { $0.badge == 7 }),
        Member("badge 0", { $0.badge = 0 }, { $0.badge == 0 }),
        Member("sound", { $0.sound = .init(name: "default") }, { $0.sound == .default }),
        Member("critical", { $0.sound = .init(name: "default", isCritical: true) }, { $0.sound == .defaultCritical }),
        Member("category", { $0.category = "x" }, { $0.categoryIdentifier == "x" }),
        Member("thread", { $0.threadID = "x" }, { $0.threadIdentifier == "x" }),
        Member("passive", { $0.interruptionLevel = "passive" }, { $0.interruptionLevel == .passive }),
        Member("sensitive", { $0.interruptionLevel = "time-sensitive" }, { $0.interruptionLevel == .timeSensitive }),
        Member("critical level", { $0.interruptionLevel = "critical" }, { $0.interruptionLevel == .critical }),
        Member("relevance", { $0.relevanceScore = 0.25 }, { $0.relevanceScore == 0.25 }),
        Member("target", { $0.targetContentID = "x" }, { $0.targetContentIdentifier == "x" }),
        Member("filter", { $0.filterCriteria = "x" }, { $0.filterCriteria == "x" }),
        Member("launch image", { $0.launchImage = "x" }, { $0.launchImageName == "x" }),
        Member("userInfo", { $0.userInfo = Array(#"{"n":1}"#.utf8) }, { $0.userInfo as NSDictionary == ["n": 1] }),
    ]

    @Test("each member is converted to the system's object and back", arguments: members)
    func bothWays(_ member: Member) {
        var content = NotificationContent()
        #expect(!member.isThere(content.systemContent))
        member.set(&content)
        #expect(member.isThere(content.systemContent))
        #expect(NotificationContent(content.systemContent) == content)
    }

    @Test func `empty content is converted to an empty object and back`() {
        #expect(NotificationContent(NotificationContent().systemContent) == NotificationContent())
        #expect(NotificationContent(UNNotificationContent()) == NotificationContent())
    }

    @Test("a missing or unknown interruption level becomes active", arguments: [nil, "active", "later"])
    func activeLevel(_ name: String?) {
        var content = NotificationContent()
        content.interruptionLevel = name
        #expect(content.systemContent.interruptionLevel == .active)
        #expect(NotificationContent(content.systemContent).interruptionLevel == nil)
    }

    private static let sounds: [(NotificationContent.Sound, @Sendable () -> UNNotificationSound)] = [
        (.init(name: "a.caf"), { UNNotificationSound(named: .init("a.caf")) }),
        (.init(name: "a.caf", volume: 0.5), { UNNotificationSound(named: .init("a.caf")) }),
        (.init(name: "a.caf", isCritical: true), { .criticalSoundNamed(.init("a.caf")) }),
        (critical("a.caf", 0.5), { .criticalSoundNamed(.init("a.caf"), withAudioVolume: 0.5) }),
        (critical("default", 0.5), { .defaultCriticalSound(withAudioVolume: 0.5) }),
        (critical("default", 7), { .defaultCriticalSound(withAudioVolume: 1) }),
        (critical("default", -1), { .defaultCriticalSound(withAudioVolume: 0) }),
    ]

    private static func critical(_ name: String, _ volume: Double) -> NotificationContent.Sound {
        .init(name: name, isCritical: true, volume: volume)
    }

    @Test("each kind of sound becomes the system's sound", arguments: sounds)
    func sound(_ sound: NotificationContent.Sound, _ system: @Sendable () -> UNNotificationSound) {
        var content = NotificationContent()
        content.sound = sound
        #expect(content.systemContent.sound == system())
        // Read and converted once more, because the class doesn't expose the name.
        #expect(NotificationContent(content.systemContent).systemContent.sound == system())
    }

    @Test func `the system's object has the literal text of a key that wasn't looked up, and never the key`() {
        var content = NotificationContent()
        content.title = .init(locKey: "TITLE", locArguments: ["Zoë", "2"])
        content.body = .init(literal: "literal", locKey: "BODY")
        #expect(content.systemContent.title == "")
        #expect(content.systemContent.body == "literal")
    }

    struct SealedMember: Sendable, CustomStringConvertible {
        /// JSON members of `aps.alert` if `isOfAlert` is true, otherwise of `aps`.
        let description: String
        let isThere: @Sendable (UNNotificationContent) -> Bool
        let isOfAlert: Bool

        init(_ json: String, isOfAlert: Bool = false, isThere: @escaping @Sendable (UNNotificationContent) -> Bool) {
            (description, self.isOfAlert, self.isThere) = (json, isOfAlert, isThere)
        }
    }

    private static let sealedMembers = [
        SealedMember(#""title":"x""#, isOfAlert: true) { $0.title == "x" },
        SealedMember(#""subtitle":"x""#, isOfAlert: true) { $0.subtitle == "x" },
        SealedMember(#""launch-image":"x""#, isOfAlert: true) { $0.launchImageName == "x" },
        SealedMember(#""badge":7"#) { $0.badge == 7 },
        SealedMember(#""sound":"a.caf""#) { $0.sound == UNNotificationSound(named: .init("a.caf")) },
        SealedMember(#""category":"x""#) { $0.categoryIdentifier == "x" },
        SealedMember(#""thread-id":"x""#) { $0.threadIdentifier == "x" },
        SealedMember(#""interruption-level":"passive""#) { $0.interruptionLevel == .passive },
        SealedMember(#""relevance-score":0.25"#) { $0.relevanceScore == 0.25 },
        SealedMember(#""target-content-id":"x""#) { $0.targetContentIdentifier == "x" },
        SealedMember(#""filter-criteria":"x""#) { $0.filterCriteria == "x" },
    ]

    @Test("each member of a sealed payload is in the system's object", arguments: sealedMembers)
    func sealed(_ member: SealedMember) throws {
        let (alert, other) = member.isOfAlert ? (",\(member)", "") : ("", ",\(member)")
        let json = #"{"aps":{"alert":{"body":"Hi"\#(alert)}\#(other)},"n":[1]}"#
        let system = try StagePush.opened(json).content.systemContent
        #expect(member.isThere(system))
        #expect(system.body == "Hi")
        #expect(system.userInfo["n"] as? NSArray == [1])
        #expect(!member.isThere(try StagePush.opened(#"{"aps":{"alert":"Hi"}}"#).content.systemContent))
    }
}

@Suite struct UserInfoJSONTests {
    @Test(
        "JSON values keep their kind when converted from a dictionary",
        arguments: [
            #"{"v":1}"#, #"{"v":true}"#, #"{"v":false}"#, #"{"v":0}"#, #"{"v":"1"}"#, #"{"v":1.5}"#, #"{"v":-7}"#,
            #"{"v":9007199254740991}"#, #"{"v":[1,true,"x",{}]}"#, #"{"v":{"w":null}}"#, "{}", #"{"":""}"#,
            #"{"v":"/ é ´ 🧶 \u2028 \u0000 \" \\"}"#,
        ])
    func tokensKeepTheirKind(_ json: String) throws {
        let dictionary = try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any]
        let value = try JSONText(UserInfoJSON.json(try #require(dictionary))).root["v"]
        let expected = try JSONText(Array(json.utf8)).root["v"]
        #expect(value?.kind == expected?.kind)
        #expect(value?.protocolInteger == expected?.protocolInteger)
        #expect(value?.string == expected?.string)
        #expect(value?.boolean == expected?.boolean)
        #expect(value?.double == expected?.double)
    }

    @Test(
        "a sealed payload opens after conversion to the system's dictionary", arguments: Channel.Key.allCases,
        [
            #"{"aps":{"alert":"Hi"}}"#,
            #"{"aps":{"alert":{"title":"e\u0301 é 🧶🏽 \u200f","body":"\u0000\u2028\"\\/"}},"é":1,"e\u0301":2}"#,
            #"{ "aps" : { "alert" : "x" }, "n" : 1.50, "b" : [true, null, 1e2] }"#,
        ])
    func sealedPayloadOpens(_ key: Channel.Key, _ json: String) async throws {
        let channel = try Channel(key, signed: true)
        let userInfo = try Channel.request(channel.seal(json)).content.userInfo
        let opened = try channel.opener.open(UserInfoJSON.json(userInfo), at: Channel.now).get()
        #expect(String(decoding: opened.payload, as: UTF8.self) == json)
    }

    @Test func `a dictionary that isn't JSON becomes empty data`() {
        let key = AnyHashable(1)
        for userInfo in [["n": Double.nan], ["d": Date()], [key: "x"]] as [[AnyHashable: Any]] {
            #expect(UserInfoJSON.json(userInfo) == [])
        }
    }

    @Test(
        "a value that a property list can't have costs only itself, and an empty string keeps its place in an array",
        arguments: [
            (
                #"{"a":null,"b":[1,null,{"c":null,"d":true}],"e":"x","f":1.5}"#,
                #"{"b":[1,"",{"d":true}],"e":"x","f":1.5}"#
            ),
            (#"{"n":1e400,"m":1}"#, #"{"m":1}"#), (#"{"n":-1e400,"m":{"k":1e999,"l":"x"}}"#, #"{"m":{"l":"x"}}"#),
            (#"{"ids":[7,1e400,9,[null,1e400]]}"#, #"{"ids":[7,"",9,["",""]]}"#), (#"{"n":1e999}"#, "{}"),
        ])
    func dictionaryIsAPropertyList(_ json: String, _ expected: String) throws {
        let dictionary = UserInfoJSON.dictionary(Array(json.utf8))
        #expect(PropertyListSerialization.propertyList(dictionary, isValidFor: .binary))
        let object = try JSONSerialization.jsonObject(with: Data(expected.utf8))
        #expect(dictionary as NSDictionary == (object as? NSDictionary))
    }

    @Test func `integers of up to 64 bits stay exact, and larger ones become the nearest Double`() {
        let json = #"{"a":-9223372036854775808,"b":18446744073709551615,"c":18446744073709551616}"#
        let dictionary = UserInfoJSON.dictionary(Array(json.utf8))
        #expect(dictionary["a"] as? Int == Int.min && dictionary["b"] as? UInt64 == UInt64.max)
        #expect(dictionary["c"] as? Double == 18_446_744_073_709_551_616)
    }

    @Test("JSON that isn't a valid object becomes an empty dictionary", arguments: ["", "[]", "1", "{"])
    func notAnObject(_ json: String) { #expect(UserInfoJSON.dictionary(Array(json.utf8)).isEmpty) }
}
