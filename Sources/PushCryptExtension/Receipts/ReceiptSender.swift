public import PushCryptCore
import PushCryptPrimitives

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Tells a backend what became of each push. A receipt is written to the store first and sent then, without anybody
/// waiting for it; one that couldn't be sent stays for the next ``flush(timeLimit:)`` of the app.
///
/// The server may get a receipt more than once, and knows it by its id. It learns when a device is on and which pushes
/// it got, the network when a push came: ``Delay`` blurs that.
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

        /// As likely to be short as long.
        public static func upTo(_ longest: Duration) -> Delay {
            Delay { max(longest, .zero) * Double.random(in: 0...1) }
        }
    }

    let store: SharedStore
    let clock: @Sendable () -> UnixTime
    private let address: String
    private let transport: any HTTPTransport
    private let delay: Delay?
    private let postTimeLimit: Duration
    let timer: any DeadlineTimer

    /// - Parameters:
    ///   - address: where each receipt is posted; https, or what the transport's policy allows.
    ///   - delay: nil: at once.
    ///   - postTimeLimit: how long the exchange with the server may take for one receipt.
    ///   - clock: tells which receipts are too old.
    ///   - timer: runs the time limits.
    public init(
        store: SharedStore, address: String, transport: any HTTPTransport, delay: Delay? = nil,
        postTimeLimit: Duration = .seconds(10),
        clock: @escaping @Sendable () -> UnixTime = { UnixTime(Int64(Date().timeIntervalSince1970)) },
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

    /// Returns when the receipt is in the store. Where the store can't be used it is sent all the same, once.
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
        // Only now: whoever had it before may have sent it.
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
