import Foundation
import PushCryptCore
import PushCryptExtension
import PushCryptSimulator
import PushCryptTestSupport
import Testing
import UserNotifications

@testable import PushCryptApple

@Suite struct NotificationServiceTests {
    private let channel: Channel

    init() throws {
        channel = try Channel(signed: true)
    }

    private func service(
        _ change: @escaping (inout ExtensionConfiguration) -> Void = { _ in }
    ) -> TestService {
        TestService { [channel] in try channel.configuration(change) }
    }

    @Test("a sealed push is shown with its text and userInfo")
    func restored() async throws {
        let payload = try channel.seal(#"{"aps":{"alert":{"title":"Zoë","body":"Hi"}},"n":[1,true]}"#)
        let shown = try service().receive(payload)
        let content = await shown.content()
        #expect(content.title == "Zoë")
        #expect(content.body == "Hi")
        #expect(content.userInfo["n"] as? NSArray == [1, true])
        #expect(content.userInfo["pushcrypt"] == nil)
        #expect(shown.count == 1)
    }

    @Test("members of the outer payload are not in the restored content")
    func outsideIsCleared() async throws {
        let sealed = try channel.seal(#"{"aps":{"alert":"Hi"}}"#)
        var outer = try #require(try JSONSerialization.jsonObject(with: Data(sealed)) as? [String: Any])
        var aps = try #require(outer["aps"] as? [String: Any])
        aps.merge(["badge": 9, "sound": "siren.caf", "category": "PAY", "thread-id": "t", "relevance-score": 1]) { $1 }
        aps.merge(["target-content-id": "x", "filter-criteria": "f", "interruption-level": "critical"]) { $1 }
        outer["aps"] = aps
        outer["url"] = "https://example.net"
        let content = try await service().receive(Array(JSONSerialization.data(withJSONObject: outer))).content()
        #expect(content.title == "")
        #expect(content.body == "Hi")
        #expect(content.badge == nil)
        #expect(content.sound == nil)
        #expect(content.categoryIdentifier == "")
        #expect(content.threadIdentifier == "")
        #expect(content.relevanceScore == 0)
        #expect(content.targetContentIdentifier == nil)
        #expect(content.filterCriteria == nil)
        #expect(content.interruptionLevel == .active)
        #expect(content.userInfo["url"] == nil)
    }

    @Test("an unsealed push shows the app's own text and no userInfo of the push")
    func unsealedIsRefused() async throws {
        let payload = Array(#"{"aps":{"alert":"Pay here","mutable-content":1,"category":"PAY"},"url":"x"}"#.utf8)
        let shown = try service { $0.fallback = .bundled(.literal(title: "Bundled", body: nil)) }
            .receive(payload)
        let content = await shown.content()
        #expect(content.title == "Bundled")
        #expect(content.body == "")
        #expect(content.categoryIdentifier == "")
        #expect(Array(content.userInfo.keys) == ["pushcrypt"])
        #expect(content.failure == "notSealed")
    }

    @Test("an unsealed push is shown if the configuration accepts it")
    func unsealedIsShownWhereAllowed() async throws {
        let payload = Array(#"{"aps":{"alert":"Hi","mutable-content":1}}"#.utf8)
        let content = try await service { $0.unsealed = .shown }.receive(payload).content()
        #expect(content.body == "Hi")
    }

    @Test("a push signed by another sender shows the placeholder as unknownKey")
    func forgedIsRefused() async throws {
        let other = try Channel(signed: true)
        let forged = Channel(record: channel.record, signer: other.signer)
        let content = try await service().receive(forged.seal(#"{"aps":{"alert":"Hi"}}"#)).content()
        #expect(content.title == "New message")
        #expect(content.failure == "unknownKey")
    }

    @Test("a key that the app lacks isn't shown: its literal text is, or else the app's own text")
    func missingKeys() async throws {
        let both = try channel.seal(#"{"aps":{"alert":{"body":"Hi","loc-key":"GREETING"}}}"#)
        #expect(try await service().receive(both).content().body == "Hi")
        let key = try channel.seal(#"{"aps":{"alert":{"loc-key":"GREETING"}}}"#)
        let content = try await service().receive(key).content()
        #expect(content.title == Placeholder.standard.title)
        #expect(content.failure == "malformed")
        struct Unreadable: Error {}
        let unconfigured = LocalizedService { throw Unreadable() }
        #expect(try await unconfigured.receive(both).content().title == Placeholder.standard.title)
    }

    @Test("keys are resolved with the app's strings, or with the configuration's strings if it has some")
    func keys() async throws {
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
        let shown = RecordedContents()
        service().didReceive(UNNotificationRequest(identifier: "1", content: content, trigger: nil)) {
            shown.handle($0)
        }
        #expect(await shown.content().failure == "malformed")
        #expect(await shown.content().title == "New message")
    }

    @Test("a push is delivered after its service was released")
    func serviceGoesBeforeTheContent() async throws {
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

    @Test("the session's deadline shows the content before a stuck stage")
    func deadlineOfTheSession() async throws {
        let payload = try channel.seal(#"{"aps":{"alert":{"title":"stuck"}}}"#)
        let stage = StuckStage()
        let timer = ManualTimer()
        let service = TestService { [channel] in try channel.configuration(timer: timer) { $0.stages = [stage] } }
        let shown = try service.receive(payload)
        await stage.started.wait()
        timer.fire()
        #expect(await shown.content().title == "stuck")
        stage.release.give()
    }
}

extension Channel {
    init(record: KeyRecord, signer: KeyRecord?) {
        self.record = record
        self.signer = signer
    }
}

extension UNNotificationContent {
    /// The failure class in `userInfo`; nil for restored content.
    var failure: String? { (userInfo["pushcrypt"] as? [String: Any])?["reason"] as? String }
}
