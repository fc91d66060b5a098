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
    ///   - sealer: its options are used for requests without options.
    ///   - width: the number of requests that are read before their results are taken, and sealed at the same time; at
    ///     least 1. The default is four times the number of cores, so that neither a slow push nor a slow reader of the
    ///     results leaves a core idle.
    public init(_ sealer: Sealer, width: Int? = nil) {
        self.sealer = sealer
        self.width = max(width ?? 4 * ProcessInfo.processInfo.activeProcessorCount, 1)
    }

    /// Returns one outcome for each request, in the same order.
    ///
    /// Requests are read while outcomes are requested, at most `width` of them ahead, and sealed by tasks of the
    /// concurrency runtime's pool. A request that can't be sealed has an outcome too. Cancelling the task that reads the
    /// outcomes ends the sequence. A cancellation or the release of the iterator cancels the task that reads the requests.
    ///
    /// - Returns: a sequence to read once. It throws the error of `requests` after the outcomes of the earlier requests.
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
    /// The notification, see ``Sealer/seal(_:to:placeholder:attachments:offload:isSelfTest:options:)``.
    public var payload: any Encodable & Sendable
    /// The key to encrypt to.
    public var recipient: Recipient
    /// The unencrypted text.
    public var placeholder: Placeholder
    /// At most 8 attachments.
    public var attachments: [AttachmentReference]
    /// The place of the whole payload, if it is too long for a push.
    public var offload: OffloadReference?
    /// nil for the sealer's options.
    public var options: Sealer.Options?
    /// A value of the caller, which the outcome returns.
    public var context: Context

    /// Makes a request; the parameters are the properties of the same names.
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

/// The outcome of a ``SealRequest``.
public struct SealOutcome<Context: Sendable>: Sendable {
    /// The request's context.
    public let context: Context
    /// The payload to send, or why this push wasn't sealed.
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
                // The encoder's error may quote the payload.
                throw SenderError(.invalidPayload, "the payload can't be encoded as JSON")
            }
        }
    }
}

/// The outcomes of a batch, in the order of its requests.
public struct SealedBatch<Context: Sendable>: AsyncSequence, Sendable {
    /// The outcome of one request.
    public typealias Element = SealOutcome<Context>

    private let start: @Sendable () -> OrderedPipeline<Element>

    fileprivate init(_ start: @escaping @Sendable () -> OrderedPipeline<Element>) { self.start = start }

    /// Starts to read the requests.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(pipeline: start()) }

    /// Reads the requests while outcomes are requested. Releasing it stops reading.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let pipeline: OrderedPipeline<Element>

        /// Returns the next outcome; nil after the last one or after a cancellation.
        ///
        /// - Throws: the error of the requests.
        public mutating func next() async throws -> SealOutcome<Context>? { try await pipeline.next() }
    }
}
