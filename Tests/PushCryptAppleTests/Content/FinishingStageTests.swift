import Foundation
import PushCryptExtension
import PushCryptPrimitives
import PushCryptSimulator
import PushCryptTestSupport
import Testing
import UserNotifications

@testable import PushCryptApple

/// The last stage, in a real service.
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

    @Test("changes of the given object after the stage has ended aren't shown")
    func keptObject() async throws {
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
        #expect(content.title == "Zoë")
        #expect(content.body == "Hi")
        #expect(content.userInfo["n"] as? NSArray == [1])
    }

    @Test("at the deadline the content before a stuck last stage is shown")
    func deadline() async throws {
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

    @Test("stages receive the identifier of the system's request")
    func requestID() async throws {
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
