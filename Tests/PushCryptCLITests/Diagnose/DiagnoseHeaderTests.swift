import Foundation
import PushCryptCore
import PushCryptSimulator
import PushCryptTestSupport
import Testing

/// The forms in which the headers of a request are logged, and what single headers say.
@Suite("diagnose: headers", .ownThreads)
struct DiagnoseHeaderTests {
    private func diagnose(_ app: InstalledApp, _ headers: [String: Any], _ more: String...) throws -> Diagnosed {
        let usual: [String: Any] = ["apns-topic": InstalledApp.topic, "apns-push-type": "alert"]
        let file = try app.write(Relay.data(usual.merging(headers) { $1 }), to: "headers.json")
        return try Diagnosed(app.place, app.seal(), ["--headers", file] + more, at: app.clock.time)
    }

    @Test(
        "headers as arrays of one string, and headers in a member of their own, are read",
        arguments: [
            #"{"Apns-Topic":["com.example.app"],"Apns-Push-Type":["alert"],":status":400,"reason":"BadPriority"}"#,
            #"{"status":400,"reason":"BadPriority","headers":{"apns-topic":"com.example.app","apns-push-type":["alert"]}}"#,
            #"{"apns-topic":"com.example.app","apns-push-type":"alert","apns-id":null,":status":400,"reason":"BadPriority"}"#,
        ])
    func forms(_ json: String) async throws {
        let app = try await InstalledApp()
        let file = try app.write(Data(json.utf8), to: "headers.json")
        let diagnosed = try app.diagnose(app.seal(), "--headers", file)
        #expect(diagnosed.errors == ["apns-bad-priority"], "\(diagnosed.text)")
    }

