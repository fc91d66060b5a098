public import PushCryptCore
import PushCryptPrimitives

extension ReceiptPosting {
    enum Outcome: Sendable {
        case sent
        /// The system or another task of this process is sending it or has sent it.
        case sentElsewhere
        case failed(TransferError.Code?)
    }

    /// Sends the receipt of a session in the background. If that fails, it stays in the store.
    ///
    /// - Parameters:
    ///   - store: where the session has stored the receipt; nil if it has no store. Then the receipt is sent once.
    ///   - keepRunning: asks the system not to suspend the process while the receipt is sent.
    func start(_ receipt: Receipt, in store: SharedStore?, keepRunning: ProcessActivity) {
        launch { [self] in
            if let delay, (try? await delay.sleep(delay.draw())) == nil { return }
            // This thread belongs to a pool, and a receipt that isn't sent stays in the store.
            guard let end = keepRunning(within: DeliverySession.storeTimeLimit) else { return }
            defer { end() }
            guard let store else {
                _ = try? await send(receipt.json, receipt.id)
                return
            }
            _ = await send(receipt.json, receipt.id, in: store) { store.isWaiting(receipt) }
        }
    }

    /// Sends a receipt of the store, and removes it once the server has it.
    ///
    /// - Parameter isWaiting: read when no other task can send the receipt.
    func send(
        _ json: [UInt8], _ id: String, in store: SharedStore, _ isWaiting: () -> Bool
    ) async -> Outcome {
        guard store.sending.withLock({ $0.insert(id).inserted }) else { return .sentElsewhere }
        defer { store.sending.withLock { _ = $0.remove(id) } }
        guard isWaiting() else { return .sentElsewhere }
        do {
            guard try await send(json, id) else { return .sentElsewhere }
        } catch {
            return .failed((error as? TransferError)?.code)
        }
        try? store.removeReceipt(id)
        return .sent
    }

    /// - Returns: whether the server has the receipt; false if the system is sending it.
    private func send(_ json: [UInt8], _ id: String) async throws -> Bool {
        let post = post(of: json)
        switch way {
        case .inProcess(let transport): try await timer.limit(timeLimit) { try await transport.post(post) }
        case .inBackground(let transport):
            try transport.begin(post, receiptID: id)
            return false
        }
        return true
    }
}

/// Sends the backend the receipts that wait in the store. The app calls ``flush(timeLimit:)`` when it runs.
///
/// A session stores one receipt for each push and then sends it in the background: see ``ExtensionConfiguration/receipts``.
/// If that fails, or the system suspends the process, the receipt stays in the store.
///
/// The server may receive a receipt more than once, with the same id. The server learns when a device is on and which pushes
/// it received. An observer of the network learns when a push was received; a ``ReceiptPosting/Delay`` makes that time less
/// exact.
public struct ReceiptSender: Sendable {
    private let store: SharedStore
    private let posting: ReceiptPosting
    private let clock: @Sendable () -> UnixTime

    /// Creates a sender.
    ///
    /// - Parameter store: the app's, in the folder of the extension's store.
    public init(
        store: SharedStore, posting: ReceiptPosting, clock: @escaping @Sendable () -> UnixTime = { .now }
    ) {
        self.store = store
        self.posting = posting
        self.clock = clock
    }

    /// The result of a flush.
    public struct Flush: Hashable, Sendable {
        /// How many receipts were sent.
        public let sentCount: Int
        /// How many receipts are still in the store, including those added during the flush.
        public let leftCount: Int
    }

    /// After this many refusals the server is assumed to refuse all receipts.
    private static let refusalLimit = 3

    /// Sends the stored receipts in order. The flush ends at the first network failure, after three refusals by the server,
    /// at the time limit, or when the task is cancelled.
    ///
    /// - Parameter timeLimit: the limit for all receipts. The system gives an app in the background 30 seconds.
    /// - Throws: `StoreError`.
    @discardableResult
    public func flush(timeLimit: Duration = .seconds(25)) async throws -> Flush {
        try store.tidyReceipts(at: clock())
        let last = try store.lastReceiptNumber() ?? 0
        let sentCount = try await posting.timer.limit(timeLimit) { [self] in try await sendAll(upTo: last) }
        return Flush(sentCount: sentCount, leftCount: try store.receiptCount())
    }

    private func sendAll(upTo last: Int64) async throws -> Int {
        var number: Int64 = 0
        var sentCount = 0
        var refusalCount = 0
        while !Task.isCancelled, let receipt = try store.receipt(after: number), receipt.number <= last {
            number = receipt.number
            switch await send(receipt) {
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

    func send(_ receipt: SpooledReceipt) async -> ReceiptPosting.Outcome {
        await posting.send(receipt.json, receipt.id, in: store) { [store] in
            // Another task may have sent it since it was read.
            (try? store.receipt(after: receipt.number - 1))?.number == receipt.number
        }
    }
}
