import Foundation
import PushCryptSimulator
import Testing

/// Requests that APNs refuses, or that don't reach the extension.
@Suite("diagnose: the request to APNs", .ownThreads)
struct DiagnoseRequestTests {
    private static let topic = InstalledApp.topic

    private func headers(_ app: InstalledApp, _ members: [String: Any]) throws -> String {
        let usual: [String: Any] = ["apns-topic": Self.topic, "apns-push-type": "alert", "apns-priority": 10]
        return try app.write(
            Payload.data(usual.merging(members) { $1 }.filter { !($0.value is NSNull) }), to: "headers.json")
    }

    /// Topic, type and collapse id of requests that APNs refuses, or with which the push isn't shown.
    static let refused = [
        ([InstalledApp.extensionID, "alert"], "topic-wrong", InstalledApp.extensionID),
        (["", "alert"], "topic-wrong", "no apns-topic"),
        ([topic + " ", "alert"], "topic-wrong", "with white space at the end"),
        (["com.example.my_app", "alert"], "topic-wrong", "a character other than"),
        (["com..example", "alert"], "topic-wrong", "two dots in a row, or a dot at an end"),
        ([topic, "background"], "header-wrong", "is background"), ([topic, ""], "header-wrong", "no apns-push-type"),
        ([topic, "alert", String(repeating: "x", count: 65)], "header-wrong", "a value of 65 bytes"),
    ]

    @Test(
        "a request that isn't right: the device doesn't show the push, and the header is the cause", arguments: refused)
    func refusedRequest(_ values: [String], _ cause: String, _ seen: String) async throws {
        let app = try await InstalledApp()
        let push = try app.seal()
        let headers = PushHeaders(
            topic: values[0], pushType: values[1], collapseID: values.count > 2 ? values[2] : nil)
        let reception = await app.fail(push, headers)
        func value(_ text: String?) -> Any { text.flatMap { $0.isEmpty ? nil : $0 } ?? NSNull() }
        var members: [String: Any] = [
            "apns-topic": value(headers.topic), "apns-push-type": value(headers.pushType),
            "apns-collapse-id": value(headers.collapseID),
        ]
        if let refusal = reception.refusal {
            (members[":status"], members["reason"]) = (refusal.status, refusal.reason)
        }
        let diagnosed = try app.diagnose(push, "--topic", Self.topic, "--headers", self.headers(app, members))
        #expect(diagnosed.cause == cause, "\(diagnosed.text)")
        #expect(diagnosed.first.evidence.joined().contains(seen), "\(diagnosed.text)")
    }

    @Test(
        "a header's value has a severity: what APNs refuses or drops, what may be late, and what is allowed",
        arguments: [
            ("apns-priority", "7", "error", "refuses this priority"),
            ("apns-priority", "5", "note", "later, to save power"),
            ("apns-expiration", "1800000000.5", "error", "isn't a whole number"),
            ("apns-expiration", "1800000060000", "error", "in milliseconds"),
            ("apns-expiration", "86400", "error", "a duration"), ("apns-expiration", "0", "note", "off line"),
            ("apns-expiration", "1799999940", "warning", "has passed"),
            ("apns-expiration", "1802592001", "warning", "later than the end of the message"),
        ])
    func value(_ header: String, _ value: String, _ severity: String, _ words: String) async throws {
        let app = try await InstalledApp()
        let diagnosed = try app.diagnose(
            app.seal(), "--keys", app.keyFile(), "--topic", Self.topic, "--headers", headers(app, [header: value]))
        #expect(diagnosed.names == ["header-wrong"] && diagnosed.first.severity == severity, "\(diagnosed.text)")
        #expect(diagnosed.first.cause.contains(words), "\(diagnosed.text)")
    }

    @Test("a topic that looks like an extension's is a warning if no input names the app")
    func perhapsExtension() async throws {
        let app = try await InstalledApp()
        let file = try headers(app, ["apns-topic": InstalledApp.extensionID])
        let diagnosed = try app.diagnose(app.seal(), "--headers", file)
        #expect(diagnosed.errors == [] && diagnosed.warnings == ["topic-wrong"], "\(diagnosed.text)")
    }

