import PushCryptPrimitives
import PushCryptSimulator
import PushCryptTestSupport
import Testing

@testable import PushCryptExtension

/// What a session's receipt does after it was stored.
@Suite struct ReceiptPostingTests {
    private let folder: StoreFolder
    private let store: SharedStore
    private static let address = "https://push.example/receipts"

    init() throws {
        folder = try StoreFolder()
        store = folder.store()
    }

    private func posting(
        _ transport: any HTTPTransport, delay: ReceiptPosting.Delay? = nil, timer: ManualTimer = ManualTimer()
    ) throws -> ReceiptPosting {
        try ReceiptPosting(
            to: Self.address, transport: transport, delay: delay, timeLimit: .seconds(7), timer: timer)
    }

    private func sender(_ posting: ReceiptPosting) -> ReceiptSender {
        ReceiptSender(store: store, posting: posting, clock: { StoreFolder.now })
    }

    /// Stores and starts a receipt as a session does.
    private func send(_ name: String, _ posting: ReceiptPosting, _ keepRunning: ProcessActivity = .system) throws {
        try store.spool(.sample(name))
        posting.start(try .sample(name), in: store, keepRunning: keepRunning)
    }

    private func pushes(_ transport: RecordingTransport) -> [String] {
        transport.bodies.compactMap { $0.firstMatch(of: /"push":"([^"]*)"/).map { String($0.1) } }
    }

    /// Waits until a background task of the sender has removed the receipt.
    private func isEmpty() async throws -> Bool {
        for _ in 0..<100_000 {
            if try store.receiptCount() == 0 { return true }
            await Task.yield()
        }
        return false
    }

    @Test("a receipt is removed from the store after the server has answered")
    func removed() async throws {
        let transport = RecordingTransport(isOpen: false)
        try send("a", posting(transport))
        #expect(try await transport.next() == Receipt.sample("a").json.text)
        #expect(try store.receiptCount() == 1)
        transport.open()
        #expect(try await isEmpty())
        #expect(transport.bodies.count == 1)
        #expect(transport.bodies[0].hasPrefix("application/json \(Self.address) {"))
    }

    @Test("a receipt that couldn't be sent stays in the store and is sent by a flush")
    func failure() async throws {
        let transport = RecordingTransport()
        transport.answer(.failure(.network))
        let posting = try posting(transport)
        try send("a", posting)
        _ = await transport.next()
        #expect(try store.receiptCount() == 1)
        // The first attempt may still be running. A flush skips its receipt.
        var sentCount = 0
        while try store.receiptCount() > 0 { sentCount += try await sender(posting).flush().sentCount }
        #expect(sentCount == 1)
        #expect(pushes(transport) == ["a", "a"])
    }

    @Test("without a usable store a receipt is sent once", arguments: [false, true])
    func noStore(hasStore: Bool) async throws {
        let transport = RecordingTransport()
        let broken = SharedStore(folder: folder.path + "/none/store", role: .extension)
        try posting(transport).start(.sample("a"), in: hasStore ? broken : nil, keepRunning: .system)
        #expect(await transport.next()?.contains(#""push":"a""#) == true)
    }

    @Test("while a receipt is sent, the system is asked to keep the process running")
    func keepsRunning() async throws {
        let (transport, ended, count) = (RecordingTransport(isOpen: false), Signal(), Locked(0))
        let activity = ProcessActivity { _ in
            count.withLock { $0 += 1 }
            return {
                count.withLock { $0 -= 1 }
                ended.give()
            }
        }
        try send("a", posting(transport), activity)
        _ = await transport.next()
        #expect(count.withLock { $0 } == 1)
        transport.open()
        await ended.wait()
        #expect(count.withLock { $0 } == 0)
        #expect(try store.receiptCount() == 0)
    }

    @Test("if the system is about to suspend the process, the receipt stays in the store")
    func aboutToBeSuspended() async throws {
        let (transport, asked) = (RecordingTransport(), Signal())
        let activity = ProcessActivity { _ in
            asked.give()
            return nil
        }
        try send("a", posting(transport), activity)
        await asked.wait()
        #expect(try store.receiptCount() == 1 && transport.bodies.isEmpty)
    }

    /// A system that takes posts, or refuses them.
    private struct TakingTransport: BackgroundTransport {
        let taken: Locked<[String]>
        let takes: Bool

