import PushCryptPrimitives

@testable import PushCryptCore

/// A blob of single chunks with valid tags, as an attacker with the key can make it.
struct HandmadeBlob: Sendable, CustomStringConvertible {
    struct Chunk: Sendable {
        let plaintext: [UInt8]
        /// The first 11 bytes of the nonce.
        let counter: [UInt8]
        let flag: UInt8

        init(_ plaintext: [UInt8], _ index: UInt8, flag: UInt8) {
            self.init(plaintext, counter: [UInt8](repeating: 0, count: 10) + [index], flag: flag)
        }

        init(_ plaintext: [UInt8], counter: [UInt8], flag: UInt8) {
            (self.plaintext, self.counter, self.flag) = (plaintext, counter, flag)
        }
    }

    let description: String
    var magic = Array("PCB1".utf8)
    var aad = Array("PCB1".utf8) + [1]
    var size: Int64?
    let chunks: [Chunk]

    /// The reference with the blob's digest and, without a `size`, with the blob's size.
    func make() throws -> (blob: [UInt8], reference: BlobReference?) {
        let (key, backend) = (TestBlob.key, TestBlob.openSSL)
        var blob = magic
        for chunk in chunks {
            let nonce = chunk.counter + [chunk.flag]
            try backend.seal(
                .aes256GCM, key: key.bytes, nonce: nonce.bytes, aad: aad.bytes, plaintext: chunk.plaintext.bytes,
                appendingTo: &blob)
        }
        let count = chunks.reduce(0) { $0 + $1.plaintext.count }
        let digest = try backend.sha256(blob.bytes)
        return (blob, BlobReference(.attachment, key: key, size: size ?? Int64(count), sha256: digest))
    }
}
