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
    private let width: Int?

    private static var coreCount: Int { ProcessInfo.processInfo.activeProcessorCount }
    /// So that neither a slow push nor a slow reader of the results leaves a core idle.
    private static let partsPerCore = 4
    /// The requests of a sequence that are sealed together, unless `width` makes them fewer. Then the connection that sends
    /// the results gets many at once and writes them together, which takes less time than as many single writes.
    private static let chunkCount = 32
    /// More would only use memory: each request that is read ahead has a place of its own.
    private static let maximumWidth = 65_536

    /// - Parameters:
    ///   - sealer: seals each request. With a watched signer, each message is signed with the key that
    ///     is current when it is sealed.
    ///   - width: the largest number of requests that are read before their results are taken, 1 to 65,536. The default is four
    ///     times the number of cores for an asynchronous sequence, and 128 times for another sequence.
    public init(_ sealer: Sealer, width: Int? = nil) {
        self.sealer = sealer
        self.width = width.map { min(max($0, 1), Self.maximumWidth) }
    }

    /// Returns one outcome for each request, in the same order.
    ///
    /// Requests are read while outcomes are requested, at most `width` of them ahead, and sealed by tasks of the
    /// concurrency runtime's pool, one by one, because an asynchronous sequence doesn't tell whether its next request is there
    /// already. Requests that are in memory take less time as an array, which is sealed in chunks. No outcome waits for a later
    /// request. A request that can't be sealed has an outcome too. A
    /// cancellation or the release of the iterator cancels the task that reads the requests.
    ///
    /// - Returns: a sequence to read once. It throws the error of `requests` after the outcomes of the earlier requests, and
    ///   `CancellationError` if the task that reads the outcomes is cancelled.
    public func seal<Requests: AsyncSequence & Sendable, Context>(
        _ requests: Requests
    ) -> SealedBatch<Context> where Requests.Element == SealRequest<Context> {
        outcomes(of: requests.map { [$0] }, capacity: width ?? Self.partsPerCore * Self.coreCount)
    }

    /// Returns one outcome for each request of a sequence, such as an array, in the same order.
    ///
    /// Requests are sealed in chunks, whose outcomes are available together: this takes less time than one by one. So the
    /// sequence mustn't wait for its next request; ``seal(_:)-(Requests)`` has an asynchronous sequence that may.
    ///
    /// - Returns: as ``seal(_:)-(Requests)``.
    public func seal<Requests: Sequence & Sendable, Context>(
        _ requests: Requests
    ) -> SealedBatch<Context> where Requests.Element == SealRequest<Context> {
        let parts = Self.partsPerCore * Self.coreCount
        let width = width ?? parts * Self.chunkCount
        let count = max(width / parts, 1)
        // The reader of the outcomes has one chunk.
        let capacity = max((width + 1) / count - 1, 1)
        return outcomes(of: Chunks(base: requests, count: count), capacity: capacity)
    }

    private func outcomes<Inputs: AsyncSequence & Sendable, Context>(
        of inputs: Inputs, capacity: Int
    ) -> SealedBatch<Context> where Inputs.Element == [SealRequest<Context>] {
        SealedBatch { [sealer] in
            let lanes = (0..<capacity).map { _ in
                PipelineLane<Inputs.Element, [SealOutcome<Context>]> { $0.map { SealOutcome($0, sealer) } }
            }
            return OrderedPipeline(inputs, capacity: capacity, lanes: lanes)
        }
    }
}

/// The elements of a sequence in arrays of `count`; the last one has the rest.
private struct Chunks<Base: Sequence & Sendable>: AsyncSequence, Sendable where Base.Element: Sendable {
    let base: Base
    let count: Int

    func makeAsyncIterator() -> Iterator { Iterator(base: base.makeIterator(), count: count) }

    struct Iterator: AsyncIteratorProtocol {
        var base: Base.Iterator
        let count: Int

        mutating func next() async -> [Base.Element]? {
            var chunk: [Base.Element] = []
            while chunk.count < count, let element = base.next() { chunk.append(element) }
            return chunk.isEmpty ? nil : chunk
        }
    }
}

/// One push of a batch.
public struct SealRequest<Context: Sendable>: Sendable {
    private enum Payload {
        case value(any Encodable & Sendable)
        case encoded(EncodedPayload)
    }

