public import PushCryptCore

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
    ///     same time; at least 1. nil is four times the number of cores, so that neither a slow push nor a slow reader of
    ///     the results leaves a core idle.
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
        SealedBatch { [sealer, width] in
            let lanes = (0..<width).map { _ in
                PipelineLane<SealRequest<Context>, SealOutcome<Context>> { SealOutcome($0, sealer) }
            }
            return OrderedPipeline(requests, capacity: width, lanes: lanes)
        }
    }
}

/// One push of a batch.
public struct SealRequest<Context: Sendable>: Sendable {
    /// The notification, as for ``Sealer/seal(_:to:placeholder:attachments:offload:isSelfTest:options:)``.
    public var payload: any Encodable & Sendable
    /// The key to encrypt to.
    public var recipient: Recipient
    /// The text that stays visible.
    public var placeholder: Placeholder
    /// At most 8.
    public var attachments: [AttachmentReference]
    /// Where the whole payload is stored, if it is too long for a push.
    public var offload: OffloadReference?
    /// nil: the sealer's own.
    public var options: Sealer.Options?
    /// Anything that tells you what the result belongs to; it comes back with it.
    public var context: Context

    /// Parameters as the properties of the same names.
    public init(
        _ payload: any Encodable & Sendable, to recipient: Recipient, placeholder: Placeholder,
        attachments: [AttachmentReference] = [], offload: OffloadReference? = nil, options: Sealer.Options? = nil,
        context: Context
    ) {
        self.payload = payload
        self.recipient = recipient
        self.placeholder = placeholder
        self.attachments = attachments
        self.offload = offload
        self.options = options
        self.context = context
    }
}

/// What became of a ``SealRequest``.
public struct SealOutcome<Context: Sendable>: Sendable {
    /// The request's own.
    public let context: Context
    /// The payload to send, or why this one push wasn't sealed.
    public let result: Result<SealedPush, SenderError>

    fileprivate init(_ request: SealRequest<Context>, _ sealer: Sealer) {
        context = request.context
        result = Result { () throws(SenderError) in
            do {
                return try sealer.seal(
                    request.payload, to: request.recipient, placeholder: request.placeholder,
                    attachments: request.attachments, offload: request.offload, options: request.options)
            } catch let error as SenderError {
                throw error
            } catch {
                // The encoder's own text may quote the payload.
                throw SenderError(.invalidPayload, "the payload can't be encoded as JSON")
            }
        }
    }
}

/// The outcomes of a batch, in the order of its requests.
public struct SealedBatch<Context: Sendable>: AsyncSequence, Sendable {
    /// What became of one request.
    public typealias Element = SealOutcome<Context>

    private let start: @Sendable () -> OrderedPipeline<Element>

    fileprivate init(_ start: @escaping @Sendable () -> OrderedPipeline<Element>) {
        self.start = start
    }

    /// Begins to read the requests.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(pipeline: start())
    }

    /// Reads the requests while it is asked for outcomes, and no longer than it exists.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let pipeline: OrderedPipeline<Element>

        /// - Returns: nil after the last outcome, or after a cancellation.
        /// - Throws: what the requests throw.
        public mutating func next() async throws -> SealOutcome<Context>? {
            try await pipeline.next()
        }
    }
}
