import Foundation
import Intents
import PushCryptPrimitives
import PushCryptTestSupport
import Testing
import UserNotifications

@testable import PushCryptApple

/// The last stages that return an object of the system, in a real service. Only the stubs let a test read what such an object
/// was updated from.
@Suite struct CommunicationStageTests {
    private let channel: Channel
    private let payload: [UInt8]
    private let folder: TemporaryFolder

    init() throws {
        channel = try Channel(signed: true)
        folder = try TemporaryFolder()
        payload = try channel.seal(
            #"{"aps":{"alert":{"title":"Zoë","body":"Hi"},"sound":"a.caf","thread-id":"t"},"from":"zoe","n":[1]}"#,
            badgeIncrement: 1)
    }

    private func shown(_ change: @escaping (inout ExtensionConfiguration) -> Void) async throws -> UNNotificationContent
    {
        try await TestService { [channel] in try channel.configuration(change) }.receive(payload).content()
    }

    private static func message(_ conversation: String = "c1") -> CommunicationStage.Message {
        .init(
            sender: .init(handle: "zoe", name: "Zoë", picture: [1, 2, 3]), conversationID: conversation,
            groupName: "Family", recipients: [.init(handle: "max", name: "Max")])
    }

    private static func intent(of content: UNNotificationContent) -> INSendMessageIntent? {
        content.stubProvider as? INSendMessageIntent
    }

    @Test func `the object of the last stage is shown, with what the system doesn't expose`() async throws {
        let content = try await shown { configuration in
            configuration.stages = [SystemContentStage { $0.title += "!" }]
            configuration.finish = FinishingStage { content, push in
                content.subtitle = String(decoding: push.payload.prefix(7), as: UTF8.self)
                return try content.updating(from: Self.intent(in: "c"))
            }
        }
        #expect(Self.intent(of: content)?.conversationIdentifier == "c")
        #expect([content.title, content.subtitle, content.body] == ["Zoë!", #"{"aps":"#, "Hi"])
        #expect(content.sound == UNNotificationSound(named: .init("a.caf")))
        #expect(content.userInfo["n"] as? NSArray == [1])
        #expect(!(content is UNMutableNotificationContent))
    }

    @Test func `an intent has the group's picture and what the message is to the user, and no picture without a group`()
        throws
    {
        var message = Self.message()
        message.groupPicture = [7]
        (message.recipientCount, message.mentionsUser, message.repliesToUser) = (12, true, true)
        let metadata = try #require(message.intent.donationMetadata as? INSendMessageIntentDonationMetadata)
        #expect(metadata.recipientCount == 12 && metadata.mentionsCurrentUser && metadata.isReplyToCurrentUser)
        #expect(message.intent.stubImages.mapValues(\.stubData) == ["speakableGroupName": Data([7])])
        message.groupName = nil
        #expect(message.intent.stubImages.isEmpty)
        let plain = Self.message().intent.donationMetadata as? INSendMessageIntentDonationMetadata
        #expect(plain?.mentionsCurrentUser == false && plain?.isReplyToCurrentUser == false)
    }

    @Test func `the last stage doesn't run if the recipient hides the text`() async throws {
        let choice = PreviewChoice(path: folder.file("preview").path)
        try choice.set(.titleOnly)
        let content = try await shown { configuration in
            configuration.preview = choice
            configuration.finish = CommunicationStage { _ in Self.message() }
        }
        #expect(content.title == "Zoë" && content.body == "" && content.stubProvider == nil)
    }

    @Test func `a message gives the intent its sender, conversation and group, and not its text`() async throws {
        let content = try await shown { configuration in
            configuration.finish = CommunicationStage { push in
                #expect(UserInfoJSON.dictionary(push.payload)["from"] as? String == "zoe")
                return Self.message()
            }
        }
        let intent = try #require(Self.intent(of: content))
        #expect(intent.sender?.personHandle?.value == "zoe" && intent.sender?.displayName == "Zoë")
        #expect(intent.sender?.image?.stubData == Data([1, 2, 3]))
        #expect(intent.conversationIdentifier == "c1")
        #expect(intent.speakableGroupName?.spokenPhrase == "Family")
        #expect(intent.recipients?.map(\.displayName) == ["Max"])
        #expect(intent.content == nil && content.body == "Hi" && content.threadIdentifier == "t")
    }

