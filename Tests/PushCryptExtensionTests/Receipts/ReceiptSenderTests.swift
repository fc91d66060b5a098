import Foundation
import PushCryptSimulator
import PushCryptTestSupport
import Testing

@testable import PushCryptExtension

@Suite struct ReceiptSenderTests {
    private let folder: StoreFolder
    private let store: SharedStore
    private static let address = "https://push.example/receipts"

    init() throws {
        folder = try StoreFolder()
        store = folder.store()
    }

    private func sender(_ transport: RecordingTransport, delay: ReceiptSender.Delay? = nil) -> ReceiptSender {
        ReceiptSender(
            store: store, address: Self.address, transport: transport, delay: delay, clock: { StoreFolder.now },
            timer: ManualTimer())
    }

    private func spool(_ ids: String...) throws {
        for id in ids { _ = try store.spool(Receipt(.sample(nil, id))) }
    }

    private func ids(_ transport: RecordingTransport) -> [String] {
        transport.bodies.compactMap { $0.firstMatch(of: /"id":"([^"]*)"/).map { String($0.1) } }
    }

    /// Waits until a background task of the sender has removed the receipt.
    private func isEmpty() async throws -> Bool {
        for _ in 0..<100_000 {
            if try store.receiptCount() == 0 { return true }
            await Task.yield()
        }
        return false
    }

    @Test("a reported receipt is stored at once and sent in the background")
    func report() async throws {
        let transport = RecordingTransport(isOpen: false)
        sender(transport).report(.sample(nil, "a"))
        #expect(try store.receiptCount() == 1)
        #expect(await transport.next() == #"{"id":"a","push":"a","outcome":"opened","time":1800000000}"#)
        #expect(try store.receiptCount() == 1)
        transport.open()
        #expect(try await isEmpty())
        #expect(transport.bodies.count == 1)
        #expect(transport.bodies[0].hasPrefix("application/json \(Self.address) {"))
    }

    @Test("a receipt that couldn't be sent stays in the store and isn't stored twice")
    func failure() async throws {
        let transport = RecordingTransport()
        transport.answer(.failure(.network))
        let sender = sender(transport)
        sender.report(.sample(nil, "a"))
        _ = await transport.next()
        sender.report(.sample(nil, "a"))
        #expect(try store.receiptCount() == 1)
        // The first attempt may still be running. A flush skips its receipt.
        var sentCount = 0
        while try store.receiptCount() > 0 { sentCount += try await sender.flush().sentCount }
        #expect(sentCount == 1)
        #expect(ids(transport) == ["a", "a"])
    }

    @Test("without a usable store a receipt is sent once")
    func noStore() async throws {
        let transport = RecordingTransport()
        let broken = SharedStore(folder: folder.path + "/none/store", role: .extension)
        ReceiptSender(store: broken, address: Self.address, transport: transport, timer: ManualTimer()).report(
            .sample(nil, "a"))
        #expect(await transport.next()?.contains(#""id":"a""#) == true)
    }

    @Test("with a delay a receipt is sent only after the delay")
    func delay() async throws {
        let transport = RecordingTransport()
        let (asked, end) = (Signal(), Signal())
        let delay = ReceiptSender.Delay(
            draw: { .seconds(7) },
            sleep: { duration in
                #expect(duration == .seconds(7))
                asked.give()
                await end.wait()
            })
        sender(transport, delay: delay).report(.sample(nil, "a"))
        await asked.wait()
        #expect(try store.receiptCount() == 1 && transport.bodies.isEmpty)
        end.give()
        _ = await transport.next()
        #expect(try await isEmpty())
        #expect(ids(transport) == ["a"])
    }

    @Test("a flush during the delay sends the receipt, which then isn't sent again")
    func flushWithinDelay() async throws {
        let transport = RecordingTransport()
        let (asked, end, ended) = (Signal(), Signal(), Signal())
        let delay = ReceiptSender.Delay(
            draw: { .seconds(7) },
            sleep: { _ in
                asked.give()
                await end.wait()
                ended.give()
            })
        let sender = sender(transport, delay: delay)
        sender.report(.sample(nil, "a"))
        await asked.wait()
        #expect(try await sender.flush() == .init(sentCount: 1, leftCount: 0))
        end.give()
        await ended.wait()
        #expect(ids(transport) == ["a"])
    }

