import Foundation
import PushCryptCore
import PushCryptExtension
import PushCryptPrimitives
import PushCryptSender
import PushCryptSimulator
import Testing

extension TeamRun {
    /// The second of two pushes shows the placeholder.
    private static func second(
        _ cause: String, _ finding: String, _ answer: [[String]],
        _ push: @escaping @Sendable (InstalledApp, _ isSecond: Bool, _ earlier: Data?) throws -> Data
    ) -> TeamRun {
        TeamRun(cause: cause, finding: finding, answer: answer) { isMistaken in
            let app = try await InstalledApp()
            let first = try push(app, false, nil)
            await app.succeed(first)
            app.clock.advance(by: .seconds(3_600))
            let payload = try isMistaken ? push(app, true, first) : app.seal()
            await app.deliver(payload, isMistaken: isMistaken)
            try app.writeReport()
            return try app.diagnose(payload, "--report", "report.json", "--keys", app.keyFile())
        }
    }

    static let times = [
        TeamRun(
            cause: "the server's clock has local time in place of UTC, three hours ahead",
            finding: "push-from-the-future",
            answer: [["clock"], ["server", "backend", "sealed", "sealer"]]
        ) { isMistaken in
            let app = try await InstalledApp()
            let payload = try app.seal(at: app.clock.time + (isMistaken ? 3 * 3_600 : 0))
            await app.deliver(payload, isMistaken: isMistaken)
            try app.writeReport()
            return try app.diagnose(payload, "--report", "report.json")
        },
        TeamRun(
            cause: "the user has set the phone's date 45 days ahead",
            finding: "device-clock-wrong",
            answer: [["clock", "date"], ["device", "phone"]]
        ) { isMistaken in
            let app = try await InstalledApp()
            if isMistaken { app.device.clockError = .seconds(45 * 86_400) }
            let payload = try app.seal()
            await app.deliver(payload, isMistaken: isMistaken)
            try app.writeReport()
            return try app.diagnose(payload, "--report", "report.json")
        },
        TeamRun(
            cause: "pushes expire after a minute, and the phone was in a tunnel for ten",
            finding: "push-expired",
            answer: [
                ["expire", "expiry"], ["expiresafter", "longer", "late", "apns-expiration", "off line", "offline"],
            ]
        ) { isMistaken in
            let app = try await InstalledApp()
            let payload = try app.seal(options: .init(expiresAfter: .seconds(isMistaken ? 60 : 86_400)))
            app.device.goOffline()
            let headers = PushHeaders(topic: InstalledApp.topic)
            let stored = await app.device.receive([UInt8](payload), headers)
            app.clock.advance(by: .seconds(600))
            let reception = try #require(await app.device.goOnline())
            #expect(stored.isStored && reception.isRestored != isMistaken)
            try app.writeReport()
            return try app.diagnose(
                payload, "--report", "report.json", "--headers", app.writeHeaders(headers, stored))
        },
        second(
            "a queue delivers a sealed push again, because its worker ended before it acknowledged",
            "push-repeated",
            [["again", "twice", "before", "repeat", "replay"], ["seal", "retr", "queue", "once"]]
        ) { app, _, earlier in try earlier ?? app.seal() },
        second(
            "the name of the campaign is a constant, so each daily push has the id of the first",
            "push-repeated",
            [["campaign"]]
        ) { app, _, _ in try app.seal(options: .init(campaign: "daily-reminder")) },
        TeamRun(
            cause: "the key was replaced after pushes were sealed that a queue held back for 40 days",
            finding: "key-expired",
            answer: [["old", "long", "days", "expired", "queue", "seal"], ["key", "expire"]]
        ) { isMistaken in
            let app = try await InstalledApp()
            let early = try app.seal()
            try app.identity.confirmRegistered(app.identity.rotate().kid)
            app.clock.advance(by: .seconds(40 * 86_400))
            let payload = try isMistaken ? early : app.seal()
            await app.deliver(payload, isMistaken: isMistaken)
            try app.writeReport()
            return try app.diagnose(payload, "--report", "report.json")
        },
    ]
}
