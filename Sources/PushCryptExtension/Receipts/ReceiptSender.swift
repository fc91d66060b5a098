public import PushCryptCore
import PushCryptPrimitives

/// Sends the backend one receipt for each push. A receipt is first written to the store and then sent in the background. If
/// that fails, it stays in the store until the app calls ``flush(timeLimit:)``.
///
/// The server may receive a receipt more than once, with the same id. The server learns when a device is on and which pushes
/// it received. An observer of the network learns when a push was received; a ``Delay`` makes that time less exact.
public final class ReceiptSender: DeliveryReporter {
    /// A random wait before a receipt is sent. If the system ends the extension during the wait, the app sends the receipt.
    public struct Delay: Sendable {
        let draw: @Sendable () -> Duration
        let sleep: @Sendable (Duration) async throws -> Void

        /// Creates a delay. `draw` returns the duration of one wait. After an error of `sleep` the receipt stays for
        /// ``ReceiptSender/flush(timeLimit:)``.
        public init(
            draw: @escaping @Sendable () -> Duration,
            sleep: @escaping @Sendable (Duration) async throws -> Void = {
                // `Task.sleep` traps beyond 584 years.
                try await Task.sleep(for: min($0, .seconds(Int64(Int32.max))))
            }
        ) {
            self.draw = draw
            self.sleep = sleep
        }

        /// A uniformly distributed wait up to the longest one.
        public static func upTo(_ longest: Duration) -> Delay {
            Delay { max(longest, .zero) * Double.random(in: 0...1) }
        }
    }

    private let store: SharedStore
    private let clock: @Sendable () -> UnixTime
    private let address: String
    private let transport: any HTTPTransport
    private let delay: Delay?
    private let postTimeLimit: Duration
    private let timer: any DeadlineTimer

    /// Creates a sender.
    ///
    /// - Parameters:
    ///   - address: the address that receipts are posted to; https, or another address that the transport's policy allows.
    ///   - delay: the wait before a receipt is sent; nil sends it at once.
    ///   - postTimeLimit: how long posting one receipt may take.
    public init(
        store: SharedStore, address: String, transport: any HTTPTransport, delay: Delay? = nil,
        postTimeLimit: Duration = .seconds(10), clock: @escaping @Sendable () -> UnixTime = { .now },
        timer: any DeadlineTimer = ThreadTimer()
    ) {
        self.store = store
        self.address = address
        self.transport = transport
        self.delay = delay
        self.postTimeLimit = postTimeLimit
        self.clock = clock
        self.timer = timer
    }

    /// Stores the receipt and sends it in the background. If the store can't be used, the receipt is sent once.
    public func report(_ report: DeliveryReport) {
        // An accepted unsealed push has no receipt, because it was not opened.
        guard report.isRestored || report.failure != nil, let receipt = try? Receipt(report) else { return }
        do throws(StoreError) {
            guard let number = try store.spool(receipt) else { return }
            start { [self] in _ = await send(number) }
        } catch {
            start { [self] in try? await post(receipt.json) }
        }
    }

    private func start(_ body: @escaping @Sendable () async -> Void) {
        Task.detached(priority: .utility) { [delay] in
            if let delay, (try? await delay.sleep(delay.draw())) == nil { return }
            await body()
        }
    }

    enum Outcome: Sendable {
        case sent
        /// Another task of this process is sending it or has sent it.
        case sentElsewhere
        case failed(TransferError.Code?)
    }

    /// Sends a receipt of the store, and removes it once the server has it.
    func send(_ number: Int64) async -> Outcome {
        guard store.sending.withLock({ $0.insert(number).inserted }) else { return .sentElsewhere }
        defer { store.sending.withLock { _ = $0.remove(number) } }
        // Read after the insertion: another task may have sent it before.
        guard let receipt = try? store.receipt(number) else { return .sentElsewhere }
        do { try await post(receipt.json) } catch { return .failed((error as? TransferError)?.code) }
        try? store.removeReceipt(number)
        return .sent
    }

    private func post(_ json: [UInt8]) async throws {
        try await timer.limit(postTimeLimit) { [transport, address] in
            try await transport.post(json, contentType: "application/json", to: address)
        }
    }
}

extension ReceiptSender {
    /// The result of a flush.
    public struct Flush: Hashable, Sendable {
        /// How many receipts were sent.
        public let sentCount: Int
        /// How many receipts are still in the store, including those added during the flush.
        public let leftCount: Int
    }

    /// After this many refusals the server is assumed to refuse all receipts.
    private static let refusalLimit = 3

    /// Sends the stored receipts in order. The app calls it when it runs. The flush ends at the first network failure, after
    /// three refusals by the server, at the time limit, or when the task is cancelled.
    ///
    /// - Parameter timeLimit: the limit for all receipts. The system gives an app in the background 30 seconds.
    /// - Throws: `StoreError`.
    public func flush(timeLimit: Duration = .seconds(25)) async throws -> Flush {
        try store.removeOldReceipts(at: clock())
        let last = try store.lastReceiptNumber() ?? 0
        let sentCount = try await timer.limit(timeLimit) { [self] in try await sendAll(upTo: last) }
        return Flush(sentCount: sentCount, leftCount: try store.receiptCount())
    }

    private func sendAll(upTo last: Int64) async throws -> Int {
        var number: Int64 = 0
        var sentCount = 0
        var refusalCount = 0
        while !Task.isCancelled, let receipt = try store.receipt(after: number), receipt.number <= last {
            number = receipt.number
            switch await send(number) {
            case .sent: sentCount += 1
            case .sentElsewhere: break
            case .failed(.status):
                // A receipt that the server refuses must not block the others.
                refusalCount += 1
                if refusalCount == Self.refusalLimit { return sentCount }
            case .failed: return sentCount
            }
        }
        return sentCount
    }
}
