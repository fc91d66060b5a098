import Foundation
import PushCryptExtension
import Testing
import UserNotifications

@testable import PushCryptApple

@Suite struct SystemContentTests {
    /// A member of the content, and the check that the system's object has it.
    struct Member: Sendable, CustomStringConvertible {
        let description: String
        let set: @Sendable (inout NotificationContent) -> Void
        let isThere: @Sendable (UNNotificationContent) -> Bool
    }

    private static let members = [
        Member(description: "title") {
            $0.title.literal = "x"
        } isThere: {
            $0.title == "x"
        },
        Member(description: "subtitle") {
            $0.subtitle.literal = "x"
        } isThere: {
            $0.subtitle == "x"
        },
        Member(description: "body") {
            $0.body.literal = "x"
        } isThere: {
            $0.body == "x"
        },
        Member(description: "badge") {
            $0.badge = 7
        } isThere: {
            $0.badge == 7
        },
        Member(description: "badge 0") {
            $0.badge = 0
        } isThere: {
            $0.badge == 0
        },
        Member(description: "sound") {
            $0.sound = .init(name: "default")
        } isThere: {
            $0.sound == .default
        },
        Member(description: "critical") {
            $0.sound = .init(name: "default", isCritical: true)
        } isThere: {
            $0.sound == .defaultCritical
        },
        Member(description: "category") {
            $0.category = "x"
        } isThere: {
            $0.categoryIdentifier == "x"
        },
        Member(description: "thread") {
            $0.threadID = "x"
        } isThere: {
            $0.threadIdentifier == "x"
        },
        Member(description: "passive") {
            $0.interruptionLevel = "passive"
        } isThere: {
            $0.interruptionLevel == .passive
        },
        Member(description: "time-sensitive") {
            $0.interruptionLevel = "time-sensitive"
        } isThere: {
            $0.interruptionLevel == .timeSensitive
        },
        Member(description: "critical level") {
            $0.interruptionLevel = "critical"
        } isThere: {
            $0.interruptionLevel == .critical
        },
        Member(description: "relevance") {
            $0.relevanceScore = 0.25
        } isThere: {
            $0.relevanceScore == 0.25
        },
        Member(description: "target") {
            $0.targetContentID = "x"
        } isThere: {
            $0.targetContentIdentifier == "x"
        },
        Member(description: "filter") {
            $0.filterCriteria = "x"
        } isThere: {
            $0.filterCriteria == "x"
        },
        Member(description: "launch image") {
            $0.launchImage = "x"
        } isThere: {
            $0.launchImageName == "x"
        },
        Member(description: "userInfo") {
            $0.userInfo = Array(#"{"n":1}"#.utf8)
        } isThere: {
            $0.userInfo as NSDictionary == ["n": 1]
        },
    ]

    @Test("each member is converted to the system's object and back", arguments: members)
    func bothWays(_ member: Member) {
        var content = NotificationContent()
        #expect(!member.isThere(content.systemContent))
        member.set(&content)
        #expect(member.isThere(content.systemContent))
        #expect(NotificationContent(content.systemContent) == content)
    }

    @Test("empty content is converted to an empty object and back")
    func empty() {
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

    struct SoundCase: Sendable {
        let sound: NotificationContent.Sound
        let system: @Sendable () -> UNNotificationSound
    }

    private static let sounds = [
        SoundCase(sound: .init(name: "a.caf")) { UNNotificationSound(named: .init("a.caf")) },
        SoundCase(sound: .init(name: "a.caf", volume: 0.5)) { UNNotificationSound(named: .init("a.caf")) },
        SoundCase(sound: .init(name: "a.caf", isCritical: true)) { .criticalSoundNamed(.init("a.caf")) },
        SoundCase(sound: .init(name: "a.caf", isCritical: true, volume: 0.5)) {
            .criticalSoundNamed(.init("a.caf"), withAudioVolume: 0.5)
        },
        SoundCase(sound: .init(name: "default", isCritical: true, volume: 0.5)) {
            .defaultCriticalSound(withAudioVolume: 0.5)
        },
        SoundCase(sound: .init(name: "default", isCritical: true, volume: 7)) {
            .defaultCriticalSound(withAudioVolume: 1)
        },
        SoundCase(sound: .init(name: "default", isCritical: true, volume: -1)) {
            .defaultCriticalSound(withAudioVolume: 0)
        },
    ]

    @Test("each kind of sound becomes the system's sound", arguments: sounds)
    func sound(_ testCase: SoundCase) {
        var content = NotificationContent()
        content.sound = testCase.sound
        #expect(content.systemContent.sound == testCase.system())
        // Read and converted once more, because the class doesn't expose the name.
        #expect(NotificationContent(content.systemContent).systemContent.sound == testCase.system())
    }

    @Test("the system's object has the literal text of a key that wasn't looked up, and never the key")
    func locKeys() {
        var content = NotificationContent()
        content.title = .init(locKey: "TITLE", locArguments: ["Zoë", "2"])
        content.body = .init(literal: "literal", locKey: "BODY")
        #expect(content.systemContent.title == "")
        #expect(content.systemContent.body == "literal")
    }

    /// A member of a sealed payload, and the check that the system's object has it.
    struct SealedMember: Sendable, CustomStringConvertible {
        /// JSON members of `aps.alert` if `isOfAlert` is true, otherwise of `aps`.
        let description: String
        let isThere: @Sendable (UNNotificationContent) -> Bool
        var isOfAlert = false

        init(_ json: String, isOfAlert: Bool = false, isThere: @escaping @Sendable (UNNotificationContent) -> Bool) {
            description = json
            self.isOfAlert = isOfAlert
            self.isThere = isThere
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
