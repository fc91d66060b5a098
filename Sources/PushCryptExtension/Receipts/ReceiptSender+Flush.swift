import PushCryptCore

extension ReceiptSender {
    /// What came of a flush.
    public struct Flush: Hashable, Sendable {
        public let sentCount: Int
        /// How many receipts still wait in the store, also those that came meanwhile.
        public let leftCount: Int
    }

    /// A server that refuses so many refuses all of them.
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
                // One that the server won't have must not hold up the others.
                refusalCount += 1
                if refusalCount == Self.refusalLimit { return sentCount }
            case .failed: return sentCount
            }
        }
        return sentCount
    }
}
