import Foundation
import PushCryptCore
import PushCryptExtension
import PushCryptNotifications
import PushCryptPrimitives
import PushCryptSender
import PushCryptSimulator
import PushCryptTestSupport
import Testing

/// Requests that APNs refuses, or that don't reach the extension.
@Suite("diagnose: the request to APNs", .ownThreads)
struct DiagnoseRequestTests {
    private static let topic = InstalledApp.topic

    private func headers(_ app: InstalledApp, _ members: [String: Any]) throws -> String {
        let usual: [String: Any] = ["apns-topic": Self.topic, "apns-push-type": "alert", "apns-priority": 10]
        return try app.write(
            Relay.data(usual.merging(members) { $1 }.filter { !($0.value is NSNull) }), to: "headers.json")
    }

    @Test("the extension's bundle identifier as apns-topic is refused by APNs, and the topic is the only error")
    func extensionTopic() async throws {
        let app = try await InstalledApp()
        let push = try app.seal()
        let refusal = try #require(await app.fail(push, PushHeaders(topic: InstalledApp.extensionID)).refusal)
        let answer =
            ["apns-topic": InstalledApp.extensionID, ":status": refusal.status, "reason": refusal.reason]
            as [String: Any]
        let file = try headers(app, answer)
        #expect(try app.diagnose(push, "--topic", Self.topic, "--headers", file).errors == ["topic-is-extension"])
        try app.writeReport()
        let diagnosed = try app.diagnose(push, "--report", "report.json", "--headers", file)
        #expect(diagnosed.errors == ["topic-is-extension"], "\(diagnosed.text)")
    }

    @Test("another app's topic is refused by APNs")
    func otherTopic() async throws {
        let app = try await InstalledApp()
        let push = try app.seal()
        let refusal = try #require(await app.fail(push, PushHeaders(topic: "com.example.other")).refusal)
        let file = try headers(
            app, ["apns-topic": "com.example.other", ":status": refusal.status, "reason": refusal.reason])
        #expect(try app.diagnose(push, "--topic", Self.topic, "--headers", file).errors == ["topic-differs"])
        #expect(try app.diagnose(push, "--headers", file).errors == ["apns-device-token-not-for-topic"])
    }

