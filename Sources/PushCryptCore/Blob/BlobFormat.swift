import PushCryptPrimitives

/// Encrypted blobs (PROTOCOL section 7).
///
/// ```
/// blob  = "PCB1" || chunk+                  at least one chunk
/// chunk = AES-256-GCM(key, nonce, aad, plaintext of 65,536 bytes)
///                                           the last 1...65,536, empty only for an empty plaintext
/// nonce = u88 big-endian counter from 0, below 2^32 || 0x00, or 0x01 on the last chunk
/// aad   = "PCB1" || u8(purpose: 1 attachment, 2 payload)
/// ```
/// The key is fresh for every blob, so that counters never meet. The counter makes reordered chunks fail, the flag a
/// missing or an added end, the purpose a blob that is used for something else. The plaintext's
/// length determines every chunk's place and size before it arrives.
enum BlobFormat {
    static let magic = Array("PCB1".utf8)
    static let keyByteCount = 32
    static let digestByteCount = 32
    /// Of plaintext.
    static let chunkByteCount = 65_536
    static let maximumChunkCount: Int64 = 1 << 32
    /// The longest plaintext: 2^48 bytes.
    static let maximumSize = maximumChunkCount * Int64(chunkByteCount)

    static func aad(_ purpose: BlobPurpose) -> [UInt8] { magic + [purpose.rawValue] }

    /// - Parameter index: the chunk's, below 2^32.
    static func nonce(_ index: Int64, isLast: Bool) -> [UInt8] {
        var nonce = [UInt8](repeating: 0, count: AEADAlgorithm.nonceByteCount)
        for place in 0..<4 {
            nonce[10 - place] = UInt8(truncatingIfNeeded: index >> Int64(8 * place))
        }
        nonce[11] = isLast ? 1 : 0
        return nonce
    }

    /// - Parameter size: of the plaintext, in 0...2^48.
    static func chunkCount(size: Int64) -> Int64 {
        max((size + Int64(chunkByteCount) - 1) / Int64(chunkByteCount), 1)
    }

    /// The whole blob's length.
    ///
    /// - Parameter size: of the plaintext, in 0...2^48.
    static func blobByteCount(size: Int64) -> Int64 {
        Int64(magic.count) + size + chunkCount(size: size) * Int64(AEADAlgorithm.tagByteCount)
    }
}
