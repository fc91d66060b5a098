import CPushCryptOpenSSL
import PushCryptPrimitives

/// SHA-256 over a state of its own, which is cleansed: what it has read may have been a secret.
final class OpenSSLSHA256: IncrementalSHA256 {
    private var state = SHA256_CTX()

    init() {
        SHA256_Init(&state)
    }

    deinit {
        OPENSSL_cleanse(&state, MemoryLayout<SHA256_CTX>.size)
    }

    func update(_ bytes: Span<UInt8>) {
        state.update(bytes)
    }

    func finalize() -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
        SHA256_Final(&digest, &state)
        SHA256_Init(&state)
        return digest
    }
}

/// HMAC-SHA256 (RFC 2104) over SHA-256 states that are hashed once per key and copied per message.
///
/// ```
/// HMAC(K, text) = H((K ^ opad) || H((K ^ ipad) || text))      K padded with zeros to 64 bytes, hashed first if longer
/// ```
/// EVP_MAC and EVP_KDF give the same bytes for two to five times the cost.
final class OpenSSLHMAC: HMACSHA256 {
    private struct States {
        var inner = SHA256_CTX()
        var outer = SHA256_CTX()
        var running = SHA256_CTX()

        /// Of the empty key, which HPKE extracts with several times for each message.
        static let ofEmptyKey: States = {
            var states = States()
            states.set(key: Span())
            return states
        }()

        mutating func set(key: Span<UInt8>) {
            withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Int(SHA256_CBLOCK)) { block in
                block.initialize(repeating: 0)
                if key.count > block.count {
                    SHA256_Init(&running)
                    running.update(key)
                    SHA256_Final(block.baseAddress, &running)
                } else {
                    key.withUnsafeBytes { UnsafeMutableRawBufferPointer(block).copyMemory(from: $0) }
                }
                for index in block.indices { block[index] ^= 0x36 }
                SHA256_Init(&inner)
                SHA256_Update(&inner, block.baseAddress, block.count)
                for index in block.indices { block[index] ^= 0x36 ^ 0x5c }
                SHA256_Init(&outer)
                SHA256_Update(&outer, block.baseAddress, block.count)
                PushCryptPrimitives.wipe(block)
            }
            running = inner
        }

        /// The outer text is the block of the key and a digest, 768 bits, so that its last block is always this one
        /// (FIPS 180-4 section 5.1.1): the digest, a one bit, zeros, the length.
        mutating func finalize(into code: UnsafeMutablePointer<UInt8>) {
            withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Int(SHA256_CBLOCK)) { block in
                block.initialize(repeating: 0)
                SHA256_Final(block.baseAddress, &running)
                (block[32], block[62]) = (0x80, 0x03)
                running = outer
                SHA256_Transform(&running, block.baseAddress)
                PushCryptPrimitives.wipe(block)
            }
            withUnsafeBytes(of: &running.h) { words in
                for start in stride(from: 0, to: words.count, by: 4) {
                    let word = words.load(fromByteOffset: start, as: UInt32.self).bigEndian
                    UnsafeMutableRawPointer(code).storeBytes(of: word, toByteOffset: start, as: UInt32.self)
                }
            }
            running = inner
        }
    }

    /// Behind a pointer: an access costs no check for exclusivity, and nothing is copied that would have to be wiped.
    private let states: UnsafeMutablePointer<States>

    /// The HMAC of the empty key.
    init() {
        states = .allocate(capacity: 1)
        states.initialize(to: States.ofEmptyKey)
    }

    convenience init(key: Span<UInt8>) {
        self.init()
        set(key: key)
    }

    deinit {
        wipe()
        states.deallocate()
    }

    /// Begins under another key.
    func set(key: Span<UInt8>) {
        if key.isEmpty {
            states.pointee = States.ofEmptyKey
        } else {
            states.pointee.set(key: key)
        }
    }

    /// Wipes the states. The object can't be used until the next `set(key:)`.
    func wipe() {
        let bytes = UnsafeMutableRawPointer(states).assumingMemoryBound(to: UInt8.self)
        PushCryptPrimitives.wipe(UnsafeMutableBufferPointer(start: bytes, count: MemoryLayout<States>.size))
    }

    func update(_ bytes: Span<UInt8>) {
        states.pointee.running.update(bytes)
    }

    func finalize(into code: inout MutableSpan<UInt8>) {
        precondition(code.count >= Int(SHA256_DIGEST_LENGTH))
        code.withUnsafeMutableBufferPointer { code in states.pointee.finalize(into: code.baseAddress!) }
    }
}

extension SHA256_CTX {
    mutating func update(_ bytes: Span<UInt8>) {
        bytes.withUnsafeBufferPointer { buffer in _ = SHA256_Update(&self, buffer.baseAddress, buffer.count) }
    }
}
