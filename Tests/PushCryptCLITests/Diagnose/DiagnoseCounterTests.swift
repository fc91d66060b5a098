import Foundation
import PushCryptCore
import PushCryptExtension
import PushCryptNotifications
import PushCryptPrimitives
import PushCryptSimulator
import PushCryptTestSupport
import Testing

/// What the device counted, and what its placeholders say.
@Suite("diagnose: failures that the device names", .ownThreads)
struct DiagnoseCounterTests {
    /// Each class, and the finding that names it if nothing explains it.
    static let classes = [
        ("notSealed", "device-counted-unsealed"), ("malformed", "device-counted-malformed"),
        ("unsupportedVersion", "device-counted-newer-version"), ("unknownKey", "device-counted-unknown-key"),
        ("keyExpired", "device-counted-expired-key"), ("keyRevoked", "device-counted-revoked-key"),
        ("unsupportedSuite", "device-counted-unsupported-suite"),
        ("undecryptable", "undecryptable"), ("expired", "push-expired"), ("notYetValid", "push-from-the-future"),
        ("replayed", "push-repeated"), ("timedOut", "extension-timed-out"), ("attachmentFailed", "attachment-failed"),
        ("internalError", "extension-set-up-failed"), ("acme.noQuota", "device-counted-other"),
        ("other", "device-counted-other"),
    ]

    @Test("a placeholder with the reason of a failure is an error with the failure's name", arguments: classes)
    func placeholder(_ failure: String, _ name: String) async throws {
        let app = try await InstalledApp()
        let userInfo = Data(#"{"pushcrypt":{"status":"failed","reason":"\#(failure)"}}"#.utf8)
        let diagnosed = try app.diagnose(userInfo)
        #expect(diagnosed.errors == [name], "\(diagnosed.text)")
        #expect(
            diagnosed.first.evidence.contains { $0.hasSuffix("left the reason \(failure)") }, "\(diagnosed.text)")
    }

    @Test(
        "a failure that the device counted for the push's key is an error with the failure's name", arguments: classes)
    func counted(_ failure: String, _ name: String) async throws {
        let app = try await InstalledApp()
        try app.writeReport { $0["failures"] = [failure: try app.counter()] }
        let diagnosed = try app.diagnose(app.seal(), "--report", "report.json")
        #expect(diagnosed.errors == [name], "\(diagnosed.text)")
    }

    @Test("a failure that the device counted for another key is a warning", arguments: classes)
    func countedForOther(_ failure: String, _ name: String) async throws {
        let (app, other) = (try await InstalledApp(), try await InstalledApp())
        let kid = try #require(other.keyring.keyIDs().first)
        try app.writeReport { $0["failures"] = [failure: try app.counter("\(kid)")] }
        let diagnosed = try app.diagnose(app.seal(), "--report", "report.json")
        #expect(diagnosed.errors == [] && diagnosed.warnings.count == 1, "\(diagnosed.text)")
        #expect(diagnosed.text.contains(failure), "\(diagnosed.text)")
    }

    static let notes = [("keyLocked", "device-counted-locked"), ("retracted", "device-counted-retracted")]

