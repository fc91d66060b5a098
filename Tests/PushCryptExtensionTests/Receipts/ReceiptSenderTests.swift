import PushCryptPrimitives
import PushCryptSimulator
import PushCryptTestSupport
import Testing

@testable import PushCryptExtension

/// What a session's receipt does after it was stored, and what a flush sends.
@Suite struct ReceiptSenderTests {
    private let folder = StoreFolder()
    private var store: SharedStore { folder.first }
    private let transport = RecordingTransport()
    private let closed = RecordingTransport(isOpen: false)
    private static let address = "https://push.example/receipts"

    private func posting(
        _ transport: any HTTPTransport, delay: ReceiptPosting.Delay? = nil, timer: ManualTimer = ManualTimer()
    ) throws -> ReceiptPosting {
        try ReceiptPosting(to: Self.address, transport: transport, delay: delay, timeLimit: .seconds(7), timer: timer)
    }

    private func flush(_ posting: ReceiptPosting) async throws -> ReceiptSender.Flush {
        try await ReceiptSender(store: store, posting: posting, clock: { StoreFolder.now }).flush()
    }

    /// Stores and starts the receipt of the push `a` as a session does.
    private func send(_ posting: ReceiptPosting, _ keepRunning: ProcessActivity = .system) throws {
        try store.spool(.sample("a"))
        posting.start(try .sample("a"), in: store, keepRunning: keepRunning)
    }

    @Test("a receipt that fails or has no response in time stays, and is sent by a flush", arguments: [false, true])
    func failure(isStuck: Bool) async throws {
        let (asked, timer) = (Signal(), ManualTimer())
        if !isStuck { transport.answer([.network]) }
        try send(posting(isStuck ? StuckTransport(asked: asked) : transport, timer: timer))
        if isStuck { await asked.wait() } else { _ = await transport.next() }
        #expect(try store.receiptCount() == 1)
        timer.fire(.seconds(7))
        // The first attempt may still be running. A flush skips its receipt.
        var sentCount = 0
        while try store.receiptCount() > 0 { sentCount += try await flush(posting(transport)).sentCount }
        #expect(sentCount == 1)
        #expect(transport.pushes == (isStuck ? ["a"] : ["a", "a"]))
        #expect(timer.durations == [.seconds(7)])
    }

    @Test("without a usable store a receipt is sent once", arguments: [false, true])
    func noStore(hasStore: Bool) async throws {
        let broken = SharedStore(folder: folder.path + "/none/store", role: .extension)
        try posting(transport).start(.sample("a"), in: hasStore ? broken : nil, keepRunning: .system)
        #expect(await transport.next()?.contains(#""push":"a""#) == true)
    }

    @Test("a receipt is removed after the server has answered, and until then the process is kept running")
    func keepsRunning() async throws {
        let (ended, count) = (Signal(), Locked(0))
        let activity = ProcessActivity { _ in
            count.withLock { $0 += 1 }
            return {
                count.withLock { $0 -= 1 }
                ended.give()
            }
        }
        try send(posting(closed), activity)
        #expect(try await closed.next() == Receipt.sample("a").json.text)
        #expect(try store.receiptCount() == 1 && count.withLock { $0 } == 1)
        closed.open()
        await ended.wait()
        #expect(try store.receiptCount() == 0 && count.withLock { $0 } == 0)
        #expect(closed.bodies.count == 1)
        #expect(closed.bodies[0].hasPrefix("application/json \(Self.address) {"))
    }

    @Test("if the system is about to suspend the process, or interrupts the delay, the receipt stays in the store")
    func stays() async throws {
        let (suspended, interrupted) = (Signal(), Signal())
        let activity = ProcessActivity { _ in
            suspended.give()
            return nil
        }
        try send(posting(transport), activity)
        await suspended.wait()
        let delay = ReceiptPosting.Delay {
            .zero
        } sleep: { _ in
            interrupted.give()
            throw CancellationError()
        }
        try send(posting(transport, delay: delay))
        await interrupted.wait()
        #expect(try store.receiptCount() == 1 && transport.bodies.isEmpty)
    }

