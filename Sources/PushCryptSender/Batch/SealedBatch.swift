/// The outcomes of a batch, in the order of its requests.
public struct SealedBatch<Context: Sendable>: AsyncSequence, Sendable {
    public typealias Element = SealOutcome<Context>

    private let start: @Sendable () -> BatchWork<Element>

    init(_ start: @escaping @Sendable () -> BatchWork<Element>) {
        self.start = start
    }

    /// Begins to read the requests.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(work: start())
    }

    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let work: BatchWork<Element>

        /// - Returns: nil behind the last outcome, or after a cancellation.
        /// - Throws: what the requests throw.
        public mutating func next() async throws -> SealOutcome<Context>? {
            try await work.next()
        }
    }
}