    @Test("these tests have every failure class of the protocol once")
    func allClasses() {
        let own = ["acme.noQuota", "other"]
        #expect(
            (Self.classes + Self.notes).map(\.0).sorted()
                == (FailureClass.Defined.allCases.map(\.rawValue) + own).sorted())
    }

    @Test("a push that was locked out or taken back is a note", arguments: notes)
    func normal(_ failure: String, _ name: String) async throws {
        let app = try await InstalledApp()
        try app.writeReport { $0["failures"] = [failure: try app.counter()] }
        let diagnosed = try app.diagnose(app.seal(), "--report", "report.json")
        #expect(diagnosed.errors == [] && diagnosed.found.map(\.name) == [name], "\(diagnosed.text)")
    }

    @Test("a push that opens with the keys, and that the device counted as undecryptable, is an error")
    func opensOnlyHere() async throws {
        let app = try await InstalledApp()
        try app.writeReport { $0["failures"] = ["undecryptable": try app.counter()] }
        let diagnosed = try app.diagnose(
            app.seal(), "--report", "report.json", "--keys", app.keyFile(), "--topic", InstalledApp.topic)
        #expect(diagnosed.errors == ["undecryptable"], "\(diagnosed.text)")
        #expect(diagnosed.first.cause.contains("opens with the given keys"), "\(diagnosed.text)")
    }

    @Test("the placeholder of an undecryptable push has lost its skid: the cause names signature and missing signature")
    func undecryptablePlaceholder() async throws {
        let app = try await InstalledApp()
        let reception = await app.fail(try Payload.tampered(app.seal()))
        let diagnosed = try app.diagnose(Data(#require(reception.content?.userInfo)))
        #expect(diagnosed.errors == ["undecryptable"], "\(diagnosed.text)")
        let cause = diagnosed.first.cause
        #expect(
            cause.contains("signature isn't valid") && cause.contains("isn't signed, although"), "\(diagnosed.text)")
        #expect(!cause.contains("has lost"), "\(diagnosed.text)")
    }

    @Test("the userInfo of a restored notification is no error, and the same object as a request is one")
    func restoredUserInfo() async throws {
        let app = try await InstalledApp()
        let reception = await app.device.receive([UInt8](try app.seal()))
        let userInfo = Data(try #require(reception.content?.userInfo))
        let diagnosed = try app.diagnose(userInfo)
        #expect(diagnosed.errors == [] && diagnosed.warnings == ["not-sealed"], "\(diagnosed.text)")
        #expect(diagnosed.first.cause.contains("restored"), "\(diagnosed.text)")
        let headers = try app.write(
            Data(#"{"apns-topic":"com.example.app","apns-push-type":"alert"}"#.utf8), to: "headers.json")
        #expect(try app.diagnose(userInfo, "--headers", headers).errors == ["not-sealed"])
    }

    @Test("a report that was made before the push was sealed doesn't show that the extension never ran")
    func reportBeforePush() async throws {
        let app = try await InstalledApp()
        try app.writeReport()
        app.clock.advance(by: .seconds(60))
        let diagnosed = try app.diagnose(
            app.seal(), "--report", "report.json", "--keys", app.keyFile(), "--topic", InstalledApp.topic)
        #expect(diagnosed.errors == [] && diagnosed.found.map(\.name) == ["extension-never-ran"], "\(diagnosed.text)")
        let unknown = try app.diagnose(app.seal(), "--report", "report.json")
        #expect(unknown.errors == ["extension-never-ran"], "\(unknown.text)")
        #expect(unknown.first.cause.contains("reset the counters"), "\(unknown.text)")
    }

    @Test("counters that were lost don't show that the extension never ran")
    func rebuilt() async throws {
        let app = try await InstalledApp()
        try app.writeReport { $0["rebuildCount"] = 1 }
        let diagnosed = try app.diagnose(app.seal(), "--report", "report.json")
        #expect(diagnosed.errors == [], "\(diagnosed.text)")
        #expect(Set(diagnosed.found.map(\.name)) == ["store-rebuilt", "extension-never-ran"], "\(diagnosed.text)")
    }

    @Test("pushes that were suppressed are a note")
    func suppressed() async throws {
        let app = try await InstalledApp()
        try app.writeReport {
            $0["opened"] = try app.counter()
            $0["suppressed"] = try app.counter()
        }
        let diagnosed = try app.diagnose(app.seal(), "--report", "report.json")
        #expect(diagnosed.found.map(\.name) == ["push-suppressed"], "\(diagnosed.text)")
    }

    private func stages(_ app: InstalledApp, _ names: String..., at time: UnixTime) throws -> [[String: Any]] {
        try names.map { ["stage": $0, "ending": "failed", "counter": try app.counter(at: time)] }
    }

    @Test("a stage that failed before the last restored push is past")
    func pastStage() async throws {
        let app = try await InstalledApp()
        try app.writeReport {
            $0["opened"] = try app.counter()
            $0["stageFailures"] = try stages(app, "attachments", "names", at: app.clock.time - 86_400)
        }
        let diagnosed = try app.diagnose(app.seal(), "--report", "report.json")
        #expect(diagnosed.found.isEmpty, "\(diagnosed.text)")
    }

    @Test(
        "a stage of the library that failed has a finding of its own",
        arguments: [
            ("attachments", ["attachment-failed"], []), ("offload", ["offload-failed"], []),
            ("avatar", [], ["avatar-failed"]), ("names", [], ["stage-failed"]),
        ])
    func stage(_ name: String, _ errors: [String], _ warnings: [String]) async throws {
        let app = try await InstalledApp()
        try app.writeReport {
            $0["opened"] = try app.counter()
            if !errors.isEmpty { $0["failures"] = ["attachmentFailed": try app.counter()] }
            $0["stageFailures"] = try stages(app, name, at: app.clock.time)
        }
        let diagnosed = try app.diagnose(app.seal(), "--report", "report.json")
        #expect(diagnosed.errors == errors && diagnosed.warnings == warnings, "\(diagnosed.text)")
    }

    @Test(
        "the ending of a stage is said in words",
        arguments: [
            ("timedOut", "timed out 1 time"), ("emptied", "returned no text 1 time"), ("failed", "failed 1 time"),
        ])
    func ending(_ name: String, _ text: String) async throws {
        let app = try await InstalledApp()
        try app.writeReport {
            $0["opened"] = try app.counter()
            $0["stageFailures"] = [["stage": "names", "ending": name, "counter": try app.counter()]]
        }
        let diagnosed = try app.diagnose(app.seal(), "--report", "report.json")
        #expect(diagnosed.first.evidence == ["report: the stage names \(text)"], "\(diagnosed.text)")
    }

    @Test("sender keys that the device can't read: the finding names why", arguments: [true, false])
    func senderKeys(areLocked: Bool) async throws {
        let failure = FailureClass(rawValue: areLocked ? "keyLocked" : "missingResource")
        let app = try await InstalledApp(.init(senders: .current { () throws(FailureClass) in throw failure }))
        try app.writeReport()
        let diagnosed = try app.diagnose(app.seal(), "--report", "report.json")
        let name = areLocked ? "sender-set-locked" : "sender-pins-missing"
        #expect(diagnosed.errors.first == name, "\(diagnosed.text)")
    }
}
