import Foundation
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptExtension

/// How much of a notification the recipient wants to be shown.
@Suite struct PreviewTests {
    private let folder = TemporaryFolder.make()
    private var choice: PreviewChoice { PreviewChoice(path: folder.file("preview").path) }
    private static let alert = #"{"title":"Zoë","subtitle":"S","body":"Hi","summary-arg":"x"}"#

    /// A stage that attaches a file with the name, and counts its calls.
    private func fileStage(_ name: String, _ count: Locked<Int> = Locked(0)) -> TestStage {
        TestStage { [folder] content in
            count.withLock { $0 += 1 }
            try Data("secret".utf8).write(to: folder.file(name))
            content.attachments.append(.init(identifier: name, path: folder.file(name).path, type: .png))
        }
    }

    private func show(
        _ payload: [UInt8]? = nil, alert: String = alert,
        _ change: (inout ExtensionConfiguration) -> Void = { _ in }
    ) async throws -> DeliverySession.Delivery {
        let aps = #""badge":3,"sound":"a.caf","category":"C","thread-id":"t""#
        let payload = try payload ?? TestPush(json: #"{"aps":{"alert":\#(alert),\#(aps)},"n":1}"#).sealed()
        return try await deliver(payload) { configuration in
            configuration.fallback = .outerAlert(orElse: .localized(title: "OWN", body: nil))
            configuration.strings = ["OWN": "Own"]
            configuration.preview = choice
            configuration.finish = TestStage { $0.title.literal = "finished" }
            change(&configuration)
        }
    }

    @Test("everything is shown before the recipient chose, and a choice applies to the next push")
    func everything() async throws {
        for preview in [nil, NotificationPreview.nothing, .everything] {
            if let preview { try choice.set(preview) }
            #expect(choice.current == preview ?? .everything)
            let content = try await show().content
            #expect(content.title.literal == (preview == .nothing ? "Own" : "finished"))
            #expect(content.body.literal == (preview == .nothing ? nil : "Hi"))
        }
    }

    @Test(
        "with titleOnly the title is shown, with nothing the app's own text, and other members stay",
        arguments: [(NotificationPreview.titleOnly, "Zoë"), (.nothing, "Own")])
    func hidden(preview: NotificationPreview, title: String) async throws {
        try choice.set(preview)
        #expect(choice.current == preview)
        let delivery = try await show()
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

    @Test("hidden attachments aren't fetched and leave no file", arguments: [NotificationPreview.titleOnly, .nothing])
    func attachments(preview: NotificationPreview) async throws {
        try choice.set(preview)
        let (fetched, added) = (Locked(0), Locked(0))
        let delivery = try await show {
            ($0.attachments, $0.stages) = (fileStage("fetched", fetched), [fileStage("added", added)])
        }
        #expect(delivery.content.attachments.isEmpty)
        #expect(fetched.withLock { $0 } == 0 && added.withLock { $0 } == 1)
        #expect(try folder.names() == ["preview"])
    }

    @Test("a choice that can't be read hides everything", arguments: ["", "everythin", "Everything", "titleonly\n"])
    func unreadable(text: String) async throws {
        try Data(text.utf8).write(to: folder.file("preview"))
        #expect(choice.current == .nothing)
        #expect(try await show().content.title.literal == "Own")
        #expect(PreviewChoice(path: folder.file(".").path).current == .nothing)
    }

    @Test(
        "a push without a title, an unsealed one and one that isn't restored show the app's own text unless all is shown",
        arguments: [
            (NotificationPreview.everything, ["finished", "Bu", "New message"]), (.titleOnly, ["Own", "Own", "Own"]),
            (.nothing, ["Own", "Own", "Own"]),
        ])
    func withoutTitle(preview: NotificationPreview, titles: [String]) async throws {
        try choice.set(preview)
        let untitled = try await show(alert: #""Hi""#)
        let unsealed = try await show(Array(#"{"aps":{"alert":{"title":"Bu"},"badge":2}}"#.utf8)) {
            $0.unsealed = .shown(stages: [fileStage("added")])
        }
        let foreign = try await show(TestPush(key: "other p256").sealed())
        #expect([untitled, unsealed, foreign].map { $0.content.title.literal } == titles)
        #expect(unsealed.isUnsealed && unsealed.content.badge == 2)
        #expect(foreign.failure == .unknownKey)
        guard preview != .everything else { return }
        for content in [untitled.content, unsealed.content] {
            #expect(content.body.isEmpty && content.attachments.isEmpty)
        }
    }

    @Test("a session that ends during a stage shows only what the recipient chose")
    func atTheDeadline() async throws {
        try choice.set(.titleOnly)
        let stage = HeldStage()
        let session = try TestSession(TestPush(json: #"{"aps":{"alert":\#(Self.alert)}}"#).sealed()) {
            ($0.preview, $0.stages) = (choice, [stage])
        }
        await session.start(until: stage.begun)
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