        func begin(_ post: HTTPPost, receiptID: String) throws(TransferError) {
            taken.withLock {
                $0.append("\(receiptID) \(post.userAgent ?? "") \(String(decoding: post.body, as: UTF8.self))")
            }
            if !takes { throw TransferError(.noSpace, "thrown by the test") }
        }
    }

    @Test(
        "a receipt that the system posts in the background stays in the store until it is removed",
        arguments: [true, false])
    func inBackground(takes: Bool) async throws {
        let (taken, ended) = (Locked<[String]>([]), Signal())
        let posting = try ReceiptPosting(
            to: Self.address, inBackground: TakingTransport(taken: taken, takes: takes), userAgent: "A/1")
        try send("a", posting, ProcessActivity { _ in { ended.give() } })
        await ended.wait()
        let receipt = try Receipt.sample("a")
        #expect(taken.withLock { $0 } == ["\(receipt.id) A/1 \(receipt.json.text)"])
        #expect(try store.receiptCount() == 1)
        #expect(try await sender(posting).flush() == .init(sentCount: 0, leftCount: 1))
        try store.removeReceipt(receipt.id)
        #expect(try store.receiptCount() == 0)
    }

    @Test("with a delay a receipt is sent only after the delay")
    func delay() async throws {
        let transport = RecordingTransport()
        let (asked, end) = (Signal(), Signal())
        let delay = ReceiptPosting.Delay(
            draw: { .seconds(7) },
            sleep: { duration in
                #expect(duration == .seconds(7))
                asked.give()
                await end.wait()
            })
        try send("a", posting(transport, delay: delay))
        await asked.wait()
        #expect(try store.receiptCount() == 1 && transport.bodies.isEmpty)
        end.give()
        _ = await transport.next()
        #expect(try await isEmpty())
        #expect(pushes(transport) == ["a"])
    }

    @Test("a flush during the delay sends the receipt, which then isn't sent again")
    func flushWithinDelay() async throws {
        let transport = RecordingTransport()
        let (asked, end, ended) = (Signal(), Signal(), Signal())
        let delay = ReceiptPosting.Delay(
            draw: { .seconds(7) },
            sleep: { _ in
                asked.give()
                await end.wait()
            })
        let posting = try posting(transport, delay: delay)
        try send("a", posting, ProcessActivity { _ in { ended.give() } })
        await asked.wait()
        #expect(try await sender(posting).flush() == .init(sentCount: 1, leftCount: 0))
        end.give()
        await ended.wait()
        #expect(pushes(transport) == ["a"])
    }

    @Test("a post without a response is cancelled at its time limit and the receipt stays")
    func neverAnswered() async throws {
        let (asked, timer) = (Signal(), ManualTimer())
        try send("a", posting(StuckTransport(asked: asked), timer: timer))
        await asked.wait()
        timer.fire(.seconds(7))
        // A flush skips a receipt that is being sent.
        var sentCount = 0
        let working = sender(try posting(RecordingTransport()))
        while sentCount == 0 { sentCount += try await working.flush().sentCount }
        #expect(try store.receiptCount() == 0)
        #expect(timer.durations == [.seconds(7)])
    }

    @Test("an interrupted delay leaves the receipt in the store")
    func interrupted() async throws {
        let transport = RecordingTransport()
        let asked = Signal()
        let delay = ReceiptPosting.Delay(
            draw: { .zero },
            sleep: { _ in
                asked.give()
                throw CancellationError()
            })
        try send("a", posting(transport, delay: delay))
        await asked.wait()
        #expect(try store.receiptCount() == 1 && transport.bodies.isEmpty)
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
        let error = #expect(throws: TransferError.self) {
            try ReceiptPosting(to: Self.address, transport: RecordingTransport(), userAgent: name)
        }
        #expect(error?.code == .headerRefused)
    }
}

@Suite struct ReceiptFlushTests {
    private let folder: StoreFolder
    private let store: SharedStore
    private let transport = RecordingTransport()
    private let sender: ReceiptSender

    init() throws {
        folder = try StoreFolder()
        store = folder.store()
        sender = try Self.sender(store, transport)
        for id in ["a", "b", "c", "d", "e"] { try store.spool(.sample(id)) }
    }

    private static func sender(
        _ store: SharedStore, _ transport: any HTTPTransport, _ timer: ManualTimer = ManualTimer(),
        at time: UnixTime = StoreFolder.now
    ) throws -> ReceiptSender {
        ReceiptSender(
            store: store, posting: try ReceiptPosting(to: "https://push.example", transport: transport, timer: timer),
            clock: { time })
    }

