package import PushCryptPrimitives

/// Seals one blob (`BlobFormat`) piece by piece in constant memory, under a new key. Not thread-safe.
///
/// It is a class, because a copy would use the same nonces again.
public final class BlobSealer {
    private let purpose: BlobPurpose
    private let key: SecretBytes
    private let aad: [UInt8]
    private let backend: any CryptoBackend
    private let digest: any IncrementalSHA256
    /// Plaintext that isn't sealed yet. A chunk is sealed when the next byte or the end shows whether it is the last.
    private var pending: [UInt8] = []
    private var nextIndex: Int64
    private var size: Int64 = 0
    private var hasBegun = false
    private var isOver = false

    /// Makes a sealer with a new key.
    ///
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

    /// For tests only: two blobs under one key reveal both plaintexts.
    init(_ purpose: BlobPurpose, key: SecretBytes, firstIndex: Int64 = 0, backend: any CryptoBackend) {
        self.purpose = purpose
        self.key = key
        self.backend = backend
        aad = BlobFormat.aad(purpose)
        digest = backend.sha256()
        nextIndex = firstIndex
        pending.reserveCapacity(BlobFormat.chunkByteCount)
    }

    /// Seals the next piece of the plaintext, of any length, and appends the complete chunks to `output`.
    ///
    /// - Throws: `BlobError` with `tooLong`, `finished`, `backendFailure`. The blob can't be finished then.
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

    /// Seals the next piece from a collection, such as an array or `Data`.
    public func seal(_ piece: some Collection<UInt8>, appendingTo output: inout [UInt8]) throws(BlobError) {
        try seal(Array(piece).bytes, appendingTo: &output)
    }

    /// Appends the rest of the blob.
    ///
    /// - Returns: the reference that opens the blob.
    /// - Throws: `BlobError` with `tooLong`, `finished`, `backendFailure`.
    public func finish(appendingTo output: inout [UInt8]) throws(BlobError) -> BlobReference {
        try begin(&output)
        try sealPending(isLast: true, appendingTo: &output)
        isOver = true
        guard let reference = BlobReference(purpose, key: key, size: size, sha256: digest.finalize()) else {
            throw BlobError(.backendFailure, "the digest doesn't have the length of SHA-256")
        }
        return reference
    }

    /// Throws after the end; writes the magic at the beginning.
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
        // `chunk` is freed at this point, so that the array has no second owner and keeps its buffer.
        pending.removeAll(keepingCapacity: true)
    }

    private func sealChunk(_ chunk: Span<UInt8>, isLast: Bool, appendingTo output: inout [UInt8]) throws(BlobError) {
        guard nextIndex < BlobFormat.maximumChunkCount else {
            isOver = true
            throw BlobError(.tooLong, "a blob has at most \(BlobFormat.maximumChunkCount) chunks")
        }
        let (start, key, aad) = (output.count, key, aad)
        let nonce = BlobFormat.nonce(nextIndex, isLast: isLast)
        do {
            try backend.seal(
                .aes256GCM, key: key.bytes, nonce: nonce.bytes, aad: aad.bytes, plaintext: chunk, appendingTo: &output)
        } catch {
            isOver = true
            throw BlobError(.backendFailure, "\(error)")
        }
        digest.update(output.bytes.extracting(start..<output.count))
        nextIndex += 1
        size += Int64(chunk.count)
    }
}

/// A blob in memory. Upload `bytes` to any server; send `reference` in a sealed message.
public struct SealedBlob: Equatable, Sendable {
    /// The blob, which is not secret.
    public let bytes: [UInt8]
    /// The reference that opens the blob. A secret.
    public let reference: BlobReference

    /// Seals bytes in memory. ``BlobSealer`` seals larger ones.
    ///
    /// - Throws: `BlobError` with `backendFailure`.
    public init(_ plaintext: some Collection<UInt8>, for purpose: BlobPurpose) throws(BlobError) {
        try self.init(Array(plaintext), for: purpose, backend: DefaultBackend.shared)
    }

    package init(_ plaintext: [UInt8], for purpose: BlobPurpose, backend: any CryptoBackend) throws(BlobError) {
        let sealer = try BlobSealer(purpose, backend: backend)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Int(BlobFormat.blobByteCount(size: Int64(plaintext.count))))
        try sealer.seal(plaintext.bytes, appendingTo: &bytes)
        reference = try sealer.finish(appendingTo: &bytes)
        self.bytes = bytes
    }
}

extension SealedBlob: CustomStringConvertible, CustomReflectable {
    /// The lengths, as in `sealed blob of 22 bytes, attachment of 2 bytes`.
    public var description: String {
        "sealed blob of \(bytes.count) bytes, \(reference.purpose) of \(reference.size) bytes"
    }
    /// Nothing, so that `dump` shows only the description.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
