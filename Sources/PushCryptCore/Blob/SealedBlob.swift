package import PushCryptPrimitives

/// A blob in memory: `bytes` go to a server that may know everything about them, `reference` into a sealed message.
public struct SealedBlob: Equatable, Sendable {
    public let bytes: [UInt8]
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
