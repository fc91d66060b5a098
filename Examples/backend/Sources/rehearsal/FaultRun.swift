import APNsStandIn
import ArgumentParser
import AsyncHTTPClient
import Foundation
import PushBackend
import PushCryptExtension
import Synchronization

/// Lets pushes flow while the service is killed, its database is locked and full, APNs fails in every documented way, and keys
/// are rotated, revoked and lost. Then it checks every screen.
struct FaultRun: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "faults", abstract: "Counts what phones show after faults.")

    @OptionGroup var tools: Tools
    @Option(help: "How many pushes flow, at least 500.") var pushes = 2_000
    @Option(help: "To how many phones.") var phones = 20
    @Option(help: "How many minutes everything may take after the last push was accepted.") var patience = 5

    func validate() throws {
        guard pushes >= 500, phones >= 4, patience >= 1 else {
            throw ValidationError("--pushes is 500 or more, --phones 4 or more, and --patience 1 or more")
        }
    }

    func run() async throws {
        let scene = try await Scene(tools, logLevel: "info")
        let client = HTTPClient(eventLoopGroupProvider: .singleton)
        let service = try await SupervisedService(scene)
        let result: Result<Void, any Error>
        do {
            let backend = BackendClient(
                client: client, base: "http://127.0.0.1:\(service.port)", serviceToken: scene.serviceToken)
            try await flow(scene, service, backend)
            result = .success(())
        } catch { result = .failure(error) }
        let status = await service.end()
        try? await client.shutdown()
        await scene.end()
        try result.get()
        guard status == 0 else { throw RehearsalError("the service ended with status \(status)") }
    }

    private func flow(_ scene: Scene, _ service: SupervisedService, _ backend: BackendClient) async throws {
        var all: [Phone] = []
        for number in 0..<phones {
            // Both of Apple's servers have phones.
            let environment: APNsEnvironment = number % 4 == 3 ? .sandbox : .production
            all.append(try await Phone("user-\(number)", environment, scene: scene, backend: backend))
        }
        let ledger = Ledger(all, pushes: pushes)
        let start = ContinuousClock.now
        let faults = FaultPlan(scene: scene, service: service, phones: all)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await faults.run { ledger.acceptedShare } }
            for _ in 0..<8 {
                group.addTask { while let message = ledger.next() { try await ledger.send(message, backend) } }
            }
            try await group.waitForAll()
        }
        // Each phone gets a push after the last fault, also if all others were accepted before it.
        try await ledger.send(ledger.last(), backend)
        let accepted = ContinuousClock.now
        let reports = try await waitForEnd(of: ledger.ids, backend, scene, all, limit: .seconds(60 * patience))
        let ended = ContinuousClock.now
        print("  the phones have keys of suite \(Phone.suite.rawValue)")
        for line in faults.log { print("  \(line)") }
        try ledger.check(reports, all, scene, userWithoutApp: faults.userWithoutApp, (accepted - start, ended - start))
        try scene.requireLog(without: all.flatMap(\.secrets) + (0...9).map { "Message \($0)" })
    }
}

/// The service's process, which the faults kill and start again on the same port.
actor SupervisedService {
    nonisolated let port: UInt16
    private let scene: Scene
    private var process: ChildProcess

    init(_ scene: Scene) async throws {
        self.scene = scene
        (process, port) = try await scene.startService()
    }

    /// Ends the process with a signal and starts it again.
    ///
    /// - Returns: the status with which it ended.
    @discardableResult
    func restart(_ signal: Int32, _ more: [String] = []) async throws -> Int32 {
        let status = await process.end(signal)
        (process, _) = try await scene.startService(port: port, more)
        return status
    }

    func end() async -> Int32 { await process.end(SIGTERM) }
}
