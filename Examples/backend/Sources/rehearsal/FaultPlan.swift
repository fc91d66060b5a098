import APNsStandIn
import Foundation
import GRDB
import PushBackend
import Synchronization

/// The faults, in the order in which pushes meet them.
final class FaultPlan: Sendable {
    private let scene: Scene
    private let service: SupervisedService
    private let phones: [Phone]
    private let lines = Mutex<[String]>([])

    init(scene: Scene, service: SupervisedService, phones: [Phone]) {
        self.scene = scene
        self.service = service
        self.phones = phones
    }

    /// The user who deletes the app.
    var userWithoutApp: String { phones[1].user }
    /// What was done.
    var log: [String] { lines.withLock { $0 } }

    /// Carries out each fault when its share of the pushes was accepted.
    func run(share: @Sendable () -> Double) async throws {
        let steps: [(Double, @Sendable () async throws -> String)] = [
            (0.05, { self.answers() }), (0.12, { self.connections() }), (0.2, { self.resets() }),
            (0.3, { try await self.kill() }), (0.4, { try await self.lockDatabase() }),
            (0.5, { try await self.fillDisk() }), (0.6, { try await self.rotate() }),
            (0.7, { try await self.revoke() }), (0.78, { try await self.loseKeys() }),
            (0.85, { self.endToken() }), (0.92, { try await self.restart() }),
        ]
        for (at, step) in steps {
            while share() < at { try await Task.sleep(for: .milliseconds(10)) }
            let line = try await step()
            lines.withLock { $0.append("\(Int(at * 100)) %: \(line)") }
        }
    }

    private var servers: [APNsStandIn] { Array(scene.apns.values) }

    private func answers() -> String {
        for server in servers {
            for (reason, retryAfter) in [
                ("ServiceUnavailable", 1), ("TooManyRequests", 1), ("InternalServerError", nil), ("IdleTimeout", nil),
            ] {
                guard var refusal = Refusal.named(reason) else { continue }
                refusal.retryAfterInSeconds = retryAfter
                server.order(.answer(refusal), times: 10)
            }
        }
        return "APNs answers 503, 429, 500 and 400 IdleTimeout, ten times each"
    }

    private func connections() -> String {
        for server in servers {
            server.order(.goAway, times: 2)
            server.order(.close(afterAccepting: true))
            server.goAway()
        }
        return "APNs sends GOAWAY three times and cuts a connection after it has accepted a push"
    }

    private func resets() -> String {
        for server in servers {
            server.order(.reset(afterAccepting: true), times: 20)
            server.order(.reset(afterAccepting: false), times: 20)
            server.order(.cutAnswer, times: 5)
            server.order(.silence, times: 5)
        }
        return
            "APNs resets 40 streams, half of them after it has accepted the push, cuts 5 answers, and never answers 5"
    }

    private func kill() async throws -> String {
        try await service.restart(SIGKILL)
        return "the service is killed with kill -9 and started again"
    }

    private func lockDatabase() async throws -> String {
        let path = "\(scene.folder)/pushes.sqlite"
        let seconds = 4
        try await Task.detached {
            let queue = try DatabaseQueue(path: path)
            try await queue.writeWithoutTransaction { db in
                try db.execute(sql: "PRAGMA busy_timeout = 10000; BEGIN IMMEDIATE")
                Thread.sleep(forTimeInterval: TimeInterval(seconds))
                try db.execute(sql: "COMMIT")
            }
        }.value
        return "another process locks the database for \(seconds) s, longer than the service waits"
    }

    private func fillDisk() async throws -> String {
        let path = "\(scene.folder)/pushes.sqlite"
        let pages = try await DatabaseQueue(path: path).read { try Int.fetchOne($0, sql: "PRAGMA page_count") ?? 0 }
        try await service.restart(SIGKILL, ["--page-limit", "\(pages)"])
        try await Task.sleep(for: .seconds(3))
        try await service.restart(SIGKILL)
        return "the disk is full for 3 s: no more than the \(pages) pages that the database has"
    }

    private func rotate() async throws -> String {
        try await scene.pushcrypt("rotate", "-q", "--now", "senders")
        for phone in phones { try await phone.fetchSenders() }
        try await scene.pushcrypt("rotate", "-q", "--now", "--at-once", "senders")
        return "the signing key is rotated"
    }

    /// Revokes the signing key and publishes the set, which all phones fetch at once.
    private func revoke() async throws -> String {
        let stolen = try await scene.senderKey("primary")
        try await scene.pushcrypt("revoke", "-q", "--yes", "senders", "--", stolen)
        for phone in phones { try await phone.fetchSenders() }
        return "the signing key is revoked: devices refuse what it has signed"
    }

    private func loseKeys() async throws -> String {
        try phones[0].loseKeys()
        return "a phone loses its keys"
    }

    private func endToken() -> String {
        scene.apns[phones[1].environment]?.end(token: phones[1].token)
        return "a user deletes the app: APNs answers 410"
    }

    private func restart() async throws -> String {
        let status = try await service.restart(SIGTERM)
        guard status == 0 else { throw RehearsalError("the service ended with status \(status) after SIGTERM") }
        return "the service is restarted by SIGTERM"
    }
}
