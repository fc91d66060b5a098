import Foundation
import PushCryptCore
import PushCryptExtension
import PushCryptSimulator
import PushCryptTestSupport
import Testing

/// The device's report and its placeholders: what they say, and what no device can say.
@Suite("diagnose: the device's report", .ownThreads)
struct DiagnoseReportTests {
    // MARK: Failures

    /// Each class, and the finding that names it.
    static let classes = [
        ("notSealed", "device-failure"), ("malformed", "device-failure"), ("unsupportedVersion", "device-failure"),
        ("unknownKey", "device-failure"), ("keyExpired", "device-failure"), ("keyRevoked", "device-failure"),
        ("unsupportedSuite", "device-failure"), ("undecryptable", "undecryptable"), ("expired", "push-expired"),
        ("notYetValid", "clock-wrong"), ("replayed", "device-failure"), ("timedOut", "device-failure"),
        ("attachmentFailed", "device-failure"), ("internalError", "device-failure"), ("acme.noQuota", "device-failure"),
    ]
    /// Nothing is wrong where these were counted.
    static let normalClasses = ["keyLocked", "retracted"]

    @Test("these tests have every failure class of the protocol once")
    func allClasses() {
        let tested = Self.classes.map(\.0).filter { $0 != "acme.noQuota" } + Self.normalClasses
        #expect(tested.sorted() == FailureClass.Defined.allCases.map(\.rawValue).sorted())
    }

