#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Seals a stream of pushes on all cores, in order and in constant memory.
///
/// ```swift
/// for try await outcome in BatchSealer(sealer).seal(requests) {
///     switch outcome.result {
///     case .success(let push): try await send(push, to: outcome.context)
///     case .failure(let error): log(error, outcome.context)
///     }
/// }
/// ```
public struct BatchSealer: Sendable {
    private let sealer: Sealer
    private let width: Int

    /// - Parameters:
    ///   - sealer: its options are used where a request doesn't bring its own.
    ///   - width: how many requests are read before their results are taken, and so the most that are sealed at the
    ///     same time; at least 1. nil is four times the number of cores: neither a slow push nor a slow reader of
    ///     the results leaves one idle.
    public init(_ sealer: Sealer, width: Int? = nil) {
        self.sealer = sealer
        self.width = max(width ?? 4 * ProcessInfo.processInfo.activeProcessorCount, 1)
    }

    /// One outcome for each request, in the same order.
    ///
    /// Requests are read while results are asked for, never more than `width` of them ahead, and sealed by tasks of the
    /// concurrency runtime's pool. A request that can't be sealed is an outcome like any other. When the task that reads
    /// the results is cancelled they end; what reads the requests is cancelled then, and also when nobody holds the
    /// results any more.
    ///
    /// - Returns: a sequence to read once. It throws what `requests` throws, after the outcomes of the requests before.
    public func seal<Requests: AsyncSequence & Sendable, Context>(
        _ requests: Requests
    ) -> SealedBatch<Context> where Requests.Element == SealRequest<Context> {
        SealedBatch { [sealer, width] in BatchWork(requests, width: width) { SealOutcome($0, sealer) } }
    }
}
