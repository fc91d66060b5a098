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
        #expect(NotificationContent(content.systemContent).sound?.name == "default")
    }

    @Test("loc-keys are passed to the system with their arguments")
    func locKeys() {
        var content = NotificationContent()
        content.title = .init(locKey: "TITLE", locArguments: ["Zoë", "2"])
        content.subtitle = .init(literal: "literal", locKey: "")
        content.body = .init(literal: "literal", locKey: "BODY")
        let system = content.systemContent
        #expect(system.title == NSString.localizedUserNotificationString(forKey: "TITLE", arguments: ["Zoë", "2"]))
        #expect(system.subtitle == "literal")
        #expect(system.body == NSString.localizedUserNotificationString(forKey: "BODY", arguments: []))
    }
}
