import Foundation
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptExtension

/// The settings of a configuration: unsealed pushes, texts, the unlock notice. `FallbackTests` have the placeholders.
@Suite struct PolicyTests {
    private static let unsealed = Array(
        #"{"aps":{"alert":{"title":"Ad","body":"Buy"},"mutable-content":1,"category":"PAY"},"image_url":"https://a.example"}"#
            .utf8)

    /// Stages that add their suffix to the title and note the titles that they receive.
    private final class Noted: Sendable {
        private let seen = Locked<[String]>([])
        var titles: [String] { seen.withLock { $0 } }

        func stage(_ suffix: String = "") -> TestStage {
            TestStage { [seen] content in
                let title = content.title.literal ?? ""
                seen.withLock { $0.append(title) }
                content.title.literal = title + suffix
            }
        }
    }

    @Test("an accepted unsealed push is shown unchanged, counts neither as restored nor as failed, and has no receipt")
    func unsealedIsShown() async throws {
        let (noted, reporter) = (Noted(), RecordingReporter())
        let folder = StoreFolder()
        let delivery = try await deliver(Self.unsealed, reporter: reporter) { configuration in
            configuration.unsealed = .shown
            configuration.store = folder.store()
            configuration.receipts = try ReceiptPosting(to: "https://example.com", transport: RecordingTransport())
            configuration.stages = [noted.stage()]
            configuration.attachments = noted.stage()
        }
        #expect(delivery.failure == nil && !delivery.isRestored && delivery.isUnsealed)
        #expect(delivery.content == NotificationContent(unmodified: Self.unsealed))
        #expect(delivery.content.title.literal == "Ad" && delivery.content.category == "PAY")
        #expect(delivery.content.userInfo == Self.unsealed)
        #expect(noted.titles.isEmpty)
        let statistics = try folder.store().statistics()
        #expect(statistics.opened == nil && statistics.failures.isEmpty && statistics.lastRun?.count == 1)
        #expect(try folder.store().receiptCount() == 0)
        #expect(reporter.reports.map(\.failure) == [nil] && reporter.reports.map(\.isRestored) == [false])
    }

    @Test("an accepted unsealed push runs only the stages for unsealed pushes, and a sealed push none of them")
    func unsealedStages() async throws {
        let (unsealed, other) = (Noted(), Noted())
        let policy = ExtensionConfiguration.UnsealedPolicy.shown(stages: [unsealed.stage(" b"), unsealed.stage(" c")])
        let delivery = try await deliver(Self.unsealed) { configuration in
            configuration.unsealed = policy
            configuration.stages = [other.stage()]
        }
        #expect(delivery.content.title.literal == "Ad b c" && delivery.content.category == "PAY")
        #expect(delivery.isUnsealed)
        #expect(unsealed.titles == ["Ad", "Ad b"] && other.titles.isEmpty)
        let sealed = try await deliver(TestPush().sealed()) { $0.unsealed = policy }
        #expect(sealed.content.title.literal == "Zoë" && sealed.isRestored)
        #expect(unsealed.titles.count == 2)
    }

