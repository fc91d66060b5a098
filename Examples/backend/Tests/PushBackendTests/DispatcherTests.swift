import APNsStandIn
import BackendTestSupport
import GRDB
import Logging
import NIOConcurrencyHelpers
import ServiceLifecycle
import Testing

@testable import PushBackend

@Suite("the dispatcher and its outcomes", .serialized) struct DispatcherTests {
    @Test("everything that is due is sent once, and every outcome is stored")
    func everything() async throws {
        try await Sending.with { sending in
            var messages: [AcceptedMessage] = []
            for number in 0..<100 { messages.append(try await sending.accept("Message \(number)")) }
            let running = Running(sending, sending.worker.transport)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await running.group.run() }
                await sending.apns.waitForPushes(100)
                await running.group.triggerGracefulShutdown()
                try await group.waitForAll()
            }
            #expect(Set(sending.apns.accepted.map(\.id)).count == 100 && sending.apns.accepted.count == 100)
            for message in messages {
                #expect(try await sending.test.store.report(on: message.id)?.sent == 1)
            }
        }
    }

    @Test("a graceful shutdown waits for the answer of a push that is on its way, and stores it")
    func shutdown() async throws {
        try await Sending.with { sending in
            let message = try await sending.accept("Hello")
            let held = HeldTransport(sending.worker.transport)
            let running = Running(sending, held)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await running.group.run() }
                await held.isAnswered.next()
                await running.group.triggerGracefulShutdown()
                #expect(try await sending.test.store.report(on: message.id)?.sent == 0)
                held.mayReturn.signal()
                try await group.waitForAll()
            }
            #expect(try await sending.test.store.report(on: message.id)?.sent == 1)
            #expect(sending.apns.accepted.count == 1)
        }
    }

    @Test("a delivery isn't sent again while this process waits for its answer, also after its lease")
    func longAttempt() async throws {
        try await Sending.with { sending in
            _ = try await sending.accept("First")
            let held = HeldTransport(sending.worker.transport)
            let running = Running(sending, held)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await running.group.run() }
                await held.isAnswered.next()
                sending.clock.advance(by: 61_000)
                _ = try await sending.accept("Second")
                running.wakeUps.signal()
                await sending.apns.waitForPushes(2)
                held.mayReturn.signal()
                await running.group.triggerGracefulShutdown()
                try await group.waitForAll()
            }
            #expect(Set(sending.apns.accepted.map(\.id)).count == 2 && sending.apns.accepted.count == 2)
        }
    }

    @Test("outcomes wait while another process locks the database, and none is lost")
    func lockedStore() async throws {
        var options = SQLiteStore.Options()
        options.busyTimeoutInSeconds = 0
        try await Sending.with(options) { sending in
            let message = try await sending.accept("Hello")
            let delivery = try #require(try await sending.claim())
            let outcome = await sending.worker.send(sending.worker.prepare(delivery))
            let lock = try await StoreLock(sending.test.path)
            let waits = NIOLockedValueBox<[Int64]>([])
            let writer = sending.writer { wait in
                let count = waits.withLockedValue { waits in
                    waits.append(wait)
                    return waits.count
                }
                if count == 3 { try await lock.release() }
            }
            await writer.write(outcome)
            #expect(waits.withLockedValue { $0 } == [100, 200, 400])
            #expect(try await sending.test.store.report(on: message.id)?.sent == 1)
        }
    }

    @Test("at the end of the process an outcome that waits for the database is given up", .timeLimit(.minutes(1)))
    func givenUp() async throws {
        var options = SQLiteStore.Options()
        options.busyTimeoutInSeconds = 0
        try await Sending.with(options) { sending in
            _ = try await sending.accept("Hello")
            let delivery = try #require(try await sending.claim())
            let outcome = await sending.worker.send(sending.worker.prepare(delivery))
            let lock = try await StoreLock(sending.test.path)
            let waits = WakeUps()
            let writer = sending.writer { _ in
                waits.signal()
                try await Task.sleep(for: .seconds(86_400))
            }
            let writing = Task { await writer.write(outcome) }
            await waits.next()
            writing.cancel()
            await writing.value
            try await lock.release()
        }
    }
}

/// A dispatcher in a group of services.
private struct Running {
    let group: ServiceGroup
    let wakeUps = WakeUps()

    init(_ sending: Sending, _ transport: any PushTransport) {
        let worker = sending.worker
        let same = DeliveryWorker(
            environment: worker.environment, sealer: worker.sealer, transport: transport, token: worker.token,
            gate: worker.gate, backoff: worker.backoff, milliseconds: worker.milliseconds, metrics: sending.metrics,
            logger: worker.logger)
        var options = Dispatcher.Options()
        (options.width, options.chunk) = (16, 4)
        // Nothing becomes due by the clock, so the ticks wait for the end.
        let dispatcher = Dispatcher(
            store: sending.test.store, worker: same, writer: sending.writer(), options: options, wakeUps: wakeUps,
            sleep: { _ in try await Task.sleep(for: .seconds(86_400)) }, logger: worker.logger)
        group = ServiceGroup(configuration: .init(services: [dispatcher], logger: worker.logger))
    }
}

/// Sends with another transport, and holds back the first answer.
private struct HeldTransport: PushTransport {
    let isAnswered = WakeUps()
    let mayReturn = WakeUps()
    private let isFirst = NIOLockedValueBox(true)
    private let transport: any PushTransport

    init(_ transport: any PushTransport) { self.transport = transport }

    func send(_ request: PushRequest, providerToken: String) async throws -> PushResponse {
        let response = try await transport.send(request, providerToken: providerToken)
        guard
            isFirst.withLockedValue({ isFirst in
                defer { isFirst = false }
                return isFirst
            })
        else { return response }
        isAnswered.signal()
        await mayReturn.next()
        return response
    }
}

/// Another process's lock of the database.
private struct StoreLock {
    private let queue: DatabaseQueue

    init(_ path: String) async throws {
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        queue = try DatabaseQueue(path: path, configuration: configuration)
        try await queue.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
    }

    func release() async throws { try await queue.writeWithoutTransaction { try $0.execute(sql: "COMMIT") } }
}
