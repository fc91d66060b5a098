import Foundation
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
        let read = NotificationContent(content.systemContent)
        #expect(read.attachments.map(\.type) == [type, type])
        #expect(read.attachments.map(\.path) == content.attachments.map(\.path))
    }

    @Test func `the thumbnail's settings of an attachment are options of the system's object`() {
        var content = NotificationContent()
        content.attachments = [attachment("a", .mp4), attachment("b.png", .png)]
        let part = NotificationContent.Thumbnail.Part(x: 0.25, y: 0, width: 0.5, height: 1)
        content.attachments[0].thumbnail = .init(part: part, time: 1.5)
        content.attachments[1].thumbnail = .init(isHidden: true)
        let options = content.systemContent.attachments.map(\.stubOptions)
        #expect(
            options[0] as NSDictionary == [
                UNNotificationAttachmentOptionsTypeHintKey: "public.mpeg-4",
                UNNotificationAttachmentOptionsThumbnailClippingRectKey: [
                    "X": 0.25, "Y": 0.0, "Width": 0.5, "Height": 1.0,
                ],
                UNNotificationAttachmentOptionsThumbnailTimeKey: 1.5,
            ] as NSDictionary)
        #expect(
            options[1] as NSDictionary == [
                UNNotificationAttachmentOptionsTypeHintKey: "public.png",
                UNNotificationAttachmentOptionsThumbnailHiddenKey: true,
            ] as NSDictionary)
    }

    @Test func `without a type the system derives it from the file name`() {
        var content = NotificationContent()
        content.attachments = [.init(identifier: "b", path: place.file("b.png").path, type: nil)]
        #expect(content.systemContent.attachments.map(\.type) == ["public.png"])
    }

    @Test func `an attachment that the system refuses is missing, and text and other files stay`() async throws {
        var content = NotificationContent()
        content.title.literal = "x"
        content.attachments = [attachment("none", .png), attachment("a", .jpeg)]
        #expect(content.systemContent.attachments.map(\.identifier) == ["a"] && content.systemContent.title == "x")
        let changed = try await SystemContentStage { $0.title = "y" }.process(content, of: Self.push())
        #expect(changed.attachments == [content.attachments[1]])
        #expect(changed.missingAttachmentCount == 1)
    }

    @Test func `a value that is changed after a stage made its object is shown with the change`() async throws {
        let url = place.file("a")
        let stage = SystemContentStage { system in
            let options = [UNNotificationAttachmentOptionsTypeHintKey: "public.mp3"]
            system.attachments = [try UNNotificationAttachment(identifier: "m", url: url, options: options)]
            system.sound = UNNotificationSound(named: .init("a.caf"))
        }
        var content = try await stage.process(NotificationContent(), of: Self.push())
        content.attachments[0].thumbnail.isHidden = true
        content.sound?.name = "b.caf"
        let system = content.systemContent
        #expect(system.sound == UNNotificationSound(named: .init("b.caf")))
        #expect(
            system.attachments[0].stubOptions as NSDictionary == [
                UNNotificationAttachmentOptionsTypeHintKey: "public.mp3",
                UNNotificationAttachmentOptionsThumbnailHiddenKey: true,
            ] as NSDictionary)
    }

    @Test func `an attachment of the same file keeps its path, which the session needs`() async throws {
        var content = NotificationContent()
        // The system writes this path in another way.
        content.attachments = [.init(identifier: "a", path: place.file(".").path + "/a", type: .gif)]
        let stage = SystemContentStage { system in
            let options: [String: Any] = [
                UNNotificationAttachmentOptionsTypeHintKey: "com.compuserve.gif",
                UNNotificationAttachmentOptionsThumbnailTimeKey: 3,
            ]
            let old = system.attachments[0]
            system.attachments[0] = try UNNotificationAttachment(
                identifier: old.identifier, url: old.url, options: options)
        }
        let changed = try await stage.process(content, of: Self.push())
        #expect(changed.attachments.map(\.path) == content.attachments.map(\.path))
        let shown = changed.systemContent.attachments[0]
        #expect(shown.stubOptions[UNNotificationAttachmentOptionsThumbnailTimeKey] as? Int == 3)
    }

    @Test func `a stage can keep, remove and replace attachments of the system's object`() async throws {
        let push = try Self.push()
        var content = push.content
        content.attachments = [attachment("a", .gif), attachment("b.png", .png)]
        #expect(try await SystemContentStage { $0.title = "x" }.process(content, of: push).attachments.count == 2)
        let without = SystemContentStage { $0.attachments.removeFirst() }
        #expect(try await without.process(content, of: push).attachments == [attachment("b.png", .png)])
        let with = Self.attaching("m", place.file("a"), [UNNotificationAttachmentOptionsTypeHintKey: "public.mp3"])
        let attachments = try await with.process(content, of: push).attachments
        #expect(attachments.map(\.identifier) == ["m"] && attachments.map(\.path) == [place.file("a").path])
        #expect(attachments.map(\.type) == [.mp3])
    }

    private static func push() throws -> OpenedPush { try StagePush.opened() }

    private static func attaching(
        _ identifier: String, _ url: URL, _ options: [String: any Sendable]
    ) -> SystemContentStage {
        SystemContentStage {
            $0.attachments = [try UNNotificationAttachment(identifier: identifier, url: url, options: options)]
        }
    }

    @Test func `an attachment of a stage keeps options and an undocumented type in later stages`() async throws {
        let url = place.file("a")
        let options: [String: any Sendable] = [
            UNNotificationAttachmentOptionsTypeHintKey: "org.webmproject.webp",
            UNNotificationAttachmentOptionsThumbnailHiddenKey: true,
        ]
        let stages = [Self.attaching("m", url, options), SystemContentStage { $0.title = "x" }]
        var content = NotificationContent()
        for stage in stages { content = try await stage.process(content, of: Self.push()) }
        let shown = try #require(content.systemContent.attachments.first)
        #expect(shown.identifier == "m" && shown.url.path == url.path && shown.type == "org.webmproject.webp")
        #expect(shown.stubOptions[UNNotificationAttachmentOptionsThumbnailHiddenKey] as? Bool == true)
    }
}
