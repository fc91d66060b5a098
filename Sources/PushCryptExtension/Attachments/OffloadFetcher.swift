public import PushCryptCore
import PushCryptPrimitives

/// Fetches and opens a payload that was too long for its push (PROTOCOL section 6).
public struct OffloadFetcher: Sendable {
    private let transport: any HTTPTransport
    private let limitInBytes: Int64

    /// Creates a fetcher.
    ///
    /// - Parameter limitInBytes: the longest payload that is fetched, padding included. A reference to more than 256 KiB is
    ///   `malformed` in any case.
    public init(transport: any HTTPTransport, limitInBytes: Int64 = OffloadReference.maximumSize) {
        self.transport = transport
        self.limitInBytes = limitInBytes
    }

    /// Fetches the payload into memory.
    ///
    /// - Returns: the plaintext, verified to its end, with its padding: for `OpenedPush.replacing(offloaded:)`.
    /// - Throws: `TransferError`; `tooLarge`, `damaged`, or `cancelled` as soon as the task is cancelled.
    public func payload(_ reference: OffloadReference) async throws -> [UInt8] {
        guard reference.blob.size <= limitInBytes else {
            throw TransferError(.tooLarge, "the payload has more than \(limitInBytes) bytes")
        }
        let sink = PayloadSink(reference.blob)
        try await transport.get(reference.url) { piece in try sink.receive(piece) }
        return try sink.finish()
    }
}

/// Opens the pieces of a blob in memory.
final class PayloadSink: @unchecked Sendable {
    // Unchecked because of the opener, which is used under the lock only.
    private let opener: BlobOpener
    private let plaintext: Locked<[UInt8]>

    /// - Parameter reference: its size was checked. All memory is reserved at once, because a growing array is copied and
    ///   needs twice the memory.
    init(_ reference: BlobReference) {
        opener = BlobOpener(reference)
        var plaintext: [UInt8] = []
        plaintext.reserveCapacity(Int(reference.size))
        self.plaintext = Locked(plaintext)
    }

    func receive(_ piece: [UInt8]) throws {
        try plaintext.withLock { plaintext in
            Result { () throws(FailureClass) in try opener.open(piece, appendingTo: &plaintext) }
        }.mapError { _ in TransferError.damaged }.get()
    }

    func finish() throws -> [UInt8] {
        try plaintext.withLock { plaintext in
            Result { () throws(FailureClass) in
                try opener.finish()
                // The caller gets the only reference, so it can shorten the array without a copy.
                defer { plaintext = [] }
                return plaintext
            }
        }.mapError { _ in TransferError.damaged }.get()
    }
}
