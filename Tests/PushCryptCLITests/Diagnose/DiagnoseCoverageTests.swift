import Foundation
import PushCryptCore
import PushCryptExtension
import PushCryptPrimitives
import PushCryptSender
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

    /// What is wrong with a push, and how its device counted it.
    static let failures: [FailureClass] = [
        .notSealed, .malformed, .unknownKey, .undecryptable, .internalError, .keyExpired, .expired, .timedOut,
        .attachmentFailed, FailureClass(rawValue: "own"),
    ]

    @Test(
        "with every input given, a push that a device counted as failed has a finding that asks for none of them",
        arguments: failures)
    func allGiven(_ failure: FailureClass) async throws {
        let app = try await InstalledApp()
        let push = try app.seal(options: .init(expiresAfter: .seconds(3_600)))
        try ProjectFiles.healthy.write(to: app.place)
        let sender = try KeyRecord.generate(.sender, backend: DefaultBackend.shared)
        let set = try Keyset([Keyset.Entry(sender, KeyLifecycle(activatesAt: UnixTime(0)))]).publicKeyset(
            keepingPSK: false)
        try app.place.write(Data(set.jwkSet(withHistory: false)), to: "senders.json")
        let headers: [String: Any] = ["apns-topic": InstalledApp.topic, "apns-push-type": "alert", ":status": 200]
        try app.writeReport { statistics in
            statistics["failures"] = [failure.rawValue: try app.counter()]
        }
        let inputs = [
            "--topic", InstalledApp.topic, "--keys", try app.keyFile(), "--report", "report.json", "--app", "Project",
            "--registration", try app.write(app.record(), to: "record.json"), "--trust", "senders.json", "--headers",
            try app.write(Relay.data(headers), to: "headers.json"),
        ]
        for payload in [push, try Payload.tampered(push)] {
            for time in [app.clock.time, app.clock.time + 7_200] {
                let diagnosed = try Diagnosed(app.place, payload, inputs, at: time)
                #expect(!diagnosed.found.isEmpty && diagnosed.repeatedRequests == [], "\(diagnosed.text)")
            }
            // Without one input, it may be asked for, and no other one.
            for index in stride(from: 0, to: inputs.count, by: 2) {
                let others = Array(inputs[..<index] + inputs[(index + 2)...])
                let diagnosed = try Diagnosed(app.place, payload, others, at: app.clock.time)
                #expect(diagnosed.repeatedRequests == [], "\(diagnosed.text)")
            }
        }
    }

    @Test(
        "a shared key whose device isn't named: the record that was given isn't asked for",
        arguments: ["--keys", "--registration"])
    func sharedKey(_ option: String) throws {
        let place = try Workplace()
        try place.create("fleet", "shared")
        let record = try place.run(
            "keys", "export", "fleet", "--private", "--format", "jwk", "--insecure-plaintext", "--at", Workplace.now)
        try #require(record.exit == 0, "\(record)")
        try place.write(record.stdout, to: "fleet.json")
        let push = try place.sealed(to: "fleet", "--device", "phone-1")
        let time = try #require(UnixTime(rfc3339: Workplace.now))
        let diagnosed = try Diagnosed(place, push, [option, "fleet.json", "--topic", Workplace.topic], at: time)
        #expect(
            option == "--registration" || diagnosed.notChecked.contains("whether the push opens; this needs --device"))
        #expect(
            diagnosed.warnings.contains("device-not-given") && diagnosed.repeatedRequests == [], "\(diagnosed.text)")
    }

    @Test("the advice for a push that doesn't open names each input that can show more once")
    func once() async throws {
        let app = try await InstalledApp()
        let push = try Payload.tampered(app.seal())
        let diagnosed = try app.diagnose(push, "--keys", app.keyFile(), "--topic", InstalledApp.topic)
        #expect(diagnosed.first.advice.components(separatedBy: "--trust").count == 2, "\(diagnosed.text)")
        #expect(diagnosed.first.advice.hasSuffix("--registration, --trust and --report narrow it down."))
    }

    @Test("in a terminal of 40 columns no line is longer, with an error and without one", arguments: [true, false])
    func narrow(hasError: Bool) async throws {
        let app = try await InstalledApp()
        let push = try app.seal()
        try app.place.write(hasError ? Relay.rebuilt(push) { $0["aps"] = nil } : push, to: "p.json")
        let output = try app.place.shell("COLUMNS=40 \"$PUSHCRYPT\" diagnose --at \(app.clock.time.seconds) < p.json")
        #expect(output.text.split(separator: "\n").allSatisfy { $0.count <= 40 }, "\(output)")
        #expect(output.text.contains(hasError ? "aps-missing" : "not checked"), "\(output)")
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
