import Foundation
import PushCryptCore
import PushCryptSimulator
import PushCryptTestSupport
import Testing

/// "checked" claims only what was compared with the inputs that were given.
@Suite("diagnose: what was checked", .ownThreads)
struct DiagnoseCoverageTests {
    @Test("the topic that a push was sealed for isn't checked without keys")
    func topicWithoutKeys() async throws {
        let app = try await InstalledApp()
        let push = try app.seal(topic: "com.example.other")
        await app.fail(push)
        let record = try app.write(app.record(), to: "record.json")
        let diagnosed = try app.diagnose(
            push, "--registration", record, "--topic", InstalledApp.topic, "--trust", "none")
        #expect(diagnosed.found.isEmpty, "\(diagnosed.text)")
        #expect(!diagnosed.checked.contains("topic"), "\(diagnosed.text)")
        #expect(diagnosed.notChecked.contains("--keys whether the push is complete"), "\(diagnosed.text)")
        #expect(diagnosed.notChecked.contains("was sealed for the app's topic"), "\(diagnosed.text)")
    }

    /// Inputs, and what they check.
    struct Case: Sendable, CustomTestStringConvertible {
        let inputs: [String]
        let checked: String
        let notChecked: [String]

        init(_ inputs: [String], _ checked: String, not notChecked: String...) {
            (self.inputs, self.checked, self.notChecked) = (inputs, checked, notChecked)
        }

        var testDescription: String { inputs.joined(separator: " ") }
    }

    static let cases = [
        Case(
            [], "the form of the payload",
            not: "--topic whether", "--headers the request", "--registration the record", "--report the device's keys",
            "--trust whether the app opens", "--keys whether", "--app entitlements"),
        Case(["--topic"], "the form of the payload", not: "--headers whether the request has this topic"),
        Case(
            ["--headers"], "the form of the payload; the headers of the request", not: "--topic whether",
            "--headers the answer of APNs, \":status\" and \"reason\""),
        Case(
            ["--topic", "--headers"],
            "the form of the payload; whether --topic and --headers name the same topic; the headers of the request"),
        Case(
            ["--topic", "--answer"],
            "the form of the payload; whether --topic and --headers name the same topic; the headers of the request; "
                + "the answer of APNs"),
        Case(
            ["--registration"], "the form of the payload; the record, and whether the push is sealed to its key",
            not: "--report whether the device has the record's key"),
        Case(
            ["--registration", "--report"],
            "the form of the payload; the record, and whether the push is sealed to its key; whether the device has "
                + "the record's key; the device's keys; the device's counters; the device's clock; whether the app opens unsigned pushes"
        ),
        Case(
            ["--keys"], "the form of the payload", not: "--topic whether", "--keys whether the push opens; this needs"),
        Case(
            ["--keys", "--topic"],
            "the form of the payload; whether the push is complete, was sealed for com.example.app and opens; its age"),
        Case(["--trust"], "the form of the payload; whether the app opens unsigned pushes"),
        Case(
            ["--bare"],
            "the form of the payload; the device's clock",
            not: "--report the device's keys, which the report lacks; the device's counters, which the report lacks"),
    ]

    @Test(
        "with the inputs that a check compares, its line is under checked, and without one of them it isn't",
        arguments: cases)
    func checked(_ expected: Case) async throws {
        let app = try await InstalledApp()
        let push = try app.seal()
        await app.succeed(push)
        try app.writeReport()
        let bare: [String: Any] = ["version": 1, "topic": InstalledApp.topic, "time": InstalledApp.start.seconds]
        let headers: [String: Any] = ["apns-topic": InstalledApp.topic, "apns-push-type": "alert"]
        let answer = headers.merging([":status": 200]) { $1 }
        let inputs = [
            "--topic": ["--topic", InstalledApp.topic], "--keys": ["--keys", try app.keyFile()],
            "--headers": ["--headers", try app.write(Relay.data(headers), to: "headers.json")],
            "--answer": ["--headers", try app.write(Relay.data(answer), to: "answer.json")],
            "--registration": ["--registration", try app.write(app.record(), to: "record.json")],
            "--report": ["--report", "report.json"], "--trust": ["--trust", "none"],
            "--bare": ["--report", try app.write(Relay.data(bare), to: "bare.json")],
        ]
        let diagnosed = try Diagnosed(app.place, push, expected.inputs.flatMap { inputs[$0] ?? [] }, at: app.clock.time)
        #expect(diagnosed.found.isEmpty && diagnosed.checked == expected.checked, "\(diagnosed.text)")
        for text in expected.notChecked { #expect(diagnosed.notChecked.contains(text), "\(diagnosed.text)") }
    }

    @Test("a push with an error says once, at its end, which inputs can show more")
    func more() async throws {
        let app = try await InstalledApp()
        let push = try Relay.changing(app.seal(), "aps") { $0["mutable-content"] = nil }
        let diagnosed = try app.diagnose(push, "--topic", InstalledApp.topic)
        let end = "To check more, give --headers, --registration, --report, --trust, --keys or --app.\n"
        #expect(diagnosed.errors == ["mutable-content-missing"] && diagnosed.text.hasSuffix(end), "\(diagnosed.text)")
    }

    @Test("without a finding, --json prints an empty array in one line")
    func emptyArray() async throws {
        let app = try await InstalledApp()
        let output = try app.place.run(
            ["diagnose", "--json", "--at", "\(app.clock.time.seconds)"], stdin: app.seal())
        #expect(output.exit == 0 && output.text == "[]\n", "\(output)")
    }
}

extension Diagnosed {
    private var words: String { text.split(whereSeparator: \.isWhitespace).joined(separator: " ") }

    /// What the text says was checked, in one line.
    var checked: String {
        let parts = words.components(separatedBy: "checked ")
        return parts.count < 2 ? "" : parts[1].components(separatedBy: " not")[0]
    }

    /// What the text says wasn't checked, in one line.
    var notChecked: String { words.components(separatedBy: "incomplete: ").dropFirst().joined() }
}
