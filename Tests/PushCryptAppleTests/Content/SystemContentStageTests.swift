import Foundation
import PushCryptExtension
import Testing
import UserNotifications

@testable import PushCryptApple

@Suite struct SystemContentStageTests {
    private static let payload = #"""
        {"aps":{"alert":{"title-loc-key":"T","title-loc-args":["a"],"subtitle":"S","body":"B","launch-image":"l"},"badge":1,
        "sound":{"critical":1,"name":"a.caf","volume":0.5},"category":"C","thread-id":"t","target-content-id":"x",
        "interruption-level":"active","relevance-score":0.5,"filter-criteria":"f"},"n":1.50,"null":null}
        """#

    private let push: OpenedPush

    init() throws {
        let channel = try Channel()
        let opener = try Opener(topic: Channel.topic, keyring: channel.keyring, senders: .unsigned)
        push = try opener.open(channel.seal(Self.payload), at: Channel.now).get()
    }

    private func changed(_ change: @escaping SystemContentStage.Change) async throws -> NotificationContent {
        try await SystemContentStage(change).process(push.content, of: push)
    }

    @Test("a change that does nothing leaves the content exactly as it was")
    func nothingChanges() async throws {
        #expect(push.content.filterCriteria == "f")
        #expect(try await changed { _ in } == push.content)
    }

    struct Change: Sendable, CustomStringConvertible {
        let description: String
        let system: SystemContentStage.Change
        let content: @Sendable (inout NotificationContent) -> Void
    }

    private static let changes = [
        Change(description: "title") {
            $0.title = "x"
        } content: {
            $0.title = .init(literal: "x")
        },
        Change(description: "subtitle") {
            $0.subtitle += "x"
        } content: {
            $0.subtitle.literal = "Sx"
        },
        Change(description: "body") {
            $0.body = ""
        } content: {
            $0.body = .init()
        },
        Change(description: "launch image") {
            $0.launchImageName = ""
        } content: {
            $0.launchImage = nil
        },
        Change(description: "badge") {
            $0.badge = nil
        } content: {
            $0.badge = nil
        },
        Change(description: "no sound") {
            $0.sound = nil
        } content: {
            $0.sound = nil
        },
        Change(description: "sound") {
            $0.sound = .default
        } content: {
            $0.sound = .init(name: "default")
        },
        Change(description: "category") {
            $0.categoryIdentifier = ""
        } content: {
            $0.category = nil
        },
        Change(description: "thread") {
            $0.threadIdentifier = "u"
        } content: {
            $0.threadID = "u"
        },
        Change(description: "level") {
            $0.interruptionLevel = .passive
        } content: {
            $0.interruptionLevel = "passive"
        },
        Change(description: "relevance") {
            $0.relevanceScore = 1
        } content: {
            $0.relevanceScore = 1
        },
        Change(description: "target") {
            $0.targetContentIdentifier = nil
        } content: {
            $0.targetContentID = nil
        },
        Change(description: "filter") {
            $0.filterCriteria = nil
        } content: {
            $0.filterCriteria = nil
        },
        Change(description: "userInfo") {
            $0.userInfo = ["n": 2]
        } content: {
            $0.userInfo = Array(#"{"n":2}"#.utf8)
        },
    ]

    @Test("changing one member of the system's object changes only that member", arguments: changes)
    func oneChange(_ change: Change) async throws {
        var expected = push.content
        change.content(&expected)
        #expect(try await changed(change.system) == expected)
        #expect(expected != push.content)
    }

    @Test("an error of the change is thrown by the stage")
    func errorsGoOn() async throws {
        await #expect(throws: CancellationError.self) { try await changed { _ in throw CancellationError() } }
    }

    @Test("a stage has the given name and time limit, or the defaults")
    func settings() {
        #expect(SystemContentStage { _ in }.name == "SystemContentStage")
        #expect(SystemContentStage { _ in }.timeLimit == nil)
        let stage = SystemContentStage(name: "suffix", timeLimit: .seconds(3)) { _ in }
        #expect(stage.name == "suffix")
        #expect(stage.timeLimit == .seconds(3))
    }

    private static let sounds: [@Sendable () -> UNNotificationSound] = [
        { UNNotificationSound(named: .init("b.caf")) }, { .criticalSoundNamed(.init("b.caf"), withAudioVolume: 0.5) },
        { .defaultCriticalSound(withAudioVolume: 0.25) }, { .defaultCritical }, { .default },
    ]

    @Test("a sound that a stage sets is the sound that is played, also after a later stage", arguments: sounds)
    func sound(_ sound: @escaping @Sendable () -> UNNotificationSound) async throws {
        let expected = sound()
        let content = try await changed { [sound] in $0.sound = sound() }
        #expect(content.systemContent.sound == expected)
        let later = try await SystemContentStage { $0.title = "x" }.process(content, of: push)
        #expect(later.systemContent.sound == expected)
    }

    @Test("a launch image that a stage sets is in the system's object")
    func launchImage() async throws {
        #expect(try await changed { $0.launchImageName = "sky" }.systemContent.launchImageName == "sky")
    }

    @Test("userInfo that isn't JSON is an error, and isn't replaced by nothing")
    func userInfoOfOtherTypes() async throws {
        await #expect(throws: EncodingError.self) { try await changed { $0.userInfo = ["when": Date()] } }
    }
}