    @Test(
        "a failure in the placeholder or counted for the push's key is an error, for another key a warning",
        arguments: classes)
    func failure(_ failure: String, _ name: String) async throws {
        let app = try await InstalledApp()
        let userInfo = Data(#"{"pushcrypt":{"status":"failed","reason":"\#(failure)"}}"#.utf8)
        let placeholder = try app.diagnose(userInfo)
        #expect(placeholder.names == [name], "\(placeholder.text)")
        try app.writeReport { $0["failures"] = [failure: try app.counter()] }
        let counted = try app.diagnose(app.seal(), "--report", "report.json")
        #expect(counted.names == [name], "\(counted.text)")
        try app.writeReport { $0["failures"] = [failure: try app.counter("K7bX0aQf3nQ")] }
        let other = try app.diagnose(app.seal(), "--report", "report.json")
        #expect(other.errors == [] && other.warnings == ["device-failure"], "\(other.text)")
    }

    @Test("a push that was locked out or taken back is a note", arguments: normalClasses)
    func normal(_ failure: String) async throws {
        let app = try await InstalledApp()
        try app.writeReport { $0["failures"] = [failure: try app.counter()] }
        let diagnosed = try app.diagnose(app.seal(), "--report", "report.json")
        #expect(diagnosed.names == ["device-failure"] && diagnosed.first.severity == "note", "\(diagnosed.text)")
    }

    @Test("a failure that has a cause comes after it, and one before the last restored push is past")
    func order() async throws {
        let (app, stranger) = (try await InstalledApp(), try await InstalledApp())
        let foreign = try stranger.seal()
        await app.fail(foreign)
        try app.writeReport()
        let failed = try app.diagnose(foreign, "--report", "report.json")
        #expect(failed.errors == ["key-not-on-device", "device-failure"], "\(failed.text)")
        app.clock.advance(by: .seconds(60))
        let push = try app.seal()
        await app.succeed(push)
        try app.writeReport()
        #expect(try app.diagnose(push, "--report", "report.json").found.isEmpty)
    }

    @Test("a push that opens with the keys, and that the device counted as undecryptable, is an error")
    func opensOnlyHere() async throws {
        let app = try await InstalledApp()
        try app.writeReport { $0["failures"] = ["undecryptable": try app.counter()] }
        let diagnosed = try app.diagnose(
            app.seal(), "--report", "report.json", "--keys", app.keyFile(), "--topic", InstalledApp.topic)
        #expect(diagnosed.names == ["undecryptable"], "\(diagnosed.text)")
        #expect(diagnosed.text.contains("opens with the given keys"), "\(diagnosed.text)")
    }

    @Test(
        "a stage that failed has a severity by what was shown, and one before the last restored push is past",
        arguments: [("attachments", "error"), ("avatar", "warning"), ("names", "warning")])
    func stage(_ name: String, _ severity: String) async throws {
        let app = try await InstalledApp()
        for (time, severities) in [(app.clock.time, [severity]), (app.clock.time - 86_400, [])] {
            try app.writeReport {
                $0["opened"] = try app.counter()
                $0["stageFailures"] = [["stage": name, "ending": "timedOut", "counter": try app.counter(at: time)]]
            }
            let diagnosed = try app.diagnose(app.seal(), "--report", "report.json")
            #expect(diagnosed.found.map(\.severity) == severities, "\(diagnosed.text)")
            #expect(diagnosed.names == severities.map { _ in "device-failure" }, "\(diagnosed.text)")
        }
    }

    // MARK: The extension

    @Test("an extension that doesn't run is an error, unless the report or its counters are younger than the push")
    func neverRan() async throws {
        let app = try await InstalledApp(.init(hasExtension: false))
        let push = try app.seal()
        await app.fail(push)
        try app.writeReport()
        let diagnosed = try app.diagnose(push, "--report", "report.json")
        #expect(diagnosed.names == ["extension-never-ran"] && diagnosed.cause != "", "\(diagnosed.text)")
        app.clock.advance(by: .seconds(60))
        let later = try app.diagnose(
            app.seal(), "--report", "report.json", "--keys", app.keyFile(), "--topic", InstalledApp.topic)
        #expect(later.names == ["extension-never-ran"] && later.errors == [], "\(later.text)")
        try app.writeReport { $0["rebuildCount"] = 1 }
        let rebuilt = try app.diagnose(push, "--report", "report.json")
        #expect(rebuilt.names == ["extension-never-ran"] && rebuilt.errors == [], "\(rebuilt.text)")
    }

    @Test("a user who doesn't allow alerts, and a push that the app suppressed")
    func notShown() async throws {
        let app = try await InstalledApp()
        app.device.center.changeSettings { $0.authorization = .denied }
        let push = try app.seal()
        await app.fail(push)
        try app.writeReport()
        #expect(try app.diagnose(push, "--report", "report.json").cause == "alerts-not-allowed")
        app.device.center.changeSettings { $0.authorization = .authorized }
        try app.writeReport {
            $0["opened"] = try app.counter()
            $0["suppressed"] = try app.counter()
        }
        #expect(try app.diagnose(push, "--report", "report.json").names == ["push-suppressed"])
    }

    @Test(
        "keys that can't be read: the advice is for the reason",
        arguments: [
            ("locked", "Unlock"), ("notEntitled", "app group"), ("insecure", "only the app"),
            ("failed", "Look at the error"),
        ])
    func storage(_ code: String, _ advice: String) async throws {
        let app = try await InstalledApp()
        let report = DeviceReport(topic: InstalledApp.topic, unavailable: code, reason: "x", at: app.clock.time)
        try app.place.write(report.json(), to: "report.json")
        let diagnosed = try app.diagnose(app.seal(), "--report", "report.json")
        #expect(diagnosed.names == ["storage-failed"], "\(diagnosed.text)")
        #expect(diagnosed.first.advice.contains(advice), "\(diagnosed.text)")
    }

    // MARK: Reports that no device makes

    @Test(
        "a report that no device makes is refused with the member that is wrong",
        arguments: [
            ("version", "99", "its version is 99; this tool reads version 1"),
            ("topic", "\"a b\"", "topic isn't a bundle identifier"), ("time", "-1", "time isn't in seconds"),
            ("keyStorage", #"{"error":"locked","reason":"x"}"#, "both keys and keyStorage"),
            ("senders", #"{"unsigned":false}"#, "senders has none of kids, unsigned and error"),
            ("senders", #"{"kids":[],"refused":{"K7bX0aQf3nQ":"banana"}}"#, "senders.kids or senders.refused"),
            ("store", "\"banana\"", "store is neither"),
        ])
    func impossible(_ name: String, _ json: String, _ message: String) async throws {
        let app = try await InstalledApp()
        let push = try app.seal()
        try app.writeReport()
        let value = try JSONSerialization.jsonObject(with: Data(json.utf8), options: .fragmentsAllowed)
        try app.place.write(Payload.rebuilt(app.place.read("report.json")) { $0[name] = value }, to: "changed.json")
        expectRefusal(try app.place.run("diagnose", "--report", "changed.json", stdin: push), 65, saying: message)
    }

    @Test("a counter that no device makes is refused", arguments: ["count", "lastTime"])
    func impossibleCounter(_ name: String) async throws {
        let app = try await InstalledApp()
        try app.writeReport { $0["opened"] = try app.counter().merging([name: name == "count" ? -1 : Int.max]) { $1 } }
        let output = try app.place.run("diagnose", "--report", "report.json", stdin: app.seal())
        expectRefusal(output, 65, saying: name == "count" ? "isn't 0 to its count" : "opened.lastTime isn't in seconds")
    }
}
