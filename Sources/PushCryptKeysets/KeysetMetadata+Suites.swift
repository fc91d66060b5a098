package import PushCryptCore
import PushCryptPrimitives

/// The suites that the cryptographic library of this host needs to use the keys.
extension KeysetMetadata {
    /// Why this host can't use the keys, with `unsupportedSuite`; nil if it can. The keyset is intact: another host can use it.
    package var unsupportedSuite: KeyError? {
        let backend = DefaultBackend.shared
        for key in timeline.keys where key.lifecycle.destroyedAt == nil {
            guard let type = traits[key.kid]?.suite.keyPairType, !backend.supports(type) else { continue }
            do {
                _ = try backend.generateKeyPair(type)
            } catch {
                let reason = (error as? CryptoError)?.reason ?? "\(error)"
                return KeyError(
                    .unsupportedSuite,
                    "key \(key.kid): \(reason). The keyset isn't damaged: another host can use it")
            }
        }
        return nil
    }

    /// - Throws: `KeyError` with `unsupportedSuite`.
    package func requireSuites() throws(KeyError) {
        if let unsupportedSuite { throw unsupportedSuite }
    }
}
