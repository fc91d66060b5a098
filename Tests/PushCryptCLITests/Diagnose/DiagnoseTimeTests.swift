import Foundation
import PushCryptCore
import PushCryptSender
import PushCryptSimulator
import Testing

/// Clocks, and pushes that came too late or too early.
@Suite("diagnose: time", .ownThreads)
struct DiagnoseTimeTests {
    private func opening(_ app: InstalledApp) throws -> [String] {
        ["--keys", try app.keyFile(), "--topic", InstalledApp.topic]
    }

    @Test("a clock that is fast by three days, and a push that expires within them: the clock is wrong")
    func fastClock() async throws {
        let app = try await InstalledApp()
        let push = try app.seal(options: .init(expiresAfter: .seconds(86_400)))
        app.device.clockError = .seconds(3 * 86_400)
        #expect(await app.fail(push).failure == .expired)
        try app.writeReport()
        for inputs in [[], try opening(app)] {
            let diagnosed = try Diagnosed(app.place, push, ["--report", "report.json"] + inputs, at: app.clock.time)
            #expect(
                diagnosed.cause == "clock-wrong" && diagnosed.first.cause.contains("fast by 3 days"),
                "\(diagnosed.text)")
        }
    }

    @Test(
        "a clock that is slow by three days, and a server's that is fast: the finding names both clocks and both times")
    func slowClock() async throws {
        let (slow, fast) = (try await InstalledApp(), try await InstalledApp())
        slow.device.clockError = .seconds(-3 * 86_400)
        for (app, push) in [(slow, try slow.seal()), (fast, try fast.seal(at: fast.clock.time + 7_200))] {
            #expect(await app.fail(push).failure == .notYetValid)
            try app.writeReport()
            for inputs in [[], try opening(app)] {
                let diagnosed = try Diagnosed(
                    app.place, push, ["--report", "report.json"] + inputs, at: app.clock.time)
                #expect(diagnosed.cause == "clock-wrong", "\(diagnosed.text)")
                #expect(diagnosed.first.cause.contains("device is slow"), "\(diagnosed.text)")
                let seen = diagnosed.first.evidence.joined()
                #expect(seen.contains("\(app.clock.time)") && seen.contains("\(app.device.time)"), "\(diagnosed.text)")
            }
        }
    }

    @Test("a device whose clock was never set, without any failed push")
    func unsetClock() async throws {
        let app = try await InstalledApp()
        app.device.clockError = .seconds(-InstalledApp.start.seconds)
        try app.writeReport()
        let diagnosed = try app.diagnose(app.seal(), "--report", "report.json")
        #expect(diagnosed.cause == "clock-wrong" && diagnosed.first.cause.contains("isn't set"), "\(diagnosed.text)")
    }

    @Test(
        "the difference of a clock is rounded to the nearest minute, hour or day, and 10 minutes are allowed",
        arguments: [
            (600, nil), (601, "fast by 10 minutes"), (17_995, "fast by 5 hours"), (3_455_995, "fast by 40 days"),
            (-259_195, "is 3 days old"),
        ] as [(Int64, String?)])
    func rounded(_ seconds: Int64, _ text: String?) async throws {
        let app = try await InstalledApp()
        await app.succeed(try app.seal())
        app.device.clockError = .seconds(seconds)
        try app.writeReport()
        let diagnosed = try app.diagnose(app.seal(), "--report", "report.json")
        #expect(diagnosed.errors == [] && diagnosed.found.isEmpty == (text == nil), "\(diagnosed.text)")
        #expect(text.map { diagnosed.first.cause.contains($0) } ?? true, "\(diagnosed.text)")
    }

    @Test("a push that waited in a queue until it had expired, and one that has expired since")
    func expired() async throws {
        let app = try await InstalledApp()
        let push = try app.seal(options: .init(expiresAfter: .seconds(3_600)))
        app.clock.advance(by: .seconds(7_200))
        #expect(await app.fail(push).failure == .expired)
        try app.writeReport()
        #expect(try app.diagnose(push, "--report", "report.json").cause == "push-expired")
        let diagnosed = try Diagnosed(app.place, push, opening(app), at: app.clock.time)
        #expect(diagnosed.errors == [] && diagnosed.warnings == ["push-expired"], "\(diagnosed.text)")
        #expect(diagnosed.first.advice.contains("--at"), "\(diagnosed.text)")
    }

    @Test("an extension that never ran, and a push that has expired since then: the extension is the error")
    func expiredAfterDelivery() async throws {
        let app = try await InstalledApp(.init(hasExtension: false))
        let push = try app.seal(options: .init(expiresAfter: .seconds(3_600)))
        await app.fail(push)
        try app.writeReport()
        let diagnosed = try Diagnosed(
            app.place, push, ["--report", "report.json"] + opening(app), at: app.clock.time + 7_200)
        #expect(
            diagnosed.errors == ["extension-never-ran"] && diagnosed.warnings == ["push-expired"], "\(diagnosed.text)")
    }
}
