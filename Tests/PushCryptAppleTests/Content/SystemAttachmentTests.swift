import Foundation
import PushCryptExtension
import PushCryptTestSupport
import Testing
import UserNotifications

@testable import PushCryptApple

@Suite struct SystemAttachmentTests {
    private let place: TemporaryFolder

    init() throws {
        place = try TemporaryFolder()
        try Data("file".utf8).write(to: place.file("a"))
        try Data("file".utf8).write(to: place.file("b.png"))
    }

    private func attachment(_ name: String, _ type: AttachmentType) -> NotificationContent.Attachment {
        .init(identifier: name, path: place.file(name).path, type: type)
    }

    @Test("each attachment type is converted to the system's object and back", arguments: AttachmentType.all)
    func bothWays(_ type: AttachmentType) throws {
        var content = NotificationContent()
        content.attachments = [attachment("a", type), attachment("b.png", type)]
        let system = content.systemContent.attachments
        #expect(system.map(\.identifier) == ["a", "b.png"])
        #expect(system.map(\.url.path) == content.attachments.map(\.path))
        #expect(system.map(\.type) == Array(repeating: type.uniformTypeIdentifier, count: 2))
        #expect(NotificationContent(content.systemContent) == content)
    }

    @Test("an attachment that the system refuses is left out, and text and other files stay")
    func refusedByTheSystem() {
        var content = NotificationContent()
        content.title.literal = "x"
        content.attachments = [attachment("none", .png), attachment("a", .jpeg)]
        #expect(content.systemContent.attachments.map(\.identifier) == ["a"])
        #expect(content.systemContent.title == "x")
    }

    @Test("a stage can keep, remove and replace attachments of the system's object")
    func changedByAStage() async throws {
        let channel = try Channel()
        let opener = try Opener(topic: Channel.topic, keyring: channel.keyring, senders: .unsigned)
        let push = try opener.open(channel.seal(#"{"aps":{"alert":"x"}}"#), at: Channel.now).get()
        var content = push.content
        content.attachments = [attachment("a", .gif), attachment("b.png", .png)]
        #expect(try await SystemContentStage { $0.title = "x" }.process(content, of: push).attachments.count == 2)
        let without = SystemContentStage { $0.attachments.removeFirst() }
        #expect(try await without.process(content, of: push).attachments == [attachment("b.png", .png)])
        let path = place.file("a").path
        let with = SystemContentStage { system in
            let options = [UNNotificationAttachmentOptionsTypeHintKey: "public.mp3"]
            let url = URL(fileURLWithPath: path)
            system.attachments = [try UNNotificationAttachment(identifier: "m", url: url, options: options)]
        }
        let expected = NotificationContent.Attachment(identifier: "m", path: path, type: .mp3)
        #expect(try await with.process(content, of: push).attachments == [expected])
    }
}
