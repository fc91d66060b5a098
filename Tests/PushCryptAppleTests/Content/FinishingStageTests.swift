import Foundation
import Intents
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

    private static let message = CommunicationStage.Message(
        sender: .init(handle: "zoe", name: "Zoë", picture: [1, 2, 3]), conversationID: "c1", groupName: "Family",
        recipients: [.init(handle: "max", name: "Max")])

    @Test("the system's object of the last stage is the one that is shown, with what it doesn't expose")
    func object() async throws {
        let content = try await shown { configuration in
            configuration.stages = [SystemContentStage { $0.title += "!" }]
            configuration.finish = FinishingStage { content, push in
                content.subtitle = String(decoding: push.payload.prefix(7), as: UTF8.self)
                let made = INSendMessageIntent(
                    recipients: nil, outgoingMessageType: .outgoingMessageText, content: nil, speakableGroupName: nil,
                    conversationIdentifier: "c", serviceName: nil, sender: nil, attachments: nil)
                return try content.updating(from: made)
            }
        }
        #expect((content.stubProvider as? INSendMessageIntent)?.conversationIdentifier == "c")
        #expect(content.title == "Zoë!")
        #expect(content.subtitle == #"{"aps":"#)
        #expect(content.body == "Hi")
        #expect(content.sound == UNNotificationSound(named: .init("a.caf")))
        #expect(content.userInfo["n"] as? NSArray == [1])
        #expect(!(content is UNMutableNotificationContent))
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

    @Test("the last stage doesn't run if the recipient hides the text")
    func hidden() async throws {
        let folder = try TemporaryFolder()
        let choice = PreviewChoice(path: folder.file("preview").path)
        try choice.set(.titleOnly)
        let content = try await shown { configuration in
            configuration.preview = choice
            configuration.finish = CommunicationStage { _ in Self.message }
        }
        #expect(content.title == "Zoë")
        #expect(content.body == "")
        #expect(content.stubProvider == nil)
    }

    @Test("a message becomes a communication notification with sender, conversation and group, without its text")
    func communication() async throws {
        let content = try await shown { configuration in
            configuration.finish = CommunicationStage { push in
                let info = UserInfoJSON.dictionary(push.payload)
                #expect(info["from"] as? String == "zoe")
                return Self.message
            }
        }
        let intent = try #require(content.stubProvider as? INSendMessageIntent)
        #expect(intent.sender?.personHandle?.value == "zoe")
        #expect(intent.sender?.displayName == "Zoë")
        #expect(intent.sender?.image?.stubData == Data([1, 2, 3]))
        #expect(intent.conversationIdentifier == "c1")
        #expect(intent.speakableGroupName?.spokenPhrase == "Family")
        #expect(intent.recipients?.map(\.displayName) == ["Max"])
        #expect(intent.content == nil)
        #expect(content.body == "Hi")
        #expect(content.threadIdentifier == "t")
    }

    @Test("a push that isn't a message is shown unchanged")
    func noMessage() async throws {
        let content = try await shown { $0.finish = CommunicationStage { _ in nil } }
        #expect(content.stubProvider == nil)
        #expect(content.body == "Hi")
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
