public import PushCryptCore
import PushCryptPrimitives

/// Sends a backend one receipt for each push. A receipt is written to the store first and sent in the background; one that
/// couldn't be sent stays in the store for the next ``flush(timeLimit:)`` of the app.
///
/// The server may get a receipt more than once, and recognises it by its id. It learns when a device is on and which pushes
/// it got, and the network learns when a push came: a ``Delay`` blurs that.
public final class ReceiptSender: DeliveryReporter {
    /// A random wait before a receipt is sent. The system may end the extension within it; the app sends what is left.
    public struct Delay: Sendable {
        let draw: @Sendable () -> Duration
        let sleep: @Sendable (Duration) async throws -> Void

        /// - Parameters:
        ///   - draw: how long to wait.
        ///   - sleep: waits; an error leaves the receipt for ``ReceiptSender/flush(timeLimit:)``.
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

        /// A wait of any length up to the longest one, all equally likely.
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

    /// - Parameters:
    ///   - store: holds the receipts until they are sent.
    ///   - address: where each receipt is posted; https, or what the transport's policy allows.
    ///   - transport: posts the receipts.
    ///   - delay: how long a receipt waits before it is sent; nil sends it at once.
    ///   - postTimeLimit: how long the exchange with the server may take for one receipt.
    ///   - clock: gives the time by which old receipts are removed.
    ///   - timer: runs the time limits.
    public init(
        store: SharedStore, address: String, transport: any HTTPTransport, delay: Delay? = nil,
        postTimeLimit: Duration = .seconds(10),
        clock: @escaping @Sendable () -> UnixTime = { .now },
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

    /// Returns when the receipt is in the store. If the store can't be used, the receipt is sent once without it.
    public func report(_ report: DeliveryReport) {
        // A push that was let through unsealed was not opened.
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
            if let delay {
                guard (try? await delay.sleep(delay.draw())) != nil else { return }
            }
            await body()
        }
    }

    enum Outcome: Sendable {
        case sent
        /// Somebody else in this process is sending it, or has sent it.
        case notMine
        case failed(TransferError.Code?)
    }

    /// Sends a receipt of the store, and removes it once the server has it.
    func send(_ number: Int64) async -> Outcome {
        guard store.sending.withLock({ $0.insert(number).inserted }) else { return .notMine }
        defer { store.sending.withLock { _ = $0.remove(number) } }
        // Only now: another task that had it may have sent it.
        guard let receipt = try? store.receipt(number) else { return .notMine }
        do {
            try await post(receipt.json)
        } catch {
            return .failed((error as? TransferError)?.code)
        }
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
        /// How many receipts still wait in the store, with those that were added meanwhile.
        public let leftCount: Int
    }

    /// After so many refusals the server is assumed to refuse all receipts.
    private static let refusalLimit = 3

    /// Sends the receipts that wait, in order and one after the other; for the app, when it runs. Ends at the first
    /// failure of the network, when its time is up, and when the task is cancelled.
    ///
    /// - Parameter timeLimit: for all of them. The system gives an app in the background 30 seconds.
    /// - Throws: `StoreError`.
    public func flush(timeLimit: Duration = .seconds(25)) async throws -> Flush {
        try store.removeOldReceipts(at: clock())
        let last = try store.lastReceiptNumber() ?? 0
        let sentCount = try await timer.limit(timeLimit) { [self] in try await sendAll(upTo: last) }
        return Flush(sentCount: sentCount, leftCount: try store.receiptCount())
    }

    private func sendAll(upTo last: Int64) async throws -> Int {
        var (number, sentCount, refusalCount) = (Int64(0), 0, 0)
        while !Task.isCancelled, let receipt = try store.receipt(after: number), receipt.number <= last {
            number = receipt.number
            switch await send(number) {
            case .sent: sentCount += 1
            case .notMine: break
            case .failed(.status):
                // One receipt that the server refuses must not hold up the others.
                refusalCount += 1
                if refusalCount == Self.refusalLimit { return sentCount }
            case .failed: return sentCount
            }
        }
        return sentCount
    }
}