    /// A system that takes posts, or refuses them.
    private struct TakingTransport: BackgroundTransport {
        let taken: Locked<[String]>
        let takes: Bool

        func begin(_ post: HTTPPost, receiptID: String) throws(TransferError) {
            taken.withLock { $0.append("\(receiptID) \(post.userAgent ?? "") \(post.body.text)") }
            if !takes { throw TransferError(.noSpace, "thrown by the test") }
        }
    }

    @Test("a receipt that the system posts in the background stays in the store", arguments: [true, false])
    func inBackground(takes: Bool) async throws {
        let (taken, ended) = (Locked<[String]>([]), Signal())
        let posting = try ReceiptPosting(
            to: Self.address, inBackground: TakingTransport(taken: taken, takes: takes), userAgent: "A/1")
        try send(posting, ProcessActivity { _ in { ended.give() } })
        await ended.wait()
        let receipt = try Receipt.sample("a")
        #expect(taken.withLock { $0 } == ["\(receipt.id) A/1 \(receipt.json.text)"])
        #expect(try store.receiptCount() == 1)
        #expect(try await flush(posting) == .init(sentCount: 0, leftCount: 1))
        try store.removeReceipt(receipt.id)
        #expect(try store.receiptCount() == 0)
    }

    @Test("with a delay a receipt is sent after it, unless a flush has sent it before", arguments: [false, true])
    func delay(isFlushed: Bool) async throws {
        let (asked, end, ended) = (Signal(), Signal(), Signal())
        let delay = ReceiptPosting.Delay {
            .seconds(7)
        } sleep: { duration in
            #expect(duration == .seconds(7))
            asked.give()
            await end.wait()
        }
        let posting = try posting(transport, delay: delay)
        try send(posting, ProcessActivity { _ in { ended.give() } })
        await asked.wait()
        #expect(try store.receiptCount() == 1 && transport.bodies.isEmpty)
        if isFlushed { #expect(try await flush(posting) == .init(sentCount: 1, leftCount: 0)) }
        end.give()
        await ended.wait()
        #expect(try store.receiptCount() == 0)
        #expect(transport.pushes == ["a"])
    }

    @Test("the longest possible delay doesn't trap")
    func longestDelay() async {
        let delay = ReceiptPosting.Delay.upTo(.seconds(Int64.max))
        let sleep = Task { try await delay.sleep(.seconds(Int64.max)) }
        sleep.cancel()
        await #expect(throws: CancellationError.self) { try await sleep.value }
        #expect(delay.draw() >= .zero)
    }

    @Test("a random delay is between zero and the longest delay")
    func upTo() {
        let delay = ReceiptPosting.Delay.upTo(.seconds(5))
        let drawn = (0..<100).map { _ in delay.draw() }
        #expect(drawn.allSatisfy { $0 >= .zero && $0 <= .seconds(5) } && Set(drawn).count > 50)
    }

    @Test("a user agent with other characters than printable ASCII is headerRefused", arguments: ["", "a\r\nb", "ä"])
    func userAgent(_ name: String) throws {
        expectCode(.headerRefused, of: \TransferError.code) {
            try ReceiptPosting(to: Self.address, transport: transport, userAgent: name)
        }
    }

    /// Stores five receipts, and returns a sender.
    private func filled(
        _ transport: (any HTTPTransport)? = nil, _ timer: ManualTimer = ManualTimer(),
        at time: UnixTime = StoreFolder.now
    ) throws -> ReceiptSender {
        for id in ["a", "b", "c", "d", "e"] { try store.spool(.sample(id)) }
        let posting = try posting(transport ?? self.transport, timer: timer)
        return ReceiptSender(store: store, posting: posting, clock: { time })
    }

    private static let answers: [([TransferError.Code?], sent: Int, posted: String, again: String)] = [
        ([], 5, "abcde", ""),
        // A failure that isn't a status of the server ends the flush.
        ([nil, .network], 1, "ab", "bcde"), ([nil, .cancelled], 1, "ab", "bcde"),
        ([nil, .addressRefused], 1, "ab", "bcde"),
        // A receipt that the server refuses doesn't block the others, and three of them end the flush.
        ([.status], 4, "abcde", "a"), ([.status, nil, .status, .status], 1, "abcd", "acde"),
    ]

    @Test("a flush sends all receipts in order unless it fails, and the next flush sends the rest", arguments: answers)
    func flushes(_ answers: [TransferError.Code?], sent: Int, posted: String, again: String) async throws {
        transport.answer(answers)
        let sender = try filled()
        #expect(try await sender.flush() == .init(sentCount: sent, leftCount: 5 - sent))
        #expect(transport.pushes.joined() == posted)
        #expect(try await sender.flush() == .init(sentCount: 5 - sent, leftCount: 0))
        #expect(transport.pushes.joined() == posted + again)
    }

    @Test("a receipt that is no longer in the store isn't sent")
    func sentMeanwhile() async throws {
        let sender = try filled()
        let receipt = try #require(try store.receipt(after: 0))
        try store.removeReceipt(receipt.id)
        _ = await sender.send(receipt)
        #expect(transport.pushes.isEmpty)
        #expect(try store.receiptCount() == 4)
    }

    @Test("a flush removes old receipts without sending them")
    func old() async throws {
        let later = try filled(at: StoreFolder.now + 7 * 86_400 + 1)
        #expect(try await later.flush() == .init(sentCount: 0, leftCount: 0))
        #expect(transport.pushes.isEmpty)
    }

    @Test("concurrent flushes send each receipt once")
    func concurrent() async throws {
        let senders = try [filled(), filled()]
        let counts = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<6 { group.addTask { try await senders[number % 2].flush().sentCount } }
            return try await group.reduce(0, +)
        }
        #expect(counts == 5)
        #expect(transport.pushes.sorted() == ["a", "b", "c", "d", "e"])
        #expect(try store.receiptCount() == 0)
    }

