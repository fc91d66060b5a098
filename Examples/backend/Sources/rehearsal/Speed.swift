import ArgumentParser
import AsyncHTTPClient
import Foundation
import PushBackend
import Synchronization

/// Measures the service alone: the stand-ins accept what it sends, and no phone opens anything.
struct Speed: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Measures how fast the service accepts messages, and seals and sends them.")

    @OptionGroup var tools: Tools
    @Option(help: "How many pushes are sent.") var pushes = 20_000
    @Option(help: "To how many phones.") var phones = 100
    @Option(help: "How many requests to the service run at once.") var clients = 16

    func validate() throws {
        guard phones >= 1, pushes >= phones, clients >= 1 else {
            throw ValidationError("--phones and --clients are 1 or more, and --pushes is as much as --phones or more")
        }
    }

    func run() async throws {
        let scene = try await Scene(tools)
        let client = HTTPClient(eventLoopGroupProvider: .singleton)
        var service: ChildProcess?
        let result: Result<Void, any Error>
        do {
            let started = try await scene.startService()
            service = started.process
            let backend = BackendClient(
                client: client, base: "http://127.0.0.1:\(started.port)", serviceToken: scene.serviceToken)
            result = .success(try await measure(scene, backend))
        } catch { result = .failure(error) }
        await service?.end(SIGTERM)
        try? await client.shutdown()
        await scene.end()
        try result.get()
    }

    private final class Progress: Sendable {
        let next = Atomic(0)
        let deliveries = Atomic(0)
    }

    private func measure(_ scene: Scene, _ backend: BackendClient) async throws {
        for number in 0..<phones {
            let environment: APNsEnvironment = number % 4 == 3 ? .sandbox : .production
            _ = try await Phone("user-\(number)", environment, scene: scene, backend: backend)
        }
        scene.phones.end()
        try await measure("to segments of \(phones)", pushes / phones, scene, backend) { _ in
            #"{"segment":"everyone"}"#
        }
        try await measure("to single users", pushes, scene, backend) { [phones] number in
            #"{"user":"user-\#(number % phones)"}"#
        }
    }

    private func measure(
        _ name: String, _ count: Int, _ scene: Scene, _ backend: BackendClient,
        to audience: @escaping @Sendable (Int) -> String
    ) async throws {
        let key = name.replacingOccurrences(of: " ", with: "-")
        let before = scene.phones.arrivedCount
        let progress = Progress()
        let start = ContinuousClock.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<clients {
                group.addTask {
                    while true {
                        let number = progress.next.add(1, ordering: .relaxed).oldValue
                        guard number < count else { return }
                        let payload = #"{"aps":{"alert":{"title":"Clinic","body":"Message \#(number)"}}}"#
                        let accepted = try await backend.send(payload, to: audience(number), key: "\(key)-\(number)")
                        progress.deliveries.add(accepted.deliveries, ordering: .relaxed)
                    }
                }
            }
            try await group.waitForAll()
        }
        let accepted = ContinuousClock.now - start
        let pushes = progress.deliveries.load(ordering: .relaxed)
        while scene.phones.arrivedCount < before + pushes { try await Task.sleep(for: .milliseconds(5)) }
        let sent = ContinuousClock.now - start
        print(
            """
            \(pushes) pushes \(name)
              accepted by the service  \(rate(Double(count), accepted, "messages"))
              accepted by APNs         \(rate(Double(pushes), sent, "pushes"))
            """)
    }

    private func rate(_ count: Double, _ time: Duration, _ what: String) -> String {
        String(format: "%6.0f %@/s (%.1f s)", count / (time / .seconds(1)), what, time / .seconds(1))
    }
}
