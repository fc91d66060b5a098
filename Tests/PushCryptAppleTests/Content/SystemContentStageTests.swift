import Foundation
import PushCryptPrimitives
import PushCryptSimulator
import PushCryptTestSupport
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
        push = try channel.opener.open(channel.seal(Self.payload), at: Channel.now).get()
    }

    private func changed(_ change: @escaping SystemContentStage.Change) async throws -> NotificationContent {
        try await SystemContentStage(change).process(push.content, of: push)
    }

    @Test func `a change that does nothing leaves the content exactly as it was`() async throws {
        #expect(push.content.filterCriteria == "f")
        #expect(try await changed { _ in } == push.content)
    }

    struct Change: Sendable, CustomStringConvertible {
        let description: String
        let system: SystemContentStage.Change
        let content: @Sendable (inout NotificationContent) -> Void

        init(
            _ description: String, _ system: @escaping SystemContentStage.Change,
            _ content: @escaping @Sendable (inout NotificationContent) -> Void
        ) {
            (self.description, self.system, self.content) = (description, system, content)
        }
    }

    private static let changes = [
        Change("title", { $0.title = "x" }, { $0.title = .init(literal: "x") }),
        Change("subtitle", { $0.subtitle += "x" }, { $0.subtitle.literal = "Sx" }),
        Change("body", { $0.body = "" }, { $0.body = .init() }),
        Change("launch image", { $0.launchImageName = "" }, { $0.launchImage = nil }),
        Change("badge", { $0.badge = nil }, { $0.badge = nil }),
        Change("no sound", { $0.sound = nil }, { $0.sound = nil }),
        Change("sound", { $0.sound = .default }, { $0.sound = .init(name: "default") }),
        Change("category", { $0.categoryIdentifier = "" }, { $0.category = nil }),
        Change("thread", { $0.threadIdentifier = "u" }, { $0.threadID = "u" }),
        Change("level", { $0.interruptionLevel = .passive }, { $0.interruptionLevel = "passive" }),
        Change("relevance", { $0.relevanceScore = 1 }, { $0.relevanceScore = 1 }),
        Change("target", { $0.targetContentIdentifier = nil }, { $0.targetContentID = nil }),
        Change("filter", { $0.filterCriteria = nil }, { $0.filterCriteria = nil }),
        Change("userInfo", { $0.userInfo = ["n": 2] }, { $0.userInfo = Array(#"{"n":2}"#.utf8) }),
    ]

    @Test("changing one member of the system's object changes only that member", arguments: changes)
    func oneChange(_ change: Change) async throws {
        var expected = push.content
        change.content(&expected)
        #expect(try await changed(change.system) == expected)
        #expect(expected != push.content)
    }

    @Test func `a stage has the given name and time limit, or the defaults`() {
        let plain = SystemContentStage { _ in }
        let named = SystemContentStage(name: "a", timeLimit: .seconds(3)) { _ in }
        #expect(plain.name == "SystemContentStage" && plain.timeLimit == nil)
        #expect(named.name == "a" && named.timeLimit == .seconds(3))
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

    @Test func `a launch image that a stage sets is in the system's object`() async throws {
        #expect(try await changed { $0.launchImageName = "sky" }.systemContent.launchImageName == "sky")
    }

    @Test func `an error of the change is thrown by the stage, and so is userInfo that isn't JSON`() async throws {
        await #expect(throws: CancellationError.self) { try await changed { _ in throw CancellationError() } }
        await #expect(throws: EncodingError.self) { try await changed { $0.userInfo = ["when": Date()] } }
    }
}

@Suite struct FinishingStageTests {
    private let channel: Channel
    private let payload: [UInt8]

    init() throws {
        channel = try Channel()
        payload = try channel.seal(
            #"{"aps":{"alert":{"title":"Zoë","body":"Hi"},"sound":"a.caf","thread-id":"t"},"from":"zoe","n":[1]}"#)
    }

    private func shown(_ change: @escaping (inout ExtensionConfiguration) -> Void) async throws -> UNNotificationContent
    {
        try await TestService { [channel] in try channel.configuration(change) }.receive(payload).content()
    }

    // Unchecked: only the test's thread uses the object after the stage.
    private struct KeptObject: @unchecked Sendable {
        let content: UNMutableNotificationContent
    }

    @Test func `changes of the given object after the stage has ended aren't shown`() async throws {
        let kept = Locked<KeptObject?>(nil)
        let content = try await shown { configuration in
            configuration.finish = FinishingStage { content, _ in
                let object = KeptObject(content: content)
                kept.withLock { $0 = object }
                return content
            }
        }
        kept.withLock { $0 }?.content.title = "changed"
        #expect(content.title == "Zoë")
    }

    private struct Failure: Error {}

    @Test(
        "if the last stage throws or removes the text, the content before it is shown",
        arguments: [
            FinishingStage { _, _ in throw Failure() }, FinishingStage { _, _ in UNNotificationContent() },
            FinishingStage { content, _ in
                content.userInfo = ["when": Date()]
                return content
            },
        ])
    func failures(stage: FinishingStage) async throws {
        let content = try await shown { $0.finish = stage }
        #expect(content.title == "Zoë" && content.body == "Hi" && content.userInfo["n"] as? NSArray == [1])
    }

    @Test func `at the deadline the content before a stuck last stage is shown`() async throws {
        let (started, release, timer) = (Signal(), Signal(), ManualTimer())
        let service = TestService { [channel] in
            try channel.configuration(timer: timer) { configuration in
                configuration.finish = FinishingStage { content, _ in
                    started.give()
                    await release.wait()
                    content.title = "too late"
                    return content
                }
            }
        }
        let shown = try service.receive(payload)
        await started.wait()
        timer.fire()
        #expect(await shown.content().title == "Zoë")
        release.give()
    }

    @Test func `stages receive the identifier of the system's request`() async throws {
        let seen = Locked<[String?]>([])
        _ = try await shown { configuration in
            configuration.finish = FinishingStage { content, push in
                seen.withLock { $0.append(push.requestID) }
                return content
            }
        }
        #expect(seen.withLock { $0 } == ["1"])
    }
}