    @Test("a flush skips a receipt that another flush is sending")
    func sending() async throws {
        let sender = try filled(closed)
        let first = Task { try await sender.flush() }
        #expect(await closed.next()?.contains(#""push":"a""#) == true)
        let second = Task { try await sender.flush() }
        #expect(await closed.next()?.contains(#""push":"b""#) == true)
        closed.open()
        #expect(try await first.value.sentCount + second.value.sentCount == 5)
        #expect(closed.bodies.count == 5)
    }

    @Test("a cancelled flush sends no further receipt")
    func cancelled() async throws {
        let sender = try filled(closed)
        let task = Task { try await sender.flush() }
        _ = await closed.next()
        task.cancel()
        closed.open()
        #expect(try await task.value == .init(sentCount: 1, leftCount: 4))
    }

    @Test(
        "a flush ends at the first receipt without a response, or at its own time limit",
        arguments: [(Duration.seconds(25), Duration.seconds(7)), (.seconds(3), .seconds(3))])
    func stuckFlush(limit: Duration, fired: Duration) async throws {
        let (asked, timer) = (Signal(), ManualTimer())
        let stuck = StuckTransport(asked: asked)
        let sender = try filled(stuck, timer)
        async let flush = sender.flush(timeLimit: limit)
        await asked.wait()
        timer.fire(fired)
        #expect(try await flush == .init(sentCount: 0, leftCount: 5))
        #expect(stuck.requestCount == 1)
        #expect(timer.durations == [limit, .seconds(7)] && !timer.isPending)
    }

    @Test("a flush throws if the store can't be read")
    func unreadableStore() async throws {
        let broken = SharedStore(folder: folder.path + "/none/store", role: .app)
        let posting = try posting(transport)
        let error = await #expect(throws: StoreError.self) {
            try await ReceiptSender(store: broken, posting: posting, clock: { StoreFolder.now }).flush()
        }
        #expect(error?.code == .unavailable)
    }
}
