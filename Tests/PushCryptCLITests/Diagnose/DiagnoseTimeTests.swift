import Foundation
import PushCryptCore
import PushCryptExtension
import PushCryptPrimitives
import PushCryptSender
import PushCryptSimulator
import PushCryptTestSupport
import Testing

/// Clocks, and pushes that came too late or twice.
@Suite("diagnose: time", .ownThreads)
struct DiagnoseTimeTests {
    private static let topic = InstalledApp.topic

    @Test("a clock that is fast by three days, and a push that expires within them: the clock is wrong")
    func fastClock() async throws {
        let app = try await InstalledApp()
        let push = try app.seal(options: .init(expiresAfter: .seconds(86_400)))
        app.device.clockError = .seconds(3 * 86_400)
        #expect(await app.fail(push).failure == .expired)
        try app.writeReport()
        for inputs in [[], ["--keys", try app.keyFile(), "--topic", Self.topic]] {
            let diagnosed = try Diagnosed(app.place, push, ["--report", "report.json"] + inputs, at: app.clock.time)
            #expect(diagnosed.errors == ["device-clock-wrong"], "\(diagnosed.text)")
        }
    }

    @Test("a clock that is slow by three days looks like an old report: the finding names both clocks and both times")
    func slowClock() async throws {
        let app = try await InstalledApp()
        let push = try app.seal()
        app.device.clockError = .seconds(-3 * 86_400)
        #expect(await app.fail(push).failure == .notYetValid)
        try app.writeReport()
        for inputs in [[], ["--keys", try app.keyFile(), "--topic", Self.topic]] {
            let diagnosed = try Diagnosed(app.place, push, ["--report", "report.json"] + inputs, at: app.clock.time)
            #expect(diagnosed.errors == ["push-from-the-future"], "\(diagnosed.text)")
            #expect(diagnosed.first.cause.contains("device is slow"), "\(diagnosed.text)")
            let seen = diagnosed.first.evidence.joined()
            #expect(seen.contains("\(app.clock.time)") && seen.contains("\(app.device.time)"), "\(diagnosed.text)")
        }
    }

    @Test("yesterday's report of a healthy device and today's push: only the age of the report is named")
    func reportBeforePush() async throws {
        let app = try await InstalledApp()
        await app.succeed(try app.seal())
        try app.writeReport()
        app.clock.advance(by: .seconds(86_400))
        let diagnosed = try app.diagnose(
            app.seal(), "--keys", app.keyFile(), "--topic", Self.topic, "--report", "report.json")
        #expect(diagnosed.found.map(\.name) == ["report-old"], "\(diagnosed.text)")
    }

    @Test("a server whose clock is fast by two hours, and a report of yesterday: the push is from the future")
    func fastServerAndOldReport() async throws {
        let app = try await InstalledApp()
        let push = try app.seal(at: app.clock.time + 7_200)
        #expect(await app.fail(push).failure == .notYetValid)
        try app.writeReport()
        app.clock.advance(by: .seconds(25 * 3_600))
        let diagnosed = try app.diagnose(
            push, "--keys", app.keyFile(), "--topic", Self.topic, "--report", "report.json")
        #expect(diagnosed.errors == ["push-from-the-future"], "\(diagnosed.text)")
        #expect(diagnosed.found.map(\.name).contains("report-old"), "\(diagnosed.text)")
    }

    @Test("a clock that is fast by 15 minutes, and a push to a key that expired ten days ago: the key has expired")
    func fastClockAndExpiredKey() async throws {
        let app = try await InstalledApp()
        let push = try app.seal()
        try app.identity.confirmRegistered(app.identity.rotate().kid)
        app.clock.advance(by: .seconds(40 * 86_400))
        app.device.clockError = .seconds(900)
        #expect(await app.fail(push).failure == .keyExpired)
        try app.writeReport()
        let diagnosed = try app.diagnose(push, "--report", "report.json")
        #expect(diagnosed.errors == ["key-expired"], "\(diagnosed.text)")
        #expect(diagnosed.warnings == ["device-clock-wrong"], "\(diagnosed.text)")
    }

    @Test("--at 20 minutes before the report of a healthy device is no error")
    func earlierTime() async throws {
        let app = try await InstalledApp()
        let push = try app.seal()
        let delivery = app.clock.time
        await app.succeed(push)
        app.clock.advance(by: .seconds(1_200))
        try app.writeReport()
        let diagnosed = try app.diagnose(push, "--report", "report.json", at: delivery)
        #expect(diagnosed.errors == [] && diagnosed.first.cause.contains("--at"), "\(diagnosed.text)")
    }

