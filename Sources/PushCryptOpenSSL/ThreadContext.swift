import CPushCryptOpenSSL
import PushCryptPrimitives

/// OpenSSL's working contexts of one thread, made at first use, reused for every message, freed with the thread.
///
/// A function takes what it needs from here and finishes with it before it returns; nothing here outlives a call,
/// suspends or is handed to another thread.
struct ThreadContext {
    private var ciphers: [CipherContext?] = Array(repeating: nil, count: 6)
    private var p256Scratch: P256Scratch?
    private var x25519Importer: X25519Importer?
    /// Those that are not in use.
    private var hmacs: [OpenSSLHMAC] = []

    private init() {}

    /// The calling thread's. A pointer and no object, so that using it counts no references.
    static var current: UnsafeMutablePointer<ThreadContext> {
        if let known = pthread_getspecific(key) {
            return known.assumingMemoryBound(to: ThreadContext.self)
        }
        let context = UnsafeMutablePointer<ThreadContext>.allocate(capacity: 1)
        context.initialize(to: ThreadContext())
        pthread_setspecific(key, context)
        return context
    }

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        let status = pthread_key_create(&key) { context in
            #if canImport(Darwin)
            free(context)
            #else
            if let context { free(context) }
            #endif
        }
        precondition(status == 0, "pthread_key_create failed: the process has used up its thread-local keys")
        return key
    }()

    private static func free(_ pointer: UnsafeMutableRawPointer) {
        let context = pointer.assumingMemoryBound(to: ThreadContext.self)
        context.deinitialize(count: 1)
        context.deallocate()
    }

    mutating func cipher(
        _ algorithm: AEADAlgorithm, _ direction: CipherContext.Direction
    ) throws -> CipherContext {
        let index = algorithm.index * 2 + (direction == .seal ? 0 : 1)
        if let known = ciphers[index] { return known }
        let made = try CipherContext(algorithm, direction)
        ciphers[index] = made
        return made
    }

    mutating func p256() throws -> P256Scratch {
        if let known = p256Scratch { return known }
        let made = try P256Scratch()
        p256Scratch = made
        return made
    }

    mutating func x25519() throws -> X25519Importer {
        if let known = x25519Importer { return known }
        let made = try X25519Importer()
        x25519Importer = made
        return made
    }

    /// `body` may call this again: each call has an HMAC of its own.
    static func withHMAC<Result>(
        key: Span<UInt8>, _ body: (any HMACSHA256) throws -> Result
    ) rethrows -> Result {
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
