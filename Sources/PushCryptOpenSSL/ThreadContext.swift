import CPushCryptOpenSSL
import PushCryptPrimitives

/// The reusable OpenSSL contexts of one thread. They are made at first use and freed with the thread.
///
/// A function finishes with a context before it returns, and never passes it to another thread.
struct ThreadContext {
    private var ciphers: [CipherContext?] = Array(repeating: nil, count: 6)
    private var p256Scratch: P256Scratch?
    private var x25519Importer: X25519Importer?
    /// The HMACs that are not in use.
    private var hmacs: [OpenSSLHMAC] = []

    private init() {}

    /// The calling thread's context. A pointer, because an object would count references at each use.
    static var current: UnsafeMutablePointer<ThreadContext> {
        if let known = pthread_getspecific(key) { return known.assumingMemoryBound(to: ThreadContext.self) }
        let context = UnsafeMutablePointer<ThreadContext>.allocate(capacity: 1)
        context.initialize(to: ThreadContext())
        pthread_setspecific(key, context)
        return context
    }

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        let status = pthread_key_create(&key) { context in
            // Optional on some platforms only.
            if let context = context as UnsafeMutableRawPointer? { free(context) }
        }
        precondition(status == 0, "pthread_key_create failed: the process has used up its thread-local keys")
        return key
    }()

    private static func free(_ pointer: UnsafeMutableRawPointer) {
        let context = pointer.assumingMemoryBound(to: ThreadContext.self)
        context.deinitialize(count: 1)
        context.deallocate()
    }

    mutating func cipher(_ algorithm: AEADAlgorithm, _ direction: CipherContext.Direction) throws -> CipherContext {
        let index = algorithm.index * 2 + (direction == .seal ? 0 : 1)
        return try Self.known(&ciphers[index]) { try CipherContext(algorithm, direction) }
    }

    mutating func p256() throws -> P256Scratch { try Self.known(&p256Scratch, P256Scratch.init) }
    mutating func forgetP256() { p256Scratch = nil }
    mutating func x25519() throws -> X25519Importer { try Self.known(&x25519Importer, X25519Importer.init) }

    @inline(__always)
    private static func known<Object>(_ slot: inout Object?, _ make: () throws -> Object) rethrows -> Object {
        if let known = slot { return known }
        let made = try make()
        slot = made
        return made
    }

    /// Calls `body` with an HMAC, and wipes it afterwards. `body` may call this again: a nested call uses another HMAC.
    static func withHMAC<Result>(key: Span<UInt8>, _ body: (any HMACSHA256) throws -> Result) rethrows -> Result {
        let context = current
        let hmac = context.pointee.hmacs.popLast() ?? OpenSSLHMAC()
        hmac.set(key: key)
        defer {
            hmac.wipe()
            context.pointee.hmacs.append(hmac)
        }
        return try body(hmac)
    }
}

extension AEADAlgorithm {
    fileprivate var index: Int {
        switch self {
        case .aes128GCM: 0
        case .aes256GCM: 1
        case .chaCha20Poly1305: 2
        }
    }
}

/// Algorithms that are fetched once per process: an implicit fetch in every call locks a mutex and doubles the cost.
///
/// A fetch that fails is tried again by the next call, because a lack of memory passes. The fetched objects are immutable,
/// never freed, and may be shared between threads.
final class Algorithms: Sendable {
    static let shared = Algorithms()

    /// The addresses of the objects.
    private let ciphers = Locked<[AEADAlgorithm: UInt]>([:])
    private let digests = Locked<[String: UInt]>([:])
    private let p256Group = Locked<UInt?>(nil)

    /// - Throws: `CryptoError` if the installed OpenSSL was built or configured without the cipher.
    func cipher(_ algorithm: AEADAlgorithm) throws -> OpaquePointer {
        let address = try ciphers.withLock { ciphers in
            if let known = ciphers[algorithm] { return known }
            let fetched =
                switch algorithm {
                case .aes128GCM: try unwrap(EVP_CIPHER_fetch(nil, "AES-128-GCM", nil), "EVP_CIPHER_fetch AES-128-GCM")
                case .aes256GCM: try unwrap(EVP_CIPHER_fetch(nil, "AES-256-GCM", nil), "EVP_CIPHER_fetch AES-256-GCM")
                case .chaCha20Poly1305:
                    try unwrap(
                        EVP_CIPHER_fetch(nil, "ChaCha20-Poly1305", nil), "EVP_CIPHER_fetch ChaCha20-Poly1305")
                }
            ciphers[algorithm] = UInt(bitPattern: fetched)
            return UInt(bitPattern: fetched)
        }
        return OpaquePointer(bitPattern: address)!
    }

    /// - Throws: `CryptoError` if the installed OpenSSL was built or configured without the digest.
    func digest(_ name: String) throws -> OpaquePointer {
        let address = try digests.withLock { digests in
            if let known = digests[name] { return known }
            let address = UInt(bitPattern: try unwrap(EVP_MD_fetch(nil, name, nil), "EVP_MD_fetch"))
            digests[name] = address
            return address
        }
        return OpaquePointer(bitPattern: address)!
    }

    /// The group P-256 with its arithmetic tables.
    func p256() throws -> OpaquePointer {
        let address = try p256Group.withLock { group in
            if let group { return group }
            let made = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1)
            let address = UInt(bitPattern: try unwrap(made, "EC_GROUP_new_by_curve_name P-256"))
            group = address
            return address
        }
        return OpaquePointer(bitPattern: address)!
    }
}