    @Test("a push that waited in a queue until it had expired")
    func expired() async throws {
        let app = try await InstalledApp()
        let push = try app.seal(options: .init(expiresAfter: .seconds(3_600)))
        app.clock.advance(by: .seconds(7_200))
        #expect(await app.fail(push).failure == .expired)
        try app.writeReport()
        #expect(try app.diagnose(push, "--report", "report.json").errors == ["push-expired"])
        let diagnosed = try app.diagnose(push, "--keys", app.keyFile(), "--topic", Self.topic)
        #expect(diagnosed.errors == [] && diagnosed.warnings == ["push-expired"], "\(diagnosed.text)")
        #expect(diagnosed.first.advice.contains("--report"), "\(diagnosed.text)")
        let passed = try app.seal(options: .init(expiresAfter: .seconds(3_600)), at: .now - 7_200)
        let now = try app.place.run(
            ["diagnose", "--keys", app.keyFile(), "--topic", Self.topic, "--json"], stdin: passed)
        #expect(now.text.contains("give that time with --at"), "\(now)")
    }

    @Test("an extension that never ran, and a push that has expired since then: the extension is the error")
    func expiredAfterDelivery() async throws {
        let app = try await InstalledApp(.init(hasExtension: false))
        let push = try app.seal(options: .init(expiresAfter: .seconds(3_600)))
        await app.fail(push)
        try app.writeReport()
        let diagnosed = try app.diagnose(
            push, "--report", "report.json", "--keys", app.keyFile(), "--topic", Self.topic,
            at: app.clock.time + 7_200)
        #expect(diagnosed.errors == ["extension-never-ran"], "\(diagnosed.text)")
        #expect(diagnosed.warnings == ["push-expired"], "\(diagnosed.text)")
    }

    @Test("a push that failed for another reason, and has expired since then, isn't called expired")
    func expiredSince() async throws {
        let app = try await InstalledApp()
        let push = try app.seal(topic: "com.example.other", options: .init(expiresAfter: .seconds(3_600)))
        #expect(await app.fail(push).failure == .undecryptable)
        try app.writeReport()
        let diagnosed = try app.diagnose(
            push, "--report", "report.json", "--keys", app.keyFile(), "--topic", "com.example.other",
            at: app.clock.time + 7_200)
        #expect(diagnosed.errors == ["topic-differs"], "\(diagnosed.text)")
    }

    @Test("a backend whose clock is fast")
    func fastBackend() async throws {
        let app = try await InstalledApp()
        let push = try app.seal(at: app.clock.time + 7_200)
        #expect(await app.fail(push).failure == .notYetValid)
        try app.writeReport()
        for inputs in [["--report", "report.json"], ["--keys", try app.keyFile(), "--topic", Self.topic]] {
            let diagnosed = try Diagnosed(app.place, push, inputs, at: app.clock.time)
            #expect(diagnosed.errors == ["push-from-the-future"], "\(diagnosed.text)")
        }
    }

    @Test(
        "the difference of a clock is rounded to the nearest minute, hour or day",
        arguments: [
            (601, "fast by 10 minutes"), (17_995, "fast by 5 hours"), (3_455_995, "fast by 40 days"),
            (3_456_000, "fast by 40 days"), (-259_195, "is 3 days old"),
        ] as [(Int64, String)])
    func rounded(_ seconds: Int64, _ text: String) async throws {
        let app = try await InstalledApp()
        app.device.clockError = .seconds(seconds)
        try app.writeReport()
        let diagnosed = try app.diagnose(app.seal(), "--report", "report.json")
        let causes = diagnosed.found.map(\.cause)
        #expect(causes.contains { $0.contains(text) }, "\(diagnosed.text)")
    }

    @Test("a report whose time is 10 minutes ahead is no finding: clocks may differ by so much")
    func toleratedClock() async throws {
        let app = try await InstalledApp()
        await app.succeed(try app.seal())
        app.device.clockError = .seconds(600)
        try app.writeReport()
        #expect(try app.diagnose(app.seal(), "--report", "report.json").found.isEmpty)
    }

    @Test("a fast clock is no matter of --at if --at wasn't given")
    func withoutTime() async throws {
        let app = try await InstalledApp()
        app.device.clockError = .seconds(UnixTime.now.seconds + 900 - app.clock.time.seconds)
        try app.writeReport()
        let output = try app.place.run("diagnose", "--report", "report.json", stdin: app.seal())
        #expect(output.text.contains("clock is fast by 15 minutes") && !output.text.contains("--at"), "\(output)")
    }

    @Test("a push that was sent twice")
    func replayed() async throws {
        let app = try await InstalledApp()
        let push = try app.seal()
        await app.succeed(push)
        #expect(await app.fail(push).failure == .replayed)
        try app.writeReport()
        #expect(try app.diagnose(push, "--report", "report.json").errors == ["push-repeated"])
    }
}
