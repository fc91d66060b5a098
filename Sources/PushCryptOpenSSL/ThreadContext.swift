import CPushCryptOpenSSL
import PushCryptPrimitives

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// OpenSSL's working contexts of one thread, made at first use, reused for every message, freed with the thread.
///
/// A function takes what it needs from here and finishes with it before it returns; nothing here outlives a call,
/// suspends or is handed to another thread.
final class ThreadContext {
    private var ciphers: [CipherContext?] = Array(repeating: nil, count: 6)
    private var bigNumberContext: BigNumberContext?
    private var x25519Importer: X25519Importer?

    /// The calling thread's.
    static var current: ThreadContext {
        if let known = pthread_getspecific(key) {
            return Unmanaged<ThreadContext>.fromOpaque(known).takeUnretainedValue()
        }
        let context = ThreadContext()
        pthread_setspecific(key, Unmanaged.passRetained(context).toOpaque())
        return context
    }

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        let status = pthread_key_create(&key) { context in
            #if canImport(Darwin)
            Unmanaged<ThreadContext>.fromOpaque(context).release()
            #else
            if let context { Unmanaged<ThreadContext>.fromOpaque(context).release() }
            #endif
        }
        precondition(status == 0, "pthread_key_create failed: the process has used up its thread-local keys")
        return key
    }()

    func cipher(_ algorithm: AEADAlgorithm, _ direction: CipherContext.Direction) throws -> CipherContext {
        let index = algorithm.index * 2 + (direction == .seal ? 0 : 1)
        if let known = ciphers[index] { return known }
        let made = try CipherContext(algorithm, direction)
        ciphers[index] = made
        return made
    }

    func bigNumbers() throws -> BigNumberContext {
        if let known = bigNumberContext { return known }
        let made = try BigNumberContext()
        bigNumberContext = made
        return made
    }

    func x25519() throws -> X25519Importer {
        if let known = x25519Importer { return known }
        let made = try X25519Importer()
        x25519Importer = made
        return made
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