    private var ids: [String] {
        transport.bodies.compactMap { $0.firstMatch(of: /"push":"([^"]*)"/).map { String($0.1) } }
    }

    @Test("a flush sends all receipts in order and leaves none")
    func all() async throws {
        #expect(try await sender.flush() == .init(sentCount: 5, leftCount: 0))
        #expect(try await sender.flush() == .init(sentCount: 0, leftCount: 0))
        #expect(ids == ["a", "b", "c", "d", "e"])
    }

    @Test(
        "a flush ends at the first failure that isn't a status of the server",
        arguments: [TransferError.Code.network, .cancelled, .addressRefused])
    func network(_ code: TransferError.Code) async throws {
        transport.answer(.success, .failure(code))
        #expect(try await sender.flush() == .init(sentCount: 1, leftCount: 4))
        #expect(ids == ["a", "b"])
        #expect(try await sender.flush() == .init(sentCount: 4, leftCount: 0))
        #expect(ids == ["a", "b", "b", "c", "d", "e"])
    }

    @Test("a receipt that the server refuses doesn't block the others")
    func refused() async throws {
        transport.answer(.failure(.status))
        #expect(try await sender.flush() == .init(sentCount: 4, leftCount: 1))
        #expect(ids == ["a", "b", "c", "d", "e"])
    }

    @Test("a flush ends after the server has refused three receipts")
    func refusedAll() async throws {
        transport.answer(.failure(.status), .success, .failure(.status), .failure(.status))
        #expect(try await sender.flush() == .init(sentCount: 1, leftCount: 4))
        #expect(ids == ["a", "b", "c", "d"])
    }

    @Test("a receipt that is no longer in the store isn't sent")
    func sentMeanwhile() async throws {
        let receipt = try #require(try store.receipt(after: 0))
        try store.removeReceipt(receipt.id)
        _ = await sender.send(receipt)
        #expect(ids.isEmpty)
        #expect(try store.receiptCount() == 4)
    }

    @Test("a flush removes old receipts without sending them")
    func old() async throws {
        let later = try Self.sender(store, transport, at: StoreFolder.now + 7 * 86_400 + 1)
        #expect(try await later.flush() == .init(sentCount: 0, leftCount: 0))
        #expect(ids.isEmpty)
    }

    @Test("concurrent flushes send each receipt once")
    func concurrent() async throws {
        let other = try Self.sender(store, transport)
        let counts = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<6 {
                group.addTask { try await (number % 2 == 0 ? sender : other).flush().sentCount }
            }
            return try await group.reduce(0, +)
        }
        #expect(counts == 5)
        #expect(ids.sorted() == ["a", "b", "c", "d", "e"])
        #expect(try store.receiptCount() == 0)
    }

    @Test("a flush skips a receipt that another flush is sending")
    func sending() async throws {
        let closed = RecordingTransport(isOpen: false)
        let sender = try Self.sender(store, closed)
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
        let closed = RecordingTransport(isOpen: false)
        let sender = try Self.sender(store, closed)
        let task = Task { try await sender.flush() }
        _ = await closed.next()
        task.cancel()
        closed.open()
        #expect(try await task.value == .init(sentCount: 1, leftCount: 4))
    }

    @Test("a flush ends at the first receipt without a response")
    func neverAnswered() async throws {
        let (asked, timer) = (Signal(), ManualTimer())
        let stuck = StuckTransport(asked: asked)
        let sender = try Self.sender(store, stuck, timer)
        async let flush = sender.flush()
        await asked.wait()
        timer.fire(.seconds(10))
        #expect(try await flush == .init(sentCount: 0, leftCount: 5))
        #expect(stuck.requestCount == 1)
        #expect(!timer.isPending)
    }

    @Test("a flush ends at its own time limit")
    func timeLimit() async throws {
        let (asked, timer) = (Signal(), ManualTimer())
        let sender = try Self.sender(store, StuckTransport(asked: asked), timer)
        async let flush = sender.flush(timeLimit: .seconds(3))
        await asked.wait()
        timer.fire(.seconds(3))
        #expect(try await flush == .init(sentCount: 0, leftCount: 5))
        #expect(timer.durations == [.seconds(3), .seconds(10)])
        #expect(!timer.isPending)
    }

    @Test("a flush throws if the store can't be read")
    func noStore() async throws {
        let broken = SharedStore(folder: folder.path + "/none/store", role: .app)
        let error = await #expect(throws: StoreError.self) {
            try await Self.sender(broken, transport).flush()
        }
        #expect(error?.code == .unavailable)
    }
}