    @Test(
        "a push with an invalid pushcrypt member is malformed, even if unsealed pushes are accepted",
        arguments: ["0", "null", "{}", "\"\"", "[]", #"{"v":1}"#], [false, true])
    func malformedEnvelope(_ member: String, letsUnsealedThrough: Bool) async throws {
        let payload = Array(
            #"{"aps":{"alert":"Pay","mutable-content":1,"badge":9,"sound":"siren"},"url":"x","pushcrypt":\#(member)}"#
                .utf8)
        let noted = Noted()
        for mode in [Fallback.outerAlert(orElse: .standard), .bundled(.standard)] {
            let delivery = try await deliver(payload) { configuration in
                configuration.fallback = mode
                if letsUnsealedThrough { configuration.unsealed = .shown(stages: [noted.stage(" b")]) }
            }
            #expect(delivery.failure == .malformed && !delivery.isRestored)
            #expect(delivery.content == mode.content(for: payload, .malformed))
            #expect(delivery.content.sound == .init(name: "default"))
        }
        #expect(noted.titles.isEmpty)
    }

    @Test("a sealed payload for which the keyring throws notSealed, or an unsealed one without text, isn't accepted")
    func notAccepted() async throws {
        for payload in [try TestPush().sealed(), Array(#"{"aps":{}}"#.utf8)] {
            let delivery = try await deliver(payload, keyring: FailingKeyring(failure: .notSealed)) {
                $0.unsealed = .shown
            }
            #expect(delivery.failure == .notSealed)
            #expect(delivery.content.title.literal == Placeholder.standard.title)
        }
    }

    @Test("the unlock notice is shown for the first locked push of a boot only, and not for another failure")
    func unlockNotice() async throws {
        let folder = try TemporaryFolder()
        let notice = UnlockNotice(
            .literal(title: "Unlock your phone to read messages", body: nil),
            marker: FileBootMarker(path: folder.file("boot").path))
        let other = try await deliver([]) { $0.unlockNotice = notice }
        #expect(other.content.title.literal == Placeholder.standard.title)
        for title in ["Unlock your phone to read messages", "New message", "New message"] {
            let delivery = try await deliver(TestPush().sealed(), keyring: FailingKeyring(failure: .keyLocked)) {
                $0.unlockNotice = notice
            }
            #expect(delivery.failure == .keyLocked)
            #expect(delivery.content.title.literal == title)
        }
    }

    @Test(
        "the default body replaces a missing or empty body, or one with an empty localisation",
        arguments: [
            (#"{"title":"A"}"#, "No text"), (#"{"title":"A","body":""}"#, "No text"),
            (#"{"loc-key":"EMPTY"}"#, "No text"), (#"{"title":"A","body":"b"}"#, "b"),
        ])
    func defaultBody(alert: String, body: String) async throws {
        let payload = try TestPush(json: #"{"aps":{"alert":\#(alert)}}"#).sealed()
        let delivery = try await deliver(payload) { ($0.defaultBody, $0.strings) = ("No text", ["EMPTY": ""]) }
        #expect(delivery.content.body.literal == body)
        #expect(delivery.failure == nil)
    }

    @Test("a string table resolves keys of restored content and of placeholders")
    func strings() async throws {
        let inner = try TestPush(json: #"{"aps":{"alert":{"title":"A","loc-key":"SENT","loc-args":["Zoë"]}}}"#).sealed()
        let sent = try await deliver(inner) { $0.strings = ["SENT": "%@ wrote"] }
        #expect(sent.content.body == NotificationContent.Text(literal: "Zoë wrote"))
        let placeholder = try await deliver(inner, key: "other p256") {
            ($0.fallback, $0.strings) = (.bundled(.localized(title: "NEW", body: nil)), ["NEW": "Neu"])
        }
        #expect(placeholder.content.title == NotificationContent.Text(literal: "Neu"))
    }
}

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
        "of a push without a title, an unsealed one and one that isn't restored only what the recipient chose is shown",
        arguments: [
            (NotificationPreview.everything, ["finished", "Bu", "New message"]), (.titleOnly, ["Own", "Bu", "Own"]),
            (.nothing, ["Own", "Own", "Own"]),
        ])
    func withoutTitle(preview: NotificationPreview, titles: [String]) async throws {
        try choice.set(preview)
        let untitled = try await show(alert: #""Hi""#)
        let unsealed = try await show(Array(#"{"aps":{"alert":{"title":"Bu"},"badge":2}}"#.utf8)) {
            $0.unsealed = .shown(stages: [fileStage("added")])
        }
        let foreign = try await show(TestPush(key: "other p256").sealed())
        #expect([untitled, unsealed, foreign].map { $0.content.title.literal ?? "" } == titles)
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
