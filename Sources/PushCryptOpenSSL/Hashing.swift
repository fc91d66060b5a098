import CPushCryptOpenSSL
import PushCryptPrimitives

/// SHA-256. Its state is wiped, because the message may be a secret.
final class OpenSSLSHA256: IncrementalSHA256 {
    private var state = SHA256_CTX()

    init() { SHA256_Init(&state) }
    deinit { OPENSSL_cleanse(&state, MemoryLayout<SHA256_CTX>.size) }
    func update(_ bytes: Span<UInt8>) { state.update(bytes) }

    func finalize() -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
        SHA256_Final(&digest, &state)
        SHA256_Init(&state)
        return digest
    }
}

/// HMAC-SHA256 (RFC 2104). The key is hashed once into two SHA-256 states, which are copied for each message.
///
/// ```
/// HMAC(K, text) = H((K ^ opad) || H((K ^ ipad) || text))      K padded with zeros to 64 bytes, hashed first if longer
/// ```
/// EVP_MAC and EVP_KDF compute the same bytes at two to five times the cost.
final class OpenSSLHMAC: HMACSHA256 {
    private struct States {
        var inner = SHA256_CTX()
        var outer = SHA256_CTX()
        var running = SHA256_CTX()

        /// The states of the empty key, which HPKE uses several times for each message.
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

        /// The outer message has 768 bits: the key's block and a digest. So its last block is always the digest, a one bit,
        /// zeros and the length (FIPS 180-4 section 5.1.1).
        mutating func finalize(into code: UnsafeMutablePointer<UInt8>) {
            withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Int(SHA256_CBLOCK)) { block in
                block.initialize(repeating: 0)
                SHA256_Final(block.baseAddress, &running)
                block[32] = 0x80
                block[62] = 0x03
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

    /// A pointer, so that an access needs no exclusivity check and makes no copy that would have to be wiped.
    private let states: UnsafeMutablePointer<States>

    /// HMAC under the empty key.
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

    /// Changes the key and begins a message.
    func set(key: Span<UInt8>) {
        if key.isEmpty {
            states.pointee = States.ofEmptyKey
        } else {
            states.pointee.set(key: key)
        }
    }

    /// Wipes the states. `set(key:)` makes the object usable again.
    func wipe() {
        let bytes = UnsafeMutableRawPointer(states).assumingMemoryBound(to: UInt8.self)
        PushCryptPrimitives.wipe(UnsafeMutableBufferPointer(start: bytes, count: MemoryLayout<States>.size))
    }

    func update(_ bytes: Span<UInt8>) { states.pointee.running.update(bytes) }

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