    private let payload: Payload
    /// The key to encrypt to.
    public var recipient: Recipient
    /// The unencrypted text; nil for the sealer's.
    public var placeholder: Placeholder?
    /// At most 8 attachments.
    public var attachments: [AttachmentReference]
    /// The place of the whole payload, if it is too long for a push.
    public var offload: OffloadReference?
    /// Whether the extension reports that it works.
    public var isSelfTest: Bool
    /// A value of the caller, which the outcome returns.
    public var context: Context
    /// Changes the sealer's options for this push.
    public var change: @Sendable (inout Sealer.Options) throws -> Void

    /// Makes a request; the parameters are those of
    /// `seal(_:to:)` of ``Sealer``.
    public init(
        _ payload: any Encodable & Sendable, to recipient: Recipient, placeholder: Placeholder? = nil,
        attachments: [AttachmentReference] = [], offload: OffloadReference? = nil, isSelfTest: Bool = false,
        context: Context,
        changing change: @escaping @Sendable (inout Sealer.Options) throws -> Void = { _ in }
    ) {
        self.init(.value(payload), recipient, placeholder, attachments, offload, isSelfTest, context, change)
    }

    /// Makes a request with a payload that ``Sealer/encode(_:)`` has encoded once for many requests.
    public init(
        _ payload: EncodedPayload, to recipient: Recipient, placeholder: Placeholder? = nil,
        attachments: [AttachmentReference] = [], offload: OffloadReference? = nil, isSelfTest: Bool = false,
        context: Context,
        changing change: @escaping @Sendable (inout Sealer.Options) throws -> Void = { _ in }
    ) {
        self.init(.encoded(payload), recipient, placeholder, attachments, offload, isSelfTest, context, change)
    }

    private init(
        _ payload: Payload, _ recipient: Recipient, _ placeholder: Placeholder?,
        _ attachments: [AttachmentReference], _ offload: OffloadReference?, _ isSelfTest: Bool, _ context: Context,
        _ change: @escaping @Sendable (inout Sealer.Options) throws -> Void
    ) {
        self.payload = payload
        self.recipient = recipient
        self.placeholder = placeholder
        self.attachments = attachments
        self.offload = offload
        self.isSelfTest = isSelfTest
        self.context = context
        self.change = change
    }

    /// - Throws: `SenderError`, with `callerFailure` for an error of the caller's functions.
    fileprivate func sealed(by sealer: Sealer) throws(SenderError) -> SealedPush {
        do {
            switch payload {
            case .value(let value):
                return try sealer.seal(
                    value, to: recipient, placeholder: placeholder, attachments: attachments, offload: offload,
                    isSelfTest: isSelfTest, changing: change)
            case .encoded(let payload):
                return try sealer.seal(
                    payload, to: recipient, placeholder: placeholder, attachments: attachments, offload: offload,
                    isSelfTest: isSelfTest, changing: change)
            }
        } catch {
            throw SenderError(sealing: error)
        }
    }
}

extension SealRequest: CustomStringConvertible, CustomReflectable {
    /// The recipient's key and the context, never the payload.
    public var description: String { "request to seal to key \(recipient.kid), context \(context)" }
    /// Nothing, so that `dump` shows only the description.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The outcome of a ``SealRequest``.
public struct SealOutcome<Context: Sendable>: Sendable {
    /// The request's context.
    public let context: Context
    /// The payload to send, or why this push wasn't sealed.
    public let result: Result<SealedPush, SenderError>

    fileprivate init(_ request: SealRequest<Context>, _ sealer: Sealer) {
        context = request.context
        result = Result { () throws(SenderError) in try request.sealed(by: sealer) }
    }
}

/// The outcomes of a batch, in the order of its requests.
public struct SealedBatch<Context: Sendable>: AsyncSequence, Sendable {
    /// The outcome of one request.
    public typealias Element = SealOutcome<Context>

    private let start: @Sendable () -> OrderedPipeline<[Element]>

    fileprivate init(_ start: @escaping @Sendable () -> OrderedPipeline<[Element]>) { self.start = start }

    /// Starts to read the requests.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(pipeline: start()) }

    /// Reads the requests while outcomes are requested. Releasing it stops reading.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let pipeline: OrderedPipeline<[Element]>
        fileprivate var chunk: IndexingIterator<[Element]> = [].makeIterator()

        /// Returns the next outcome; nil after the last one.
        ///
        /// - Throws: the error of the requests; `CancellationError`.
        public mutating func next() async throws -> SealOutcome<Context>? {
            try Task.checkCancellation()
            if let outcome = chunk.next() { return outcome }
            guard let chunk = try await pipeline.next() else { return nil }
            self.chunk = chunk.makeIterator()
            return self.chunk.next()
        }
    }
}