    @Test(
        "headers are read as JSON in the forms that libraries write, and as the lines of curl",
        arguments: [
            #"{"Apns-Topic":["com.example.app"],"Apns-Push-Type":["background"],":status":400,"reason":"BadPriority"}"#,
            #"{"status":400,"reason":"BadPriority","headers":{"apns-topic":"com.example.app","apns-push-type":["background"]}}"#,
            #"{"apns-topic":"com.example.app","apns-push-type":"background"}"# + "\n" + #"{"reason":"BadPriority"}"#,
            """
            * using HTTP/2\r\n* [HTTP/2] [1] [:path: /3/device/00fc13ad]\r
            > POST /3/device/00fc13ad HTTP/2\r\n> Host: api.sandbox.push.apple.com\r
            > apns-topic: com.example.app\r\n> apns-push-type: background\r\n> authorization: bearer SECRET\r
            } [720 bytes data]\r\n< HTTP/2 400 \r\n< \r
            {"reason":"BadPriority"}* Connection #0 to host api.sandbox.push.apple.com left intact
            {"level":"info"}
            """,
        ])
    func forms(_ text: String) async throws {
        let app = try await InstalledApp()
        let file = try app.write(Data(text.utf8), to: "headers")
        let diagnosed = try app.diagnose(app.seal(), "--topic", Self.topic, "--headers", file)
        #expect(diagnosed.errors == ["header-wrong", "apns-refused"], "\(diagnosed.text)")
        #expect(diagnosed.text.contains("BadPriority") && !diagnosed.text.contains("SECRET"), "\(diagnosed.text)")
    }

    @Test(
        "with only APNs' answer nothing is said about the headers of the request",
        arguments: [
            (#"{":status":400,"reason":"MissingTopic"}"#, ["apns-refused"]),
            ("< HTTP/2 400\n< apns-id: 9D9E5C5B\n{\"reason\":\"BadTopic\"}", ["apns-refused"]),
            (#"{":status":200}"#, []),
        ])
    func answerOnly(_ text: String, _ errors: [String]) async throws {
        let app = try await InstalledApp()
        let file = try app.write(Data(text.utf8), to: "answer")
        let diagnosed = try app.diagnose(app.seal(), "--topic", Self.topic, "--headers", file)
        #expect(diagnosed.names == errors, "\(diagnosed.text)")
    }

    @Test("a line with payload and headers, as simulate reads it, is read as both")
    func requestLineOfSimulate() async throws {
        let app = try await InstalledApp()
        func line(_ headers: [String: Any]) throws -> Data {
            try Payload.data(["payload": Payload.object(app.seal()), "headers": headers])
        }
        #expect(try app.diagnose(line(["apns-topic": Self.topic, "apns-push-type": "alert"])).found.isEmpty)
        let wrong = try line(["Apns-Topic": Self.topic, "apns-push-type": "background"])
        #expect(try app.diagnose(wrong).errors == ["header-wrong"])
        #expect(try app.diagnose(line(["x": "y"])).errors == ["payload-wrapped"])
        let both = try app.place.run("diagnose", "--headers", headers(app, [:]), stdin: wrong)
        #expect(both.exit == 64 && both.stderr.contains("so --headers can't be given"), "\(both)")
        expectRefusal(
            try app.place.run("diagnose", stdin: line(["apns-topic": [String: Any]()])), 65,
            saying: "stdin: apns-topic isn't a string")
    }

    @Test("a file that has no headers is refused, with what it is", arguments: ["curl failed\n", "[]", "report"])
    func noHeaders(_ text: String) async throws {
        let app = try await InstalledApp()
        try app.writeReport()
        let file = try text == "report" ? "report.json" : app.write(Data(text.utf8), to: "headers.txt")
        let output = try app.place.run(["diagnose", "--headers", file], stdin: app.seal())
        expectRefusal(output, 65, saying: text == "report" ? "--report" : "apns-topic")
    }

    /// The simulated APNs has no environments or provider tokens, so these are the documented answers.
    @Test(
        "a refusal of APNs has advice for its reason",
        arguments: [
            (400, "BadDeviceToken", "other environment"), (400, "TopicDisallowed", "bundle identifier"),
            (403, "ExpiredProviderToken", "20 to 60 minutes"), (410, "Unregistered", "Delete this token"),
            (429, "TooManyRequests", "later"), (400, "SomethingNew", "Handling notification responses from APNs"),
        ])
    func refusal(status: Int, reason: String, advice: String) async throws {
        let app = try await InstalledApp()
        try ProjectFolder().write(to: app.place)
        let file = try headers(app, [":status": status, "reason": reason])
        let diagnosed = try app.diagnose(app.seal(), "--headers", file, "--app", "Project")
        #expect(diagnosed.errors == ["apns-refused"] && diagnosed.first.advice.contains(advice), "\(diagnosed.text)")
        #expect(diagnosed.first.evidence.joined().contains("\(status) \(reason)"), "\(diagnosed.text)")
        let hasEnvironment = diagnosed.text.contains("aps-environment is development")
        #expect(hasEnvironment == (reason == "BadDeviceToken"), "\(diagnosed.text)")
    }

    @Test("a header's value that may be content isn't printed")
    func content() async throws {
        let app = try await InstalledApp()
        let file = try headers(app, ["apns-priority": "Private words", "apns-push-type": "Private words"])
        let diagnosed = try app.diagnose(app.seal(), "--headers", file)
        #expect(diagnosed.errors == ["header-wrong", "header-wrong"] && !diagnosed.text.contains("Private"))
    }
}
