public import PushCryptCore
import PushCryptPrimitives

/// Fetches the payload that didn't fit into its push (PROTOCOL section 6) and opens it in memory.
public struct OffloadFetcher: Sendable {
    private let transport: any HTTPTransport
    private let limitInBytes: Int64

    /// - Parameter limitInBytes: the longest payload that is fetched, padding included. A reference to one of more than
    ///   256 KiB is `malformed` whatever this says.
    public init(transport: any HTTPTransport, limitInBytes: Int64 = OffloadReference.maximumSize) {
        self.transport = transport
        self.limitInBytes = limitInBytes
    }

    /// - Returns: the plaintext, verified to its end, with its padding: for `OpenedPush.replacing(offloaded:)`.
    /// - Throws: `AttachmentError` with `tooLarge`, `damaged`; `TransferError`, when the task is cancelled at once.
    public func payload(_ reference: OffloadReference) async throws -> [UInt8] {
        guard reference.blob.size <= limitInBytes else {
            throw AttachmentError(.tooLarge, "the payload has more than \(limitInBytes) bytes")
        }
        let sink = PayloadSink(reference.blob)
        try await transport.get(reference.url) { piece in try sink.receive(piece) }
        return try sink.finish()
    }
}

/// Takes the pieces of a blob that is opened in memory.
private final class PayloadSink: @unchecked Sendable {
    // Unchecked because of the opener: it is used under the lock only.
    private let opener: BlobOpener
    private let plaintext: Locked<[UInt8]>

    /// - Parameter reference: of a blob whose length was checked: all of it is made room for at once, because an array that
    ///   grows is there twice.
    init(_ reference: BlobReference) {
        opener = BlobOpener(reference)
        var room: [UInt8] = []
        room.reserveCapacity(Int(reference.size))
        plaintext = Locked(room)
    }

    func receive(_ piece: [UInt8]) throws {
        try plaintext.withLock { plaintext in
            Result { () throws(FailureClass) in try opener.open(piece, appendingTo: &plaintext) }
        }.mapError { _ in AttachmentError.damaged }.get()
    }

    func finish() throws -> [UInt8] {
        try plaintext.withLock { plaintext in
            Result { () throws(FailureClass) in
                try opener.finish()
                // The caller gets the only reference, so that it can shorten the array without a copy.
                defer { plaintext = [] }
                return plaintext
            }
        }.mapError { _ in AttachmentError.damaged }.get()
    }
}
