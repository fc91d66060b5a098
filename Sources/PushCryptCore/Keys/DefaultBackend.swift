package import PushCryptPrimitives

#if canImport(CryptoKit)
import PushCryptCryptoKit
#else
import PushCryptOpenSSL
#endif

/// The platform's backend: CryptoKit on Apple's systems, OpenSSL elsewhere.
package enum DefaultBackend {
    #if canImport(CryptoKit)
    package static let shared: any CryptoBackend = CryptoKitBackend()
    #else
    package static let shared: any CryptoBackend = OpenSSLBackend()
    #endif
}
