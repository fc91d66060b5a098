import CPushCryptOpenSSL
import PushCryptPrimitives

/// HMAC-SHA256 (RFC 2104) over SHA-256 states that are hashed once per key and copied per message.
///
/// ```
/// HMAC(K, text) = H((K ^ opad) || H((K ^ ipad) || text))      K padded with zeros to 64 bytes, hashed first if longer
/// ```
/// EVP_MAC and EVP_KDF give the same bytes for two to five times the cost.
final class OpenSSLHMAC: HMACSHA256 {
    private var inner = SHA256_CTX()
    private var outer = SHA256_CTX()
    private var running = SHA256_CTX()

    private static let blockByteCount = Int(SHA256_CBLOCK)

    init(key: Span<UInt8>) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Self.blockByteCount) { block in
            block.initialize(repeating: 0)
            if key.count > Self.blockByteCount {
                SHA256_Init(&running)
                running.update(key)
                SHA256_Final(block.baseAddress, &running)
            } else {
                for index in key.indices { block[index] = key[index] }
            }
            for index in block.indices { block[index] ^= 0x36 }
            SHA256_Init(&inner)
            SHA256_Update(&inner, block.baseAddress, block.count)
            for index in block.indices { block[index] ^= 0x36 ^ 0x5c }
            SHA256_Init(&outer)
            SHA256_Update(&outer, block.baseAddress, block.count)
            OPENSSL_cleanse(block.baseAddress, block.count)
        }
        running = inner
    }

    deinit {
        OPENSSL_cleanse(&inner, MemoryLayout<SHA256_CTX>.size)
        OPENSSL_cleanse(&outer, MemoryLayout<SHA256_CTX>.size)
        OPENSSL_cleanse(&running, MemoryLayout<SHA256_CTX>.size)
    }

    func update(_ bytes: Span<UInt8>) {
        running.update(bytes)
    }

    func finalize(into code: inout MutableSpan<UInt8>) {
        precondition(code.count >= Int(SHA256_DIGEST_LENGTH))
        code.withUnsafeMutableBufferPointer { code in
            SHA256_Final(code.baseAddress, &running)
            running = outer
            SHA256_Update(&running, code.baseAddress, Int(SHA256_DIGEST_LENGTH))
            SHA256_Final(code.baseAddress, &running)
        }
        running = inner
    }
}

extension SHA256_CTX {
    mutating func update(_ bytes: Span<UInt8>) {
        bytes.withUnsafeBufferPointer { buffer in _ = SHA256_Update(&self, buffer.baseAddress, buffer.count) }
    }
}
