import Foundation
import PushCryptCore
import PushCryptExtension
import PushCryptKeysets
import PushCryptTestSupport
import Testing

/// Inputs that aren't of one push and one device.
@Suite("diagnose: inputs that contradict each other", .ownThreads)
struct DiagnoseContradictionTests {
    private func diagnose(_ app: InstalledApp, _ push: Data, record: Data) throws -> Diagnosed {
        try app.diagnose(
            push, "--registration", app.write(record, to: "record.json"), "--keys", app.keyFile(), "--topic",
            InstalledApp.topic)
    }

    @Test("a record without the psk that the push was sealed with isn't the record that was used")
    func recordWithoutPSK() async throws {
        let app = try await InstalledApp()
        let push = try app.seal()
        await app.succeed(push)
        let diagnosed = try diagnose(app, push, record: Relay.rebuilt(app.record()) { $0["psk"] = nil })
        #expect(diagnosed.found.map(\.name) == ["registration-not-used"], "\(diagnosed.text)")
        #expect(diagnosed.errors.isEmpty)
    }

    @Test(
        "a record with another psk than the push was sealed with isn't the record that was used",
        arguments: [true, false])
    func recordWithOtherPSK(keyHasPSK: Bool) async throws {
        let (app, other) = (try await InstalledApp(.init(withPSK: keyHasPSK)), try await InstalledApp())
        let push = try app.seal()
        await app.succeed(push)
        let foreign = try #require(Relay.object(other.record())["psk"])
        let diagnosed = try diagnose(app, push, record: Relay.rebuilt(app.record()) { $0["psk"] = foreign })
        #expect(diagnosed.found.map(\.name) == ["registration-not-used"], "\(diagnosed.text)")
    }

    @Test("a report of another phone than the keys and the record: the inputs contradict each other")
    func otherReport() async throws {
        let (app, other) = (try await InstalledApp(), try await InstalledApp())
        let push = try app.seal()
        await app.succeed(push)
        try other.writeReport()
        let report = try app.write(other.place.read("report.json"), to: "report.json")
        let record = try app.write(app.record(), to: "record.json")
        let diagnosed = try app.diagnose(
            push, "--keys", app.keyFile(), "--registration", record, "--report", report, "--topic", InstalledApp.topic)
        #expect(diagnosed.found.map(\.name) == ["inputs-contradict"], "\(diagnosed.text)")
        let seen = diagnosed.first.evidence.joined()
        for kid in try app.keyring.keyIDs() + other.keyring.keyIDs() { #expect(seen.contains(kid.description)) }
    }

    @Test("--trust that isn't what the device's report says is named")
    func otherTrust() async throws {
        let keys = try TeamKeys()
        defer { withExtendedLifetime(keys) {} }
        for name in ["backend", "staging"] { try keys.makeSender(name) }
        let published = try keys.exported("backend")
        let app = try await InstalledApp(.init(senders: .pinned(TrustedSenders(json: [UInt8](published)))))
        let push = try app.seal(by: keys.signer("backend"))
        await app.succeed(push)
        try app.writeReport()
        let staging = try app.write(keys.exported("staging"), to: "staging.json")
        for trust in ["none", staging] {
            let diagnosed = try app.diagnose(push, "--report", "report.json", "--trust", trust)
            #expect(diagnosed.errors == [] && diagnosed.warnings == ["inputs-contradict"], "\(diagnosed.text)")
        }
        let right = try app.write(published, to: "backend.json")
        #expect(try app.diagnose(push, "--report", "report.json", "--trust", right).found.isEmpty)
        let unsigned = try await InstalledApp()
        let plain = try unsigned.seal()
        await unsigned.succeed(plain)
        try unsigned.writeReport()
        let file = try unsigned.write(published, to: "backend.json")
        let diagnosed = try unsigned.diagnose(plain, "--report", "report.json", "--trust", file)
        #expect(diagnosed.errors == [] && diagnosed.warnings == ["inputs-contradict"], "\(diagnosed.text)")
    }

    @Test("--device is refused with keys that aren't shared, and without keys")
    func device() async throws {
        let app = try await InstalledApp()
        let push = try app.seal()
        let record = try app.write(app.record(), to: "record.json")
        for inputs in [["--keys", try app.keyFile()], ["--registration", record], []] {
            let output = try app.place.run(["diagnose", "--device", "phone-1"] + inputs, stdin: push)
            #expect(output.exit == 64 && output.stdout.isEmpty, "\(output)")
            #expect(output.stderr.contains("--device") && output.stderr.contains("shared key"), "\(output)")
        }
    }
}
