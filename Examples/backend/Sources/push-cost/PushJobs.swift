import Foundation
import NIOCore
import PushCryptSender

/// The measured ways to push one notification.
struct PushJobs {
    /// ```
    /// plain                      the notification as it is
    /// sealN.alone, signN.alone   its JSON, only sealed, by suite N, and not sent; signed as well
    /// sealN.each, signN.each     the notification, sealed just before it is sent
    /// sealN.ahead, signN.ahead   the notification, sealed by `BatchSealer`, ahead of the connection
    /// ```
    struct Job {
        enum Way: String { case alone, each, ahead }

        /// nil for a plain push.
        var suite: Int?
        var isSigned = false
        var way = Way.each

        init?(_ text: Substring) {
            guard text != "plain" else { return }
            let parts = text.split(separator: ".")
            guard parts.count == 2, ["seal", "sign"].contains(parts[0].dropLast()),
                let suite = parts[0].last?.wholeNumberValue, let way = Way(rawValue: String(parts[1]))
            else { return nil }
            self.suite = suite
            isSigned = parts[0].hasPrefix("sign")
            self.way = way
        }
    }

    /// As long as that of the payload jobs of Benchmarks.
    private static let notification = PushNotification(
        title: "Ada Lovelace", subtitle: "Analytical Engine",
        body: "The Engine might compose elaborate and scientific pieces of music of any degree of complexity or "
            + "extent.", badge: 3, sound: .named("message.caf"), category: "MESSAGE", threadID: "conversation-71c2",
        interruptionLevel: .active,
        custom: ["conversation": "71c2b9f0-8d2e-4f0c-9a54-1f3b7f9f3a10", "message": 918_273_645, "sender": "ada"])

    private let connection: PushConnection
    /// The largest number of pushes without an answer.
    private static let inFlight = 100
    private let encoder = Sealer.standardEncoder()
    private let recipients: [Int: Recipient]
    private let sealer: Sealer
    private let signingSealer: Sealer

    init(connection: PushConnection) throws {
        self.connection = connection
        recipients = try FreshKeys.recipients()
        sealer = try Sealer(topic: PushConnection.topic)
        signingSealer = try Sealer(topic: PushConnection.topic, signer: .key(FreshKeys.sender()))
    }

    /// The processor time of all threads of this process, from the first push to the last answer.
    func nanoseconds(_ job: Job, _ count: Int) async throws -> Int64 {
        let before = Self.processorTime()
        try await run(job, count)
        return Self.processorTime() - before
    }

    private static func processorTime() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    private func run(_ job: Job, _ count: Int) async throws {
        guard let suite = job.suite else { return try await send(numbers(count)) { _ in try plain() } }
        guard let recipient = recipients[suite] else { throw UnknownSuite(suite: suite) }
        let sealer = job.isSigned ? signingSealer : sealer
        switch job.way {
        case .alone:
            let json = Array(try encoder.encode(Self.notification))
            for _ in 0..<count { _ = try sealer.seal(json, to: recipient) }
        case .each:
            try await send(numbers(count)) { _ in Push(try sealer.seal(Self.notification, to: recipient)) }
        case .ahead:
            let requests = (0..<count).map { SealRequest(Self.notification, to: recipient, context: $0) }
            try await send(BatchSealer(sealer).seal(requests)) { Push(try $0.result.get()) }
        }
    }

    private func numbers(_ count: Int) -> AsyncStream<Int> {
        let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
        for number in 0..<count { continuation.yield(number) }
        continuation.finish()
        return stream
    }

    private func plain() throws -> Push {
        let headers = [
            ("apns-push-type", "alert"), ("apns-topic", PushConnection.topic),
            ("apns-expiration", String(UnixTime.now.seconds + 86_400)), ("apns-priority", "10"),
        ]
        return Push(body: ByteBuffer(bytes: try encoder.encode(Self.notification)), headers: headers)
    }

    private func send<Items: AsyncSequence>(
        _ items: Items, _ push: @escaping @Sendable (Items.Element) throws -> Push
    ) async throws where Items.Element: Sendable {
        try await withThrowingTaskGroup(of: Void.self) { group in
            var count = 0
            for try await item in items {
                if count >= Self.inFlight { _ = try await group.next() }
                count += 1
                group.addTask { [connection] in try await connection.send(push(item)) }
            }
            try await group.waitForAll()
        }
    }
}

private struct UnknownSuite: Error {
    let suite: Int
}
