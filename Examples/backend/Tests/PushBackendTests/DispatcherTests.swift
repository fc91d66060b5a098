import BackendTestSupport
import GRDB
import NIOConcurrencyHelpers
import PushCryptSender
import ServiceLifecycle
import Testing

@testable import PushBackend

@Suite(
    "the dispatcher and its outcomes", .enabled(if: RunningStandIn.isAvailable, RunningStandIn.requirement),
    .serialized, .timeLimit(.minutes(2))) struct DispatcherTests
{
    private func group(_ sending: Sending, _ worker: DeliveryWorker? = nil) -> ServiceGroup {
        let dispatcher = Dispatcher(
            store: sending.test.store, worker: worker ?? sending.worker,
            sleep: { _ in try await Task.sleep(for: .milliseconds(5)) }, logger: sending.log.logger)
        return ServiceGroup(configuration: .init(services: [dispatcher], logger: sending.log.logger))
    }

    @Test("everything that is due is sent once, and every outcome is stored")
    func everything() async throws {
        try await Sending.with { sending in
            var messages: [AcceptedMessage] = []
            for number in 0..<100 { messages.append(try await sending.accept("Message \(number)")) }
            let group = group(sending)
            async let running: Void = group.run()
            try await sending.apns.waitForPushes(100)
            await group.triggerGracefulShutdown()
            try await running
            let pushes = try sending.apns.accepted
            #expect(Set(pushes.map { $0.headers["apns-id"] }).count == 100 && pushes.count == 100)
            for message in messages {
                #expect(try await sending.test.store.report(on: message.id)?.sent == 1)
            }
        }
    }

    @Test("a graceful shutdown waits for the answer of a push that is on its way, stores it, and claims nothing more")
    func shutdown() async throws {
        try await Sending.with { sending in
            let (answers, answer) = AsyncStream.makeStream(of: Void.self)
            let (requests, request) = AsyncStream.makeStream(of: Void.self)
            let worker = sending.worker
            let held = DeliveryWorker(
                environment: worker.environment, sealer: worker.sealer,
                transport: { push, token in
                    let response = try await worker.transport(push, token)
                    request.yield()
                    for await _ in answers { break }
                    return response
                }, token: worker.token, gate: worker.gate, backoff: worker.backoff, milliseconds: worker.milliseconds,
                logger: worker.logger)
            let group = group(sending, held)
            let message = try await sending.accept()
            async let running: Void = group.run()
            for await _ in requests { break }
            await group.triggerGracefulShutdown()
            let late = try await sending.accept()
            #expect(try await sending.test.store.report(on: message.id)?.sent == 0)
            answer.finish()
            try await running
            #expect(try await sending.test.store.report(on: message.id)?.sent == 1)
            #expect(try await sending.test.store.report(on: late.id)?.queued == 1)
        }
    }

    @Test(
        "outcomes wait while another process locks the database, until they are stored or the process has to end",
        arguments: [false, true])
    func lockedStore(hasToEnd: Bool) async throws {
        try await Sending.with(busyTimeoutInSeconds: 0) { sending in
            let message = try await sending.accept()
            let delivery = try #require(try await sending.claim())
            let outcome = await sending.worker.attempt(delivery)
            var configuration = Configuration()
            configuration.allowsUnsafeTransactions = true
            let other = try DatabaseQueue(path: sending.test.path, configuration: configuration)
            try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
            let waits = NIOLockedValueBox<[Int64]>([])
            let dispatcher = Dispatcher(
                store: sending.test.store, worker: sending.worker,
                sleep: { wait in
                    let count = waits.withLockedValue { waits in
                        waits.append(wait)
                        return waits.count
                    }
                    guard count == 3 else { return }
                    if hasToEnd { withUnsafeCurrentTask { $0?.cancel() } }
                    try await other.writeWithoutTransaction { try $0.execute(sql: "COMMIT") }
                }, logger: sending.log.logger)
            await Task { await dispatcher.record([outcome]) }.value
            #expect(waits.withLockedValue { $0 } == [100, 200, 400])
            #expect(try await sending.test.store.report(on: message.id)?.sent == (hasToEnd ? 0 : 1))
        }
    }
}