    @Test("a post without a response is cancelled at its time limit and the receipt stays")
    func neverAnswered() async throws {
        let (asked, timer) = (Signal(), ManualTimer())
        let sender = ReceiptSender(
            store: store, address: Self.address, transport: StuckTransport(asked: asked), postTimeLimit: .seconds(7),
            clock: { StoreFolder.now }, timer: timer)
        sender.report(.sample(nil, "a"))
        await asked.wait()
        timer.fire(.seconds(7))
        // A flush skips a receipt that is being sent.
        var sentCount = 0
        let working = self.sender(RecordingTransport())
        while sentCount == 0 { sentCount += try await working.flush().sentCount }
        #expect(try store.receiptCount() == 0)
        #expect(timer.durations == [.seconds(7)])
    }

    @Test("an interrupted delay leaves the receipt in the store")
    func interrupted() async throws {
        let transport = RecordingTransport()
        let asked = Signal()
        let delay = ReceiptSender.Delay(
            draw: { .zero },
            sleep: { _ in
                asked.give()
                throw CancellationError()
            })
        sender(transport, delay: delay).report(.sample(nil, "a"))
        await asked.wait()
        #expect(try store.receiptCount() == 1 && transport.bodies.isEmpty)
    }

    @Test("the longest possible delay doesn't trap")
    func longestDelay() async {
        let delay = ReceiptSender.Delay.upTo(.seconds(Int64.max))
        let sleep = Task { try await delay.sleep(.seconds(Int64.max)) }
        sleep.cancel()
        await #expect(throws: CancellationError.self) { try await sleep.value }
        #expect(delay.draw() >= .zero)
    }

    @Test("a random delay is between zero and the longest delay")
    func upTo() {
        let delay = ReceiptSender.Delay.upTo(.seconds(5))
        let drawn = (0..<100).map { _ in delay.draw() }
        #expect(drawn.allSatisfy { $0 >= .zero && $0 <= .seconds(5) } && Set(drawn).count > 50)
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
        sender = ReceiptSender(
            store: store, address: "https://push.example", transport: transport, clock: { StoreFolder.now },
            timer: ManualTimer())
        for id in ["a", "b", "c", "d", "e"] { _ = try store.spool(Receipt(.sample(nil, id))) }
    }

    private var ids: [String] {
        transport.bodies.compactMap { $0.firstMatch(of: /"id":"([^"]*)"/).map { String($0.1) } }
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
        let number = try #require(try store.receipt(after: 0)).number
        try store.removeReceipt(number)
        _ = await sender.send(number)
        #expect(ids.isEmpty)
        #expect(try store.receiptCount() == 4)
    }

    @Test("a flush removes old receipts without sending them")
    func old() async throws {
        let later = ReceiptSender(
            store: store, address: "https://push.example", transport: transport,
            clock: { StoreFolder.now + 7 * 86_400 + 1 }, timer: ManualTimer())
        #expect(try await later.flush() == .init(sentCount: 0, leftCount: 0))
        #expect(ids.isEmpty)
    }

    @Test("concurrent flushes send each receipt once")
    func concurrent() async throws {
        let other = ReceiptSender(
            store: store, address: "https://push.example", transport: transport, clock: { StoreFolder.now },
            timer: ManualTimer())
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
        let sender = ReceiptSender(
            store: store, address: "https://push.example", transport: closed, clock: { StoreFolder.now },
            timer: ManualTimer())
        let first = Task { try await sender.flush() }
        #expect(await closed.next()?.contains(#""id":"a""#) == true)
        let second = Task { try await sender.flush() }
        #expect(await closed.next()?.contains(#""id":"b""#) == true)
        closed.open()
        #expect(try await first.value.sentCount + second.value.sentCount == 5)
        #expect(closed.bodies.count == 5)
    }

    @Test("a cancelled flush sends no further receipt")
    func cancelled() async throws {
        let closed = RecordingTransport(isOpen: false)
        let sender = ReceiptSender(
            store: store, address: "https://push.example", transport: closed, clock: { StoreFolder.now },
            timer: ManualTimer())
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
        let sender = ReceiptSender(
            store: store, address: "https://push.example", transport: stuck, postTimeLimit: .seconds(7),
            clock: { StoreFolder.now }, timer: timer)
        async let flush = sender.flush()
        await asked.wait()
        timer.fire(.seconds(7))
        #expect(try await flush == .init(sentCount: 0, leftCount: 5))
        #expect(stuck.requestCount == 1)
        #expect(!timer.isPending)
    }

    @Test("a flush ends at its own time limit")
    func timeLimit() async throws {
        let (asked, timer) = (Signal(), ManualTimer())
        let sender = ReceiptSender(
            store: store, address: "https://push.example", transport: StuckTransport(asked: asked),
            clock: { StoreFolder.now }, timer: timer)
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
            try await ReceiptSender(
                store: broken, address: "https://push.example", transport: transport, timer: ManualTimer()
            ).flush()
        }
        #expect(error?.code == .unavailable)
    }
}
