import Foundation
import PushCryptPrimitives
import PushCryptSimulator
import PushCryptTestSupport
import Testing
import UserNotifications

@testable import PushCryptApple

@Suite struct NotificationServiceTests {
    private let channel: Channel

    init() throws { channel = try Channel(signed: true) }

    private func service(_ change: @escaping (inout ExtensionConfiguration) -> Void = { _ in }) -> TestService {
        TestService { [channel] in try channel.configuration(change) }
    }

    private func shown(_ json: String) async throws -> UNNotificationContent {
        try await service().receive(channel.seal(json)).content()
    }

    @Test func `a sealed push is shown with its text and userInfo`() async throws {
        let payload = try channel.seal(#"{"aps":{"alert":{"title":"Zoë","body":"Hi"}},"n":[1,true]}"#)
        let shown = try service().receive(payload)
        let content = await shown.content()
        #expect(content.title == "Zoë" && content.body == "Hi" && shown.count == 1)
        #expect(content.userInfo["n"] as? NSArray == [1, true] && content.userInfo["pushcrypt"] == nil)
    }

    @Test func `members of the outer payload are not in the restored content`() async throws {
        let sealed = try channel.seal(#"{"aps":{"alert":"Hi"}}"#)
        var outer = try #require(try JSONSerialization.jsonObject(with: Data(sealed)) as? [String: Any])
        var aps = try #require(outer["aps"] as? [String: Any])
        aps.merge(["badge": 9, "sound": "siren.caf", "category": "PAY", "thread-id": "t", "relevance-score": 1]) { $1 }
        aps.merge(["target-content-id": "x", "filter-criteria": "f", "interruption-level": "critical"]) { $1 }
        outer["aps"] = aps
        outer["url"] = "https://example.net"
        let content = try await service().receive(Array(JSONSerialization.data(withJSONObject: outer))).content()
        #expect([content.title, content.body] == ["", "Hi"])
        #expect([content.categoryIdentifier, content.threadIdentifier] == ["", ""])
        #expect(content.badge == nil && content.sound == nil)
        #expect(content.relevanceScore == 0 && content.interruptionLevel == .active)
        #expect(content.targetContentIdentifier == nil && content.filterCriteria == nil)
        #expect(content.userInfo["url"] == nil)
    }

    @Test func `an unsealed push shows the app's own text, unless the configuration accepts it`() async throws {
        let payload = Array(#"{"aps":{"alert":"Pay here","mutable-content":1,"category":"PAY"},"url":"x"}"#.utf8)
        let service = service { $0.fallback = .bundled(.literal(title: "Bundled", body: nil)) }
        let content = try await service.receive(payload).content()
        #expect([content.title, content.body, content.categoryIdentifier] == ["Bundled", "", ""])
        #expect(Array(content.userInfo.keys) == ["pushcrypt"] && content.failure == "notSealed")
        let accepting = self.service { $0.unsealed = .shown }
        #expect(try await accepting.receive(payload).content().body == "Pay here")
    }

    @Test func `a key that the app lacks isn't shown: its literal text is, or else the app's own text`() async throws {
        let both = try channel.seal(#"{"aps":{"alert":{"body":"Hi","loc-key":"GREETING"}}}"#)
        #expect(try await service().receive(both).content().body == "Hi")
        let content = try await shown(#"{"aps":{"alert":{"loc-key":"GREETING"}}}"#)
        #expect(content.title == Placeholder.standard.title && content.failure == "malformed")
        let unconfigured = LocalizedService { throw CancellationError() }
        #expect(try await unconfigured.receive(both).content().title == Placeholder.standard.title)
    }

    @Test func `keys are resolved with the configuration's strings, or else with the app's`() async throws {
        let payload = try channel.seal(#"{"aps":{"alert":{"loc-key":"GREETING","loc-args":["Zoë"]}}}"#)
        let app = service()
        app.appStrings = { ["GREETING": "Hi %@"] }
        #expect(try await app.receive(payload).content().body == "Hi Zoë")
        let own = service { $0.strings = ["GREETING": "Hello %@"] }
        own.appStrings = { ["GREETING": "Hi %@"] }
        #expect(try await own.receive(payload).content().body == "Hello Zoë")
        let unconfigured = LocalizedService { throw CancellationError() }
        unconfigured.appStrings = { ["NEW": "Neu"] }
        #expect(try await unconfigured.receive(payload).content().title == "Neu")
    }

    private final class LocalizedService: TestService {
        override var unconfiguredText: Placeholder { .localized(title: "NEW", body: nil) }
    }

    @Test(
        "userInfo that isn't JSON is malformed and doesn't raise an exception",
        arguments: [["n": Double.infinity], ["n": Date()]] as [[String: any Sendable]])
    func notJSON(_ userInfo: [String: any Sendable]) async throws {
        let content = UNMutableNotificationContent()
        content.userInfo = userInfo
        let request = UNNotificationRequest(identifier: "1", content: content, trigger: nil)
        let shown = await service().receive(request).content()
        #expect(shown.failure == "malformed" && shown.title == "New message")
    }

    @Test func `a push is delivered after its service was released`() async throws {
        let payload = try channel.seal(#"{"aps":{"alert":{"title":"stuck"}}}"#)
        let stage = StuckStage()
        var service: TestService? = self.service { $0.stages = [stage] }
        let shown = try #require(try service?.receive(payload))
        await stage.started.wait()
        service = nil
        #expect(shown.count == 0)
        stage.release.give()
        #expect(await shown.content().title == "too late")
    }
}

extension UNNotificationContent {
    /// The failure class in `userInfo`; nil for restored content.
    var failure: String? { (userInfo["pushcrypt"] as? [String: Any])?["reason"] as? String }
}

/// An attachment that the system refuses, and what the service's log says about it.
@Suite struct RefusedAttachmentTests {
    private let place: TemporaryFolder
    private let channel: Channel

    init() throws {
        place = try TemporaryFolder()
        channel = try Channel()
    }

    /// Attaches a picture, and one that is longer than the system accepts.
    private struct Pictures: ContentStage {
        let place: TemporaryFolder
        let name = "pictures"

        func process(_ content: NotificationContent, of push: OpenedPush) async throws -> NotificationContent {
            var content = content
            for (name, byteCount) in [("good.png", 100), ("long.png", 11 << 20)] {
                try Data().write(to: place.file(name))
                let file = try FileHandle(forWritingTo: place.file(name))
                try file.truncate(atOffset: UInt64(byteCount))
                try file.close()
                content.attachments.append(.init(identifier: name, path: place.file(name).path, type: .png))
            }
            return content
        }
    }

    private final class LoggingService: TestService {
        let lines = Locked<[String]>([])

        override var log: (any DeliveryReporter)? {
            DeliveryLog { [lines] line in lines.withLock { $0.append(line) } }
        }
    }

    @Test func `a refused attachment is reported as attachmentFailed, and its file is removed`() async throws {
        let counted = RecordedReports()
        let service = LoggingService { [channel, place] in
            var configuration = try channel.configuration()
            configuration.attachments = Pictures(place: place)
            configuration.diagnostics = counted
            return configuration
        }
        let content = try await service.receive(channel.seal(#"{"aps":{"alert":"secret text"}}"#)).content()
        #expect(content.body == "secret text" && content.attachments.map(\.identifier) == ["good.png"])
        #expect(await counted.failures() == [.attachmentFailed])
        #expect(FileManager.default.fileExists(atPath: place.file("good.png").path))
        #expect(!FileManager.default.fileExists(atPath: place.file("long.png").path))
        // The line is written after the other report.
        while service.lines.withLock({ $0.isEmpty }) { await Task.yield() }
        let lines = service.lines.withLock { $0 }
        let line = try #require(lines.first)
        #expect(lines.count == 1 && line.hasPrefix("attachmentFailed, text opened, in "))
        #expect(line.contains("pictures ") && !line.contains("secret"))
    }
}