    @Test("a background push, and a request without a push type, don't reach the extension")
    func pushType() async throws {
        let app = try await InstalledApp()
        let push = try app.seal()
        await app.fail(push, PushHeaders(topic: Self.topic, pushType: "background"))
        #expect(
            try app.diagnose(push, "--headers", headers(app, ["apns-push-type": "background"])).errors == [
                "push-type-wrong"
            ])
        await app.fail(push, PushHeaders(topic: Self.topic, pushType: ""))
        #expect(
            try app.diagnose(push, "--headers", headers(app, ["apns-push-type": NSNull()])).errors == [
                "push-type-missing"
            ])
    }

    @Test("a request without a topic")
    func noTopic() async throws {
        let app = try await InstalledApp()
        let push = try app.seal()
        let refusal = try #require(await app.fail(push, PushHeaders(topic: "")).refusal)
        let file = try headers(app, ["apns-topic": NSNull(), ":status": refusal.status, "reason": refusal.reason])
        #expect(try app.diagnose(push, "--headers", file, "--topic", Self.topic).errors == ["topic-missing"])
    }

    @Test("a collapse id that APNs refuses")
    func collapseID() async throws {
        let app = try await InstalledApp()
        let push = try app.seal()
        let id = String(repeating: "x", count: 65)
        let refusal = try #require(await app.fail(push, PushHeaders(topic: Self.topic, collapseID: id)).refusal)
        let file = try headers(app, ["apns-collapse-id": id, ":status": refusal.status, "reason": refusal.reason])
        #expect(try app.diagnose(push, "--headers", file).errors == ["collapse-id-too-long"])
    }

    @Test("a push that APNs kept until it had expired")
    func expiration() async throws {
        let app = try await InstalledApp()
        let push = try app.seal()
        app.device.goOffline()
        let end = app.clock.time + 60
        await app.fail(push, PushHeaders(topic: Self.topic, expiration: end))
        app.clock.advance(by: .seconds(120))
        #expect(await app.device.goOnline() == nil)
        let file = try headers(app, ["apns-expiration": "\(end.seconds)"])
        let late = try app.diagnose(push, "--headers", file)
        #expect(late.errors == [] && late.warnings == ["expiration-passed"], "\(late.text)")
    }

    @Test("headers as curl -v shows them are read")
    func headerLines() async throws {
        let app = try await InstalledApp()
        let text = """
            > apns-topic: \(Self.topic)
            > apns-push-type: background
            > authorization: bearer SECRET
            < HTTP/2 400
            {"reason":"BadDeviceToken"}
            {"time_total":0.2}
            """
        let file = try app.write(Data(text.utf8), to: "headers.txt")
        let diagnosed = try app.diagnose(app.seal(), "--topic", Self.topic, "--headers", file)
        #expect(Set(diagnosed.errors) == ["push-type-wrong", "apns-bad-device-token"], "\(diagnosed.text)")
        #expect(!diagnosed.text.contains("SECRET"))
    }

    @Test("text without headers is refused with an example of headers")
    func noHeaders() async throws {
        let app = try await InstalledApp()
        let file = try app.write(Data("curl failed\n".utf8), to: "headers.txt")
        let output = try app.place.run(["diagnose", "--headers", file], stdin: app.seal())
        #expect(output.exit == 65 && output.hasOneLineOnStderr && output.stderr.contains("apns-topic"), "\(output)")
    }

    @Test("a report given as the headers is refused as what it is")
    func reportAsHeaders() async throws {
        let app = try await InstalledApp()
        try app.writeReport()
        let output = try app.place.run(["diagnose", "--headers", "report.json"], stdin: app.seal())
        #expect(output.exit == 65 && output.hasOneLineOnStderr, "\(output)")
        #expect(output.stderr.contains("isn't a request's headers") && output.stderr.contains("--report"), "\(output)")
    }

    @Test("a topic with white space at its end is refused by APNs, and the white space is the only error")
    func whiteSpace() async throws {
        let app = try await InstalledApp()
        let push = try app.seal()
        let topic = Self.topic + " "
        let refusal = try #require(await app.fail(push, PushHeaders(topic: topic)).refusal)
        let file = try headers(app, ["apns-topic": topic, ":status": refusal.status, "reason": refusal.reason])
        for inputs in [["--topic", Self.topic], []] {
            let diagnosed = try Diagnosed(app.place, push, ["--headers", file] + inputs, at: app.clock.time)
            #expect(diagnosed.errors == ["topic-white-space"], "\(diagnosed.text)")
            #expect(diagnosed.text.contains("com.example.app, with white space at the end"), "\(diagnosed.text)")
        }
    }

    @Test("a refusal as too large of a payload that isn't: another payload was sent")
    func anotherPayload() async throws {
        let app = try await InstalledApp()
        let push = try app.seal()
        let sent = try Relay.rebuilt(push) { $0["trace"] = String(repeating: "x", count: 4_000) }
        let refusal = try #require(await app.fail(sent).refusal)
        let file = try headers(app, [":status": refusal.status, "reason": refusal.reason])
        let diagnosed = try app.diagnose(push, "--headers", file)
        let found = try #require(diagnosed.found.first)
        #expect(diagnosed.errors == ["apns-payload-too-large"] && found.cause.contains("another payload"))
        #expect(found.evidence.contains("payload: \(push.count) bytes, within the limit of 4096"), "\(diagnosed.text)")
    }

    @Test("an expiration in milliseconds is an error that names milliseconds")
    func milliseconds() async throws {
        let app = try await InstalledApp()
        let file = try headers(app, ["apns-expiration": (app.clock.time + 60).seconds * 1_000])
        #expect(try app.diagnose(app.seal(), "--headers", file).errors == ["expiration-in-milliseconds"])
    }

    @Test("a header's value that may be content isn't printed")
    func content() async throws {
        let app = try await InstalledApp()
        let file = try headers(app, ["apns-priority": "Private words", "apns-push-type": "Private words"])
        let diagnosed = try app.diagnose(app.seal(), "--headers", file)
        #expect(Set(diagnosed.errors) == ["priority-invalid", "push-type-wrong"])
        #expect(!diagnosed.text.contains("Private"), "\(diagnosed.text)")
    }

    @Test("a topic that looks like an extension's is a warning if no input names the app")
    func perhapsExtension() async throws {
        let app = try await InstalledApp()
        let file = try headers(app, ["apns-topic": InstalledApp.extensionID])
        let diagnosed = try app.diagnose(app.seal(), "--headers", file)
        #expect(diagnosed.errors == [] && diagnosed.warnings == ["topic-may-be-extension"], "\(diagnosed.text)")
    }

    @Test("a token of a deleted app is refused by APNs")
    func unregistered() async throws {
        let app = try await InstalledApp()
        let push = try app.seal()
        app.device.deleteApp()
        let refusal = try #require(await app.fail(push).refusal)
        let file = try headers(app, [":status": refusal.status, "reason": refusal.reason])
        #expect(try app.diagnose(push, "--headers", file).errors == ["apns-unregistered"])
    }

    @Test("a payload over the limit is refused by APNs, and its size is the only error")
    func tooLarge() async throws {
        let app = try await InstalledApp()
        let push = try Relay.rebuilt(app.seal()) { $0["trace"] = String(repeating: "x", count: 4_000) }
        let refusal = try #require(await app.fail(push).refusal)
        let file = try headers(app, [":status": refusal.status, "reason": refusal.reason])
        #expect(try app.diagnose(push, "--headers", file).errors == ["payload-too-large"])
    }

    /// The simulated APNs has no environments or provider tokens, so these are the documented answers.
    @Test(
        "each documented refusal of APNs has a name and advice",
        arguments: [
            (400, "BadDeviceToken", "apns-bad-device-token"),
            (403, "BadEnvironmentKeyInToken", "apns-bad-environment-key-in-token"),
            (403, "ExpiredProviderToken", "apns-expired-provider-token"),
            (403, "InvalidProviderToken", "apns-invalid-provider-token"),
            (400, "TopicDisallowed", "apns-topic-disallowed"),
            (410, "ExpiredToken", "apns-expired-token"), (429, "TooManyRequests", "apns-too-many-requests"),
            (400, "SomethingNew", "apns-refused"),
        ])
    func refusal(status: Int, reason: String, name: String) async throws {
        let app = try await InstalledApp()
        let file = try headers(app, [":status": status, "reason": reason])
        let diagnosed = try app.diagnose(app.seal(), "--headers", file, "--topic", Self.topic)
        #expect(diagnosed.errors == [name] && diagnosed.text.contains(reason), "\(diagnosed.text)")
    }

    @Test("a development token at the production server names the entitlement of the project")
    func environment() async throws {
        let app = try await InstalledApp()
        try ProjectFiles.healthy.write(to: app.place)
        let file = try headers(app, [":status": 400, "reason": "BadDeviceToken"])
        let diagnosed = try app.diagnose(app.seal(), "--headers", file, "--app", "Project")
        #expect(diagnosed.errors == ["apns-bad-device-token"])
        #expect(diagnosed.text.contains("aps-environment is development"), "\(diagnosed.text)")
    }
}