    @Test func `a push that isn't a message is shown unchanged`() async throws {
        let content = try await shown { $0.finish = CommunicationStage { _ in nil } }
        #expect(content.stubProvider == nil && content.body == "Hi")
    }

    /// Sets the number while the push is restored, as another message or the app does.
    private struct Counting: ContentStage {
        let store: SharedStore

        func process(_ content: NotificationContent, of push: OpenedPush) async throws -> NotificationContent {
            try store.setBadge(8)
            return content
        }
    }

    private func counting(_ configuration: inout ExtensionConfiguration) {
        configuration.store = SharedStore(folder: folder.path + "/store", role: .extension)
        configuration.stages = [Counting(store: SharedStore(folder: folder.path + "/store", role: .app))]
    }

    @Test func `a communication notification shows the number that was counted meanwhile`() async throws {
        let content = try await shown { configuration in
            counting(&configuration)
            configuration.finish = CommunicationStage { _ in Self.message() }
        }
        #expect(content.badge == 8)
        let intent = try #require(Self.intent(of: content))
        #expect(intent.sender?.displayName == "Zoë" && intent.sender?.image?.stubData == Data([1, 2, 3]))
        #expect(!(content is UNMutableNotificationContent))
    }

    @Test func `the given object shows the number that was counted, and an object of the app its own`() async throws {
        let given = try await shown { configuration in
            counting(&configuration)
            configuration.finish = FinishingStage { content, _ in
                content.subtitle = "given"
                return content
            }
        }
        #expect(given.badge == 8 && given.subtitle == "given")
        let other = try Channel(signed: true)
        let payload = try other.seal(#"{"aps":{"alert":"Hi"}}"#, badgeIncrement: 1)
        let own = try await TestService {
            try other.configuration { configuration in
                counting(&configuration)
                configuration.finish = FinishingStage { content, _ in
                    try content.updating(from: Self.intent(in: "c"))
                }
            }
        }.receive(payload).content()
        #expect(Self.intent(of: own)?.conversationIdentifier == "c" && own.badge == 9)
    }

    private static func intent(in conversation: String) -> INSendMessageIntent {
        INSendMessageIntent(
            recipients: nil, outgoingMessageType: .outgoingMessageText, content: nil, speakableGroupName: nil,
            conversationIdentifier: conversation, serviceName: nil, sender: nil, attachments: nil)
    }

    @Test(
        "if the system refuses the intent, the content before it is shown, also if it refuses the intent for another badge",
        arguments: [UNError.Code.contentProvidingObjectNotAllowed, .contentProvidingInvalid], [true, false])
    func refused(_ code: UNError.Code, isRefusedAtFirst: Bool) async throws {
        let conversation = "refused \(code) \(isRefusedAtFirst)"
        let push = try channel.opener.open(payload, at: Channel.now).get()
        let stage = CommunicationStage { _ in Self.message(conversation) }
        var content = push.content
        if isRefusedAtFirst {
            StubIntents.shared.refuse(conversation: conversation, code)
            let error = await #expect(throws: UNError.self) { try await stage.finish(push.content, of: push) }
            #expect(error?.code == code)
        } else {
            content = try await stage.finish(content, of: push)
            StubIntents.shared.refuse(conversation: conversation, code)
        }
        content.badge = 8
        let (system, refused) = content.finalForm()
        #expect(system.title == "Zoë" && system.body == "Hi" && system.badge == 8 && refused.isEmpty)
        #expect(system.stubProvider == nil)
    }
}
