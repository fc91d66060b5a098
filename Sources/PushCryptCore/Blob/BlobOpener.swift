package import PushCryptPrimitives

/// Opens one blob (`BlobFormat`) piece by piece in constant memory. Not thread-safe.
///
/// Don't use the plaintext before ``finish()`` has returned. Each chunk is authentic, but the end may be missing, and
/// another recipient may have written the blob. Keep the plaintext under a temporary name until then.
public final class BlobOpener {
    private let reference: BlobReference
    private let aad: [UInt8]
    private let backend: any CryptoBackend
    private let digest: any IncrementalSHA256
    private let chunkCount: Int64
    private var restByteCount: Int64
    /// The first bytes of the magic or of a chunk.
    private var pending: [UInt8] = []
    private var hasMagic = false
    private var nextIndex: Int64 = 0
    private var isOver = false

    /// Makes an opener.
    ///
    /// - Parameter reference: the result of the sender's ``BlobSealer``.
    public convenience init(_ reference: BlobReference) { self.init(reference, backend: DefaultBackend.shared) }

    package init(_ reference: BlobReference, backend: any CryptoBackend) {
        self.reference = reference
        self.backend = backend
        aad = BlobFormat.aad(reference.purpose)
        digest = backend.sha256()
        chunkCount = BlobFormat.chunkCount(size: reference.size)
        restByteCount = reference.blobByteCount
    }

    /// Reads the next piece of the blob, of any length, and appends the opened chunks to `output`.
    ///
    /// It refuses a piece that makes the blob longer than its reference allows, so that an endless stream ends.
    ///
    /// - Throws: `FailureClass`: `undecryptable`, `internalError`. Discard the plaintext then; the opener refuses all further
    ///   pieces.
    public func open(_ piece: Span<UInt8>, appendingTo output: inout [UInt8]) throws(FailureClass) {
        guard !isOver, piece.count <= restByteCount else { throw fail(.undecryptable) }
        restByteCount -= Int64(piece.count)
        digest.update(piece)
        var offset = 0
        while offset < piece.count {
            let (needed, rest) = (nextByteCount, piece.count - offset)
            if pending.isEmpty, rest >= needed {
                try openPart(piece.extracting(offset..<offset + needed), appendingTo: &output)
                offset += needed
            } else {
                let count = min(needed - pending.count, rest)
                pending.append(contentsOf: piece.extracting(offset..<offset + count))
                offset += count
                if pending.count == needed { try openPending(appendingTo: &output) }
            }
        }
    }

    /// Reads the next piece from a collection, such as an array or `Data`.
    public func open(_ piece: some Collection<UInt8>, appendingTo output: inout [UInt8]) throws(FailureClass) {
        try open(Array(piece).bytes, appendingTo: &output)
    }

    /// Ends the blob. If this returns, the plaintext is complete and is what the sender sealed.
    ///
    /// - Throws: `FailureClass` with `undecryptable`.
    public func finish() throws(FailureClass) {
        guard !isOver, restByteCount == 0 else { throw fail(.undecryptable) }
        isOver = true
        let (found, expected) = (digest.finalize(), reference.sha256)
        guard constantTimeEqual(found.bytes, expected.bytes) else { throw .undecryptable }
    }

    /// Returns the plaintext of a blob in memory.
    ///
    /// - Throws: `FailureClass`: `undecryptable`, `internalError`.
    public static func plaintext(
        of blob: some Collection<UInt8>, _ reference: BlobReference
    ) throws(FailureClass) -> [UInt8] {
        try plaintext(of: Array(blob), reference, backend: DefaultBackend.shared)
    }

    package static func plaintext(
        of blob: [UInt8], _ reference: BlobReference, backend: any CryptoBackend
    ) throws(FailureClass) -> [UInt8] {
        guard blob.count == reference.blobByteCount else { throw .undecryptable }
        let opener = BlobOpener(reference, backend: backend)
        var plaintext: [UInt8] = []
        plaintext.reserveCapacity(blob.count)
        try opener.open(blob.bytes, appendingTo: &plaintext)
        try opener.finish()
        return plaintext
    }

    /// The length of the magic or of the next chunk.
    private var nextByteCount: Int {
        guard hasMagic else { return BlobFormat.magic.count }
        let start = nextIndex * Int64(BlobFormat.chunkByteCount)
        return Int(min(reference.size - start, Int64(BlobFormat.chunkByteCount))) + AEADAlgorithm.tagByteCount
    }

    private func openPending(appendingTo output: inout [UInt8]) throws(FailureClass) {
        do {
            let whole = pending
            try openPart(whole.bytes, appendingTo: &output)
        }
        pending.removeAll(keepingCapacity: true)
    }

    private func openPart(_ bytes: Span<UInt8>, appendingTo output: inout [UInt8]) throws(FailureClass) {
        guard hasMagic else {
            guard Array(bytes) == BlobFormat.magic else { throw fail(.undecryptable) }
            hasMagic = true
            return
        }
        let (key, aad) = (reference.key, aad)
        let nonce = BlobFormat.nonce(nextIndex, isLast: nextIndex == chunkCount - 1)
        do {
            output += try backend.open(
                .aes256GCM, key: key.bytes, nonce: nonce.bytes, aad: aad.bytes, ciphertext: bytes)
        } catch let error as CryptoError where error.code == .backendFailure {
            throw fail(.internalError)
        } catch {
            throw fail(.undecryptable)
        }
        nextIndex += 1
    }

    private func fail(_ failure: FailureClass) -> FailureClass {
        isOver = true
        return failure
    }
}
