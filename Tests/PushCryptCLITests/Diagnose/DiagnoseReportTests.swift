import Foundation
import PushCryptCore
import PushCryptExtension
import PushCryptSimulator
import PushCryptTestSupport
import Testing

/// A change of a true report that makes it impossible, and what the refusal says.
struct ImpossibleReportMember: Sendable, CustomTestStringConvertible {
    let path: String
    let json: String
    let message: String

    init(_ path: String, _ json: String, _ message: String) {
        (self.path, self.json, self.message) = (path, json, message)
    }

    var testDescription: String { "\(path): \(json)" }
}

extension ImpossibleReportMember {
    static let all = [
        Self("version", "99", "its version is 99; this tool reads version 1"),
        Self("version", "null", "version is missing"),
        Self("topic", "\"a b\"", "topic isn't a bundle identifier"),
        Self("time", "\"yesterday\"", "time has another type"),
        Self("time", "-1", "time isn't between 1970 and 2100"),
        Self("time", "9999999999", "time isn't between 1970 and 2100"),
        Self("time", "1800000000000", "time looks like milliseconds; a report has seconds"),
        Self("keys.0.state", "\"banana\"", "keys[0].state isn't the state of a key"),
        Self("keys.0.kid", "\"banana\"", "keys[0].kid isn't the id of a key"),
        Self("keys.0.suite", "5", "keys[0].suite isn't 1, 2, 3 or 4"),
        Self("keyStorage", #"{"error":"locked","reason":"x"}"#, "both keys and keyStorage"),
        Self("senders", #"{"banana":1}"#, "senders has none of kids, unsigned and error"),
        Self("senders", #"{"unsigned":false}"#, "senders has none of kids, unsigned and error"),
        Self("senders", #"{"kids":[],"unsigned":true}"#, "senders has more than one of kids, unsigned and error"),
        Self("senders", #"{"kids":["banana"]}"#, "senders.kids isn't a list of ids of keys"),
        Self("senders", #"{"kids":[],"refused":{"K7bX0aQf3nQ":"banana"}}"#, "senders.refused isn't an object"),
        Self("store", "\"banana\"", "store is neither \"available\" nor an error"),
        Self("statistics.opened.count", "-1", "statistics.opened.count is negative"),
        Self("statistics.opened.recentCount", "7", "statistics.opened.recentCount is greater than count"),
        Self(
            "statistics.opened.lastTime", "9999999999", "statistics.opened.lastTime isn't between 1970 and 2100"),
        Self("statistics.opened.lastTime", "1800000000000", "statistics.opened.lastTime looks like milliseconds"),
        Self("statistics.opened.lastKid", "\"banana\"", "statistics.opened.lastKid isn't the id of a key"),
        Self("statistics.rebuildCount", "-1", "statistics.rebuildCount is negative"),
    ]
}

/// The device's report: what it says, and what no device can say.
@Suite("diagnose: the device's report", .ownThreads)
struct DiagnoseReportTests {
    @Test(
        "a report that no device makes is refused with the member that is wrong", arguments: ImpossibleReportMember.all)
    func impossible(_ change: ImpossibleReportMember) async throws {
        let app = try await InstalledApp()
        let push = try app.seal()
        await app.succeed(push)
        try app.writeReport()
        let report = try Relay.object(app.place.read("report.json"))
        let value = try JSONSerialization.jsonObject(with: Data(change.json.utf8), options: .fragmentsAllowed)
        let changed = Self.setting(value, at: change.path.split(separator: ".").map(String.init), in: report)
        try app.place.write(Relay.data(changed), to: "changed.json")
        let output = try app.place.run("diagnose", "--report", "changed.json", stdin: push)
        #expect(output.exit == 65 && output.hasOneLineOnStderr && output.stdout.isEmpty, "\(output)")
        #expect(output.stderr.contains("changed.json") && output.stderr.contains(change.message), "\(output)")
    }

    private static func setting(_ value: Any, at path: [String], in container: Any) -> Any {
        guard let name = path.first else { return value is NSNull ? [String: Any]() : value }
        let rest = Array(path.dropFirst())
        if var list = container as? [Any], let index = Int(name) {
            list[index] = setting(value, at: rest, in: list[index])
            return list
        }
        var object = container as? [String: Any] ?? [:]
        object[name] = rest.isEmpty && value is NSNull ? nil : setting(value, at: rest, in: object[name] ?? [:])
        return object
    }

    @Test("a report of a device whose clock was never set is a wrong clock, without any failed push")
    func unsetClock() async throws {
        let app = try await InstalledApp()
        app.device.clockError = .seconds(-InstalledApp.start.seconds)
        try app.writeReport()
        let diagnosed = try app.diagnose(app.seal(), "--report", "report.json")
        #expect(diagnosed.errors == ["device-clock-wrong", "extension-never-ran"], "\(diagnosed.text)")
        #expect(diagnosed.first.cause.contains("isn't set"), "\(diagnosed.text)")
    }

    @Test("an old report of a healthy device isn't a wrong clock: a note says how old it is")
    func oldReport() async throws {
        let app = try await InstalledApp()
        let push = try app.seal()
        await app.succeed(push)
        try app.writeReport()
        let diagnosed = try app.diagnose(push, "--report", "report.json", at: app.clock.time + 25 * 3_600)
        #expect(diagnosed.found.map(\.name) == ["report-old"] && diagnosed.errors.isEmpty, "\(diagnosed.text)")
        #expect(diagnosed.first.cause.contains("25 hours"), "\(diagnosed.text)")
        #expect(diagnosed.notChecked.contains("whether the device's clock is slow"), "\(diagnosed.text)")
        #expect(try app.diagnose(push, "--report", "report.json", at: app.clock.time + 1_800).found.isEmpty)
    }

    @Test("the texts of a counter are right for one push and for two", arguments: [1, 2])
    func counted(_ count: Int) async throws {
        let (app, other) = (try await InstalledApp(), try await InstalledApp())
        let push = try other.seal()
        for _ in 0..<count { await app.fail(push) }
        try app.writeReport()
        let diagnosed = try app.diagnose(push, "--report", "report.json")
        let expected =
            count == 1
            ? "report: 1 push failed with unknownKey, for key "
            : "report: 2 pushes failed with unknownKey, the last one for key "
        #expect(diagnosed.first.evidence.contains { $0.hasPrefix(expected) }, "\(diagnosed.text)")
    }

    @Test("a push that came before the first unlock is a note, because it is normal")
    func locked() async throws {
        let app = try await InstalledApp()
        app.device.restart()
        let reception = await app.fail(try app.seal())
        let diagnosed = try app.diagnose(Data(#require(reception.content?.userInfo)))
        #expect(diagnosed.found.map(\.name) == ["device-counted-locked"], "\(diagnosed.text)")
        #expect(diagnosed.first.severity == "note", "\(diagnosed.text)")
    }

    @Test("a push that failed with a revoked key names the keys that it may be", arguments: [true, false])
    func revoked(isSigned: Bool) async throws {
        let record = try KeyRecord.generate(.sender, backend: DefaultBackend.shared)
        let always = KeyLifecycle(activatesAt: UnixTime(0))
        var ended = always
        ended.revokedAt = InstalledApp.start - 60
        let set = try Keyset([Keyset.Entry(record, ended)]).publicKeyset(keepingPSK: false)
        let app = try await InstalledApp(.init(senders: isSigned ? .pinned(TrustedSenders(set)) : .unsigned))
        let kid = try #require(app.keyring.keyIDs().first)
        let push = try app.seal(by: isSigned ? SenderKey(Keyset.Entry(record, always)) : nil)
        if !isSigned { try app.identity.revoke(kid) }
        let reception = await app.fail(push)
        #expect(reception.failure == .keyRevoked)
        let diagnosed = try app.diagnose(Data(#require(reception.content?.userInfo)))
        #expect(diagnosed.errors == ["device-counted-revoked-key"], "\(diagnosed.text)")
        // The push that was shown in its place names no key.
        #expect(diagnosed.first.cause == "The device's key or the sender's key was revoked.", "\(diagnosed.text)")
        // The report says which keys the device can use.
        try app.writeReport()
        let reported = try app.diagnose(push, "--report", "report.json")
        #expect(reported.errors == [isSigned ? "sender-revoked" : "key-revoked"], "\(reported.text)")
    }
}
