import Foundation
import PushCryptPrimitives
import PushCryptSimulator
import PushCryptTestSupport
import Testing

@testable import PushCryptExtension

/// How much of a notification the recipient wants to be shown.
@Suite struct PreviewTests {
    private let folder: TemporaryFolder
    private let choice: PreviewChoice

    init() throws {
        folder = try TemporaryFolder()
        choice = PreviewChoice(path: folder.file("preview").path)
    }

    private static let alert = #"{"title":"Zoë","subtitle":"S","body":"Hi","summary-arg":"x"}"#

    /// Attaches a file and counts its calls.
    private final class FileStage: ContentStage, UnsealedStage {
        let file: URL
        private let calls = Locked(0)

        init(_ file: URL) { self.file = file }

        var count: Int { calls.withLock { $0 } }

        func process(_ content: NotificationContent, of push: OpenedPush) async throws -> NotificationContent {
            try await process(unsealed: content)
        }

        func process(unsealed content: NotificationContent) async throws -> NotificationContent {
            calls.withLock { $0 += 1 }
            try Data("secret".utf8).write(to: file)
            var content = content
            content.attachments.append(.init(identifier: "a", path: file.path, type: .png))
            return content
        }
    }

    private struct TitleStage: FinalStage {
        func finish(_ content: NotificationContent, of push: OpenedPush) async throws -> NotificationContent {
            var content = content
            content.title.literal = "finished"
            return content
        }
    }

    private func deliver(
        _ payload: [UInt8]? = nil, key: String = "p256", alert: String = alert,
        _ change: (inout ExtensionConfiguration) -> Void = { _ in }
    ) async throws -> DeliverySession.Delivery {
        let fallback = Fallback.outerAlert(orElse: .localized(title: "OWN", body: nil))
        var configuration = try ExtensionConfiguration.test(key: key, fallback: fallback)
        configuration.timer = ManualTimer()
        configuration.strings = ["OWN": "Own"]
        configuration.preview = choice
        change(&configuration)
        let aps = #""badge":3,"sound":"a.caf","category":"C","thread-id":"t""#
        return try await configuration.delivery(
            of: payload ?? TestPush(json: #"{"aps":{"alert":\#(alert),\#(aps)},"n":1}"#).sealed())
    }

    @Test(
        "everything is shown before the recipient chose, and after the choice of everything", arguments: [true, false])
    func everything(isChosen: Bool) async throws {
        if isChosen { try choice.set(.everything) }
        #expect(choice.current == .everything)
        let content = try await deliver { $0.finish = TitleStage() }.content
        #expect(content.title.literal == "finished")
        #expect(content.body.literal == "Hi")
    }

    @Test(
        "with titleOnly the title is shown, with nothing the app's own text, and other members stay",
        arguments: [(NotificationPreview.titleOnly, "Zoë"), (.nothing, "Own")])
    func hidden(preview: NotificationPreview, title: String) async throws {
        try choice.set(preview)
        #expect(choice.current == preview)
        let delivery = try await deliver { $0.finish = TitleStage() }
        var expected = NotificationContent()
        expected.title.literal = title
        (expected.badge, expected.sound) = (3, .init(name: "a.caf"))
        (expected.category, expected.threadID) = ("C", "t")
        expected.userInfo = delivery.content.userInfo
        #expect(delivery.content == expected)
        #expect(delivery.content.userInfo.text.contains(#""n":1"#))
        #expect(delivery.isRestored)
        #expect(delivery.failure == nil)
    }

    @Test("a push without a title shows the app's own text with titleOnly")
    func noTitle() async throws {
        try choice.set(.titleOnly)
        let content = try await deliver(alert: #""Hi""#).content
        #expect(content.title.literal == "Own")
        #expect(content.body.isEmpty)
    }

    @Test(
        "hidden attachments aren't fetched, and the file of a stage is removed",
        arguments: [NotificationPreview.titleOnly, .nothing])
    func attachments(preview: NotificationPreview) async throws {
        try choice.set(preview)
        let (fetched, added) = (FileStage(folder.file("fetched")), FileStage(folder.file("added")))
        let delivery = try await deliver { ($0.attachments, $0.stages) = (fetched, [added]) }
        #expect(delivery.content.attachments.isEmpty)
        #expect(fetched.count == 0)
        #expect(added.count == 1)
        #expect(try folder.names() == ["preview"])
    }

    @Test("a choice that can't be read hides everything", arguments: ["", "everythin", "Everything", "titleonly\n"])
    func unreadable(text: String) async throws {
        try Data(text.utf8).write(to: folder.file("preview"))
        #expect(choice.current == .nothing)
        #expect(try await deliver().content.title.literal == "Own")
        #expect(PreviewChoice(path: folder.file(".").path).current == .nothing)
    }

    @Test("an accepted unsealed push is hidden too")
    func unsealed() async throws {
        try choice.set(.nothing)
        let stage = FileStage(folder.file("added"))
        let delivery = try await deliver(Array(#"{"aps":{"alert":"Hi","badge":2}}"#.utf8)) {
            $0.unsealed = .shown(stages: [stage])
        }
        #expect(delivery.content.title.literal == "Own")
        #expect(delivery.content.body.isEmpty)
        #expect(delivery.content.badge == 2)
        #expect(delivery.content.attachments.isEmpty)
        #expect(delivery.isUnsealed)
    }

    @Test(
        "the outer alert of a push that isn't restored is shown only with everything",
        arguments: [(NotificationPreview.everything, "New message"), (.titleOnly, "Own"), (.nothing, "Own")])
    func outerAlert(preview: NotificationPreview, title: String) async throws {
        try choice.set(preview)
        let delivery = try await deliver(TestPush(key: "other p256").sealed())
        #expect(delivery.content.title.literal == title)
        #expect(delivery.failure == .unknownKey)
    }

    @Test("a choice that is written while a push is restored applies to the next push")
    func nextPush() async throws {
        try choice.set(.nothing)
        #expect(try await deliver().content.title.literal == "Own")
        try choice.set(.everything)
        #expect(try await deliver().content.title.literal == "Zoë")
    }

    @Test("a session that ends during a stage shows only what the recipient chose")
    func atTheDeadline() async throws {
        try choice.set(.titleOnly)
        let stage = HeldStage(.cancellable)
        var configuration = try ExtensionConfiguration.test()
        (configuration.preview, configuration.stages) = (choice, [stage])
        let json = #"{"aps":{"alert":\#(Self.alert)}}"#
        let session = try TestSession(payload: TestPush(json: json).sealed(), configuration: configuration)
        session.releaseKeyring()
        session.start()
        await stage.begun.wait()
        session.expire()
        let content = try #require(await session.finish().first).content
        #expect(content.title.literal == "Zoë")
        #expect(content.body.isEmpty)
    }

    @Test("a choice that can't be written is an error, and the old choice stays")
    func unwritable() throws {
        let choice = PreviewChoice(path: folder.file("none/preview").path)
        #expect(throws: (any Error).self) { try choice.set(.nothing) }
        #expect(choice.current == .everything)
    }
}
