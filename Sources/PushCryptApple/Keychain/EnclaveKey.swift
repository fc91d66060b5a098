#if canImport(Security)
import Foundation
import PushCryptCore
import PushCryptExtension
import PushCryptPrimitives
import Security

/// A P-256 key whose private half stays in the Secure Enclave; it agrees on secrets there.
///
/// `@unchecked Sendable`: a SecKey doesn't change, and Apple's functions on it may be called from any thread.
final class EnclaveKey: DHPrivateKey, @unchecked Sendable {
    private let key: SecKey
    let publicKey: any DHPublicKey

    /// - Throws: `DeviceKeyError` with `failed`.
    init(_ key: SecKey) throws(DeviceKeyError) {
        guard let open = SecKeyCopyPublicKey(key), let point = SecKeyCopyExternalRepresentation(open, nil) else {
            throw DeviceKeyError(.failed, "the Secure Enclave doesn't give the public half of a key")
        }
        self.key = key
        let bytes = [UInt8](point as Data)
        do {
            publicKey = try DefaultBackend.shared.publicKey(.p256, bytes.bytes)
        } catch {
            throw DeviceKeyError(.failed, "the Secure Enclave gave no P-256 point: \(error)")
        }
    }

    var serialized: SecretBytes {
        get throws { throw CryptoError(.invalidPrivateKey, "a private key of the Secure Enclave can't be read") }
    }

    /// The peer may be of any backend, which has checked its point.
    func sharedSecret(with peer: any DHPublicKey) throws -> SecretBytes {
        guard peer.group == .p256 else { throw CryptoError(.keyMismatch, "the other key is not a P-256 key") }
        let attributes: [String: Any] = [
            kSecAttrKeyType as String: kSecAttrKeyTypeECSECPrimeRandom,
            kSecAttrKeyClass as String: kSecAttrKeyClassPublic,
            kSecAttrKeySizeInBits as String: 256,
        ]
        let point = Data(peer.serialized)
        guard let open = SecKeyCreateWithData(point as CFData, attributes as CFDictionary, nil),
            let shared = SecKeyCopyKeyExchangeResult(
                key, .ecdhKeyExchangeStandard, open, [String: Any]() as CFDictionary, nil)
        else { throw CryptoError(.backendFailure, "the Secure Enclave refused to agree on a secret") }
        // The system's copy can't be wiped; it is of this message alone.
        var bytes = [UInt8](shared as Data)
        defer { wipe(&bytes) }
        guard bytes.count == DHGroup.sharedSecretByteCount else {
            throw CryptoError(.backendFailure, "the Secure Enclave agreed on \(bytes.count) bytes")
        }
        return SecretBytes(copying: bytes.bytes)
    }
}
#endif
