package import PushCryptPrimitives

/// Writes one blob (`BlobFormat`), piece by piece in constant memory, under a key that it makes itself and that seals
/// nothing else.
///
/// A class, because a copy in mid-blob would use the same nonces twice. Not thread-safe.
public final class BlobSealer {
    private let purpose: BlobPurpose
    private let key: SecretBytes
    private let aad: [UInt8]
    private let backend: any CryptoBackend
    private let digest: any IncrementalSHA256
    /// Plaintext that waits: whether a chunk is the last shows only when more comes or nothing does.
    private var pending: [UInt8] = []
    private var nextIndex: Int64
    private var size: Int64 = 0
    private var hasBegun = false
    private var isOver = false

    /// - Throws: `BlobError` with `backendFailure`.
    public convenience init(_ purpose: BlobPurpose) throws(BlobError) {
        try self.init(purpose, backend: DefaultBackend.shared)
    }

    package convenience init(_ purpose: BlobPurpose, backend: any CryptoBackend) throws(BlobError) {
        let key: SecretBytes
        do {
            key = try backend.randomSecret(count: BlobFormat.keyByteCount)
        } catch {
            throw BlobError(.backendFailure, "\(error)")
        }
        self.init(purpose, key: key, backend: backend)
    }

    /// For tests only: two blobs under one key give both plaintexts away.
    init(_ purpose: BlobPurpose, key: SecretBytes, firstIndex: Int64 = 0, backend: any CryptoBackend) {
        self.purpose = purpose
        self.key = key
        self.backend = backend
        aad = BlobFormat.aad(purpose)
        digest = backend.sha256()
        nextIndex = firstIndex
        pending.reserveCapacity(BlobFormat.chunkByteCount)
    }

    /// Takes the next piece of the plaintext, of any length, and appends the part of the blob that is ready to `output`.
    ///
    /// - Throws: `BlobError` with `tooLong`, `finished`, `backendFailure`; then the blob can't be finished.
    public func seal(_ piece: Span<UInt8>, appendingTo output: inout [UInt8]) throws(BlobError) {
        try begin(&output)
        var offset = 0
        while offset < piece.count {
            if pending.count == BlobFormat.chunkByteCount { try sealPending(isLast: false, appendingTo: &output) }
            let rest = piece.count - offset
            if pending.isEmpty, rest > BlobFormat.chunkByteCount {
                let chunk = piece.extracting(offset..<offset + BlobFormat.chunkByteCount)
                try sealChunk(chunk, isLast: false, appendingTo: &output)
                offset += BlobFormat.chunkByteCount
            } else {
                let count = min(BlobFormat.chunkByteCount - pending.count, rest)
                pending.append(contentsOf: piece.extracting(offset..<offset + count))
                offset += count
            }
        }
    }

    /// The same for an array.
    public func seal(_ piece: [UInt8], appendingTo output: inout [UInt8]) throws(BlobError) {
        try seal(piece.bytes, appendingTo: &output)
    }

    /// Appends the rest of the blob.
    ///
    /// - Returns: what opens it.
    /// - Throws: `BlobError` with `tooLong`, `finished`, `backendFailure`.
    public func finish(appendingTo output: inout [UInt8]) throws(BlobError) -> BlobReference {
        try begin(&output)
        try sealPending(isLast: true, appendingTo: &output)
        isOver = true
        guard let reference = BlobReference(purpose, key: key, size: size, sha256: digest.finalize()) else {
            throw BlobError(.backendFailure, "the digest has another length than SHA-256's")
        }
        return reference
    }

    /// Throws where nothing more may come; writes what stands before the first chunk.
    private func begin(_ output: inout [UInt8]) throws(BlobError) {
        guard !isOver else { throw BlobError(.finished, "the blob is finished, or a part of it failed") }
        guard !hasBegun else { return }
        hasBegun = true
        let magic = BlobFormat.magic
        output += magic
        digest.update(magic.bytes)
    }

    private func sealPending(isLast: Bool, appendingTo output: inout [UInt8]) throws(BlobError) {
        do {
            let chunk = pending
            try sealChunk(chunk.bytes, isLast: isLast, appendingTo: &output)
        }
        // Behind the end of `chunk`, so that the buffer is nobody else's and stays.
        pending.removeAll(keepingCapacity: true)
    }

    private func sealChunk(
        _ chunk: Span<UInt8>, isLast: Bool, appendingTo output: inout [UInt8]
    ) throws(BlobError) {
        guard nextIndex < BlobFormat.maximumChunkCount else {
            isOver = true
            throw BlobError(.tooLong, "a blob has at most \(BlobFormat.maximumChunkCount) chunks")
        }
        let (start, key, aad) = (output.count, key, aad)
        let nonce = BlobFormat.nonce(nextIndex, isLast: isLast)
        do {
            try backend.seal(
                .aes256GCM, key: key.bytes, nonce: nonce.bytes, aad: aad.bytes, plaintext: chunk,
                appendingTo: &output)
        } catch {
            isOver = true
            throw BlobError(.backendFailure, "\(error)")
        }
        digest.update(output.bytes.extracting(start..<output.count))
        nextIndex += 1
        size += Int64(chunk.count)
    }
}

/// A blob in memory: `bytes` go to a server that may know everything about them, `reference` into a sealed message.
public struct SealedBlob: Equatable, Sendable {
    /// The blob, to be uploaded.
    public let bytes: [UInt8]
    /// What opens the blob. A secret.
    public let reference: BlobReference

    /// Seals bytes that are in memory. For larger ones there is ``BlobSealer``.
    ///
    /// - Throws: `BlobError` with `backendFailure`.
    public init(_ plaintext: [UInt8], for purpose: BlobPurpose) throws(BlobError) {
        try self.init(plaintext, for: purpose, backend: DefaultBackend.shared)
    }

    package init(
        _ plaintext: [UInt8], for purpose: BlobPurpose, backend: any CryptoBackend
    ) throws(BlobError) {
        let sealer = try BlobSealer(purpose, backend: backend)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Int(BlobFormat.blobByteCount(size: Int64(plaintext.count))))
        try sealer.seal(plaintext.bytes, appendingTo: &bytes)
        reference = try sealer.finish(appendingTo: &bytes)
        self.bytes = bytes
    }
}