    @Test("with the answer of APNs and without a payload the answer comes first, and the payload is only a warning")
    func withoutPayload() async throws {
        let app = try await InstalledApp()
        let file = try app.write(Data(#"{"reason":"BadDeviceToken"}"#.utf8), to: "answer")
        let diagnosed = try app.diagnose(Data(), "--headers", file)
        #expect(diagnosed.found.map(\.name) == ["apns-bad-device-token", "payload-empty"], "\(diagnosed.text)")
        #expect(diagnosed.errors == ["apns-bad-device-token"])
    }

    @Test("a header that is neither a text nor a number is refused with its name", arguments: ["[1,2]", "{}", "true"])
    func wrongKind(_ value: String) async throws {
        let app = try await InstalledApp()
        let file = try app.write(Data(#"{"apns-topic":\#(value),":status":400}"#.utf8), to: "headers.json")
        let output = try app.place.run(["diagnose", "--headers", file], stdin: app.seal())
        #expect(output.exit == 65 && output.hasOneLineOnStderr && output.stderr.contains("apns-topic"), "\(output)")
    }

    @Test(
        "with only APNs' answer nothing is said about the headers of the request, and they aren't called checked",
        arguments: [
            (
                #"{":status":400,"reason":"BadDeviceToken","apns-id":"9D9E5C5B-7E29-4D0A-9D0C-0F8B6F3E3C11"}"#,
                ["apns-bad-device-token"]
            ),
            (#"{":status":403}"#, ["apns-refused"]),
            (#"{":status":400,"reason":"MissingTopic"}"#, ["apns-missing-topic"]),
            (#"{"reason":"BadDeviceToken"}"#, ["apns-bad-device-token"]), (#"{":status":200}"#, []),
            (
                "< HTTP/2 400\n< apns-id: 9D9E5C5B-7E29-4D0A-9D0C-0F8B6F3E3C11\n{\"reason\":\"BadTopic\"}",
                ["apns-bad-topic"]
            ),
        ])
    func answerOnly(_ text: String, _ errors: [String]) async throws {
        let app = try await InstalledApp()
        let file = try app.write(Data(text.utf8), to: "answer")
        let diagnosed = try app.diagnose(app.seal(), "--topic", InstalledApp.topic, "--headers", file)
        #expect(diagnosed.found.map(\.name) == errors, "\(diagnosed.text)")
        guard errors.isEmpty else { return }
        #expect(!diagnosed.checked.contains("the headers of the request"), "\(diagnosed.text)")
        #expect(diagnosed.notChecked.contains("--headers whether the request has this topic"), "\(diagnosed.text)")
        #expect(diagnosed.notChecked.contains("the headers of the request"), "\(diagnosed.text)")
    }

    @Test(
        "a request as curl -v shows it is read, also if it has no header for APNs, and if curl's next line follows the answer",
        arguments: [
            (["> apns-topic: com.example.app", "> apns-push-type: alert"], ["apns-bad-device-token"]),
            (["> apns-topic: com.example.app"], ["push-type-missing", "apns-bad-device-token"]),
            ([], ["push-type-missing", "apns-bad-device-token"]),
        ])
    func curl(_ headers: [String], _ errors: [String]) async throws {
        let app = try await InstalledApp()
        let lines =
            [
                "* Connected to api.sandbox.push.apple.com (17.188.143.34) port 443", "* using HTTP/2",
                "* [HTTP/2] [1] [:path: /3/device/00fc13ad]", "> POST /3/device/00fc13ad HTTP/2",
                "> Host: api.sandbox.push.apple.com", "> User-Agent: curl/8.5.0", "> Accept: */*",
            ] + headers + [
                "> Content-Length: 720", "> ", "} [720 bytes data]", "< HTTP/2 400 ",
                "< apns-id: 9D9E5C5B-7E29-4D0A-9D0C-0F8B6F3E3C11", "< ",
                "{\"reason\":\"BadDeviceToken\"}* Connection #0 to host api.sandbox.push.apple.com left intact",
            ]
        let file = try app.write(Data(lines.joined(separator: "\r\n").utf8), to: "curl.txt")
        #expect(try app.diagnose(app.seal(), "--headers", file).errors == errors)
    }

    @Test(
        "the times and numbers that curl adds with --trace-time and --trace-ids are skipped",
        arguments: ["12:34:56.123456 ", "12:34:56.123456 [0-0] ", "[0-x] "])
    func traceTime(_ prefix: String) async throws {
        let app = try await InstalledApp()
        let lines =
            [
                "> POST /3/device/00fc13ad HTTP/2", "> apns-topic: com.example.app", "> apns-push-type: background",
                "< HTTP/2 400",
            ]
            .map { prefix + $0 } + [#"{"reason":"BadDeviceToken"}"#]
        let file = try app.write(Data(lines.joined(separator: "\n").utf8), to: "curl.txt")
        #expect(
            try app.diagnose(app.seal(), "--headers", file).errors == ["push-type-wrong", "apns-bad-device-token"])
    }

    @Test("a line with payload and headers, as simulate reads it, is read as both, and a note says so")
    func requestLineOfSimulate() async throws {
        let app = try await InstalledApp()
        func line(_ headers: [String: Any]) throws -> Data {
            try Relay.data(["payload": Relay.object(app.seal()), "headers": headers])
        }
        let good = try app.diagnose(line(["apns-topic": "com.example.app", "apns-push-type": "alert"]))
        #expect(good.errors == [] && good.found.map(\.name) == ["payload-with-headers"], "\(good.text)")
        let wrong = try app.diagnose(line(["Apns-Topic": "com.example.app", "apns-push-type": "background"]))
        #expect(wrong.errors == ["push-type-wrong"], "\(wrong.text)")
        let noHeaders = try app.diagnose(line(["x": "y"]))
        #expect(noHeaders.errors == ["payload-wrapped"], "\(noHeaders.text)")
    }

    @Test("a line with headers and --headers is a usage error, and a header of a wrong kind is refused")
    func twoHeaders() async throws {
        let app = try await InstalledApp()
        let file = try app.write(Relay.data(["apns-topic": "com.example.app"]), to: "headers.json")
        let line = #"{"payload":{"aps":{}},"headers":{"apns-topic":"com.example.app"}}"#
        let both = try app.place.run("diagnose", "--headers", file, stdin: Data(line.utf8))
        #expect(both.exit == 64 && both.stderr.contains("so --headers can't be given"), "\(both)")
        let wrong = line.replacing(#""com.example.app""#, with: "{}")
        expectRefusal(
            try app.place.run("diagnose", stdin: Data(wrong.utf8)), 65, saying: "stdin: apns-topic isn't a string")
    }

    @Test("the headers and the answer as JSON on a line each are both read")
    func jsonLines() async throws {
        let app = try await InstalledApp()
        let text =
            #"{"apns-topic":"com.example.app","apns-push-type":"background"}"# + "\n" + #"{"reason":"BadDeviceToken"}"#
        let file = try app.write(Data(text.utf8), to: "log")
        #expect(try app.diagnose(app.seal(), "--headers", file).errors == ["push-type-wrong", "apns-bad-device-token"])
    }

    @Test("a request that has only the line POST and its host has neither topic nor push type")
    func requestLine() async throws {
        let app = try await InstalledApp()
        let text = "> POST /3/device/00fc13ad HTTP/2\n> host: api.push.apple.com\n"
        let file = try app.write(Data(text.utf8), to: "curl.txt")
        #expect(try app.diagnose(app.seal(), "--headers", file).errors == ["topic-missing", "push-type-missing"])
    }

    @Test(
        "an apns-topic that no app can have is the only error, and its flaw is named",
        arguments: [
            ("com.example.my_app", "a character other than"), ("com/example/app", "a character other than"),
            ("com.exämple.app", "a character other than"),
            ("com.example.app.", "two dots in a row, or a dot at an end"),
            ("com..example", "two dots in a row, or a dot at an end"),
            (String(repeating: "a", count: 156), "156 characters"),
            ("$(PRODUCT_BUNDLE_IDENTIFIER)", "a character other than"),
        ])
    func impossibleTopic(_ topic: String, _ flaw: String) async throws {
        let app = try await InstalledApp()
        for more in [[], ["--topic", InstalledApp.topic]] {
            let headers =
                ["apns-topic": topic, "apns-push-type": "alert", ":status": 400, "reason": "BadTopic"] as [String: Any]
            let file = try app.write(Relay.data(headers), to: "headers.json")
            let diagnosed = try Diagnosed(app.place, app.seal(), ["--headers", file] + more, at: app.clock.time)
            #expect(diagnosed.errors == ["topic-impossible"], "\(diagnosed.text)")
            #expect(diagnosed.first.evidence.joined().contains(flaw), "\(diagnosed.text)")
        }
    }

    @Test("a line of JSON without a reason leaves the reason of an earlier line")
    func earlierReason() async throws {
        let app = try await InstalledApp()
        let text = """
            > apns-topic: \(InstalledApp.topic)
            > apns-push-type: alert
            < HTTP/2 400
            {"reason":"BadDeviceToken"}
            {"level":"info"}
            """
        let file = try app.write(Data(text.utf8), to: "headers.txt")
        #expect(try app.diagnose(app.seal(), "--headers", file).errors == ["apns-bad-device-token"])
    }

    @Test(
        "an apns-expiration that isn't a whole number is an error",
        arguments: ["2026-12-01T00:00:00Z", "1.8e9", "1800000000.5"])
    func expirationInvalid(_ value: String) async throws {
        let diagnosed = try diagnose(await InstalledApp(), ["apns-expiration": value])
        #expect(diagnosed.errors == ["expiration-invalid"], "\(diagnosed.text)")
    }

    @Test("a refused apns-expiration is the error, although a warning says that it has passed")
    func expirationRefused() async throws {
        let app = try await InstalledApp()
        let passed = "\((app.clock.time - 60).seconds)"
        let diagnosed = try diagnose(
            app, ["apns-expiration": passed, ":status": 400, "reason": "BadExpirationDate"])
        #expect(diagnosed.errors == ["apns-bad-expiration-date"], "\(diagnosed.text)")
        #expect(diagnosed.warnings == ["expiration-passed"], "\(diagnosed.text)")
    }

    @Test("an apns-expiration after the end of the message is a warning, and one at its end isn't")
    func expirationAfterMessage() async throws {
        let app = try await InstalledApp()
        let end = app.clock.time.seconds + 30 * 86_400
        for (time, expected) in [(end, []), (end + 1, ["expiration-after-message"])] {
            let diagnosed = try diagnose(
                app, ["apns-expiration": "\(time)"], "--keys", app.keyFile(), "--topic", InstalledApp.topic)
            #expect(diagnosed.errors == [] && diagnosed.warnings == expected, "\(diagnosed.text)")
        }
    }

    @Test(
        "headers that delay or limit the delivery are notes",
        arguments: [("apns-priority", "5", "priority-low"), ("apns-expiration", "0", "push-not-stored")])
    func notes(_ header: String, _ value: String, _ name: String) async throws {
        let diagnosed = try diagnose(await InstalledApp(), [header: value])
        #expect(diagnosed.errors == [] && diagnosed.found.map(\.name) == [name], "\(diagnosed.text)")
    }

    @Test(
        "an unrelated error doesn't hide that a changed push doesn't open", arguments: [["apns-push-type": ""], [:]])
    func unrelated(_ headers: [String: String]) async throws {
        let app = try await InstalledApp()
        let push = try Payload.tampered(app.seal())
        let usual = ["apns-topic": InstalledApp.topic, "apns-push-type": "alert"].merging(headers) { $1 }
        let file = try app.write(Relay.data(usual), to: "headers.json")
        let diagnosed = try app.diagnose(
            push, "--keys", app.keyFile(), "--topic", InstalledApp.topic, "--headers", file)
        let expected: Set = headers.isEmpty ? ["undecryptable"] : ["push-type-missing", "undecryptable"]
        #expect(Set(diagnosed.errors) == expected, "\(diagnosed.text)")
    }
}
