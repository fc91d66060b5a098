package import PushCryptPrimitives

#if canImport(CryptoKit)
import PushCryptCryptoKit
#else
import PushCryptOpenSSL
#endif

/// The backend of the platform: CryptoKit on Apple's systems, OpenSSL on others.
package enum DefaultBackend {
    #if canImport(CryptoKit)
    package static let shared: any CryptoBackend = CryptoKitBackend()
    #else
    package static let shared: any CryptoBackend = OpenSSLBackend()
    #endif
}
