#if canImport(Security)
#if canImport(CryptoKit)
import CryptoKit
#endif
import Foundation
import PushCryptCore
import PushCryptExtension
import PushCryptPrimitives
import Security

/// The Secure Enclave's keys with one label in one access group.
///
/// Each key has a random tag, which is stored with the record of the key pair. The tag can't be the kid, which isn't known
/// before the key exists.
struct EnclaveKeys: Sendable {
    /// Whether the device can make such keys.
    static var areAvailable: Bool {
        #if canImport(CryptoKit)
        SecureEnclave.isAvailable
        #else
        true
        #endif
    }

    let label: String
    let accessGroup: String

    private var query: [String: Any] {
        [
            kSecClass as String: kSecClassKey,
            kSecAttrTokenID as String: kSecAttrTokenIDSecureEnclave,
            kSecAttrLabel as String: label,
            kSecAttrAccessGroup as String: accessGroup,
            kSecUseDataProtectionKeychain as String: true,
        ]
    }

    private func query(_ tag: Data) -> [String: Any] { query.merging([kSecAttrApplicationTag as String: tag]) { $1 } }

    /// - Throws: `DeviceKeyError` with `locked`, `notEntitled`; `failed`, also without a Secure Enclave.
    func make(_ tag: Data) throws(DeviceKeyError) -> EnclaveKey {
        var error: Unmanaged<CFError>?
        guard
            let access = unsafe SecAccessControlCreateWithFlags(
                nil, kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly, .privateKeyUsage, &error)
        else { throw unsafe Self.failure(error) }
        let attributes: [String: Any] = [
            kSecAttrKeyType as String: kSecAttrKeyTypeECSECPrimeRandom,
            kSecAttrKeySizeInBits as String: 256,
            kSecAttrTokenID as String: kSecAttrTokenIDSecureEnclave,
            kSecUseDataProtectionKeychain as String: true,
            kSecPrivateKeyAttrs as String: [
                kSecAttrIsPermanent as String: true, kSecAttrApplicationTag as String: tag,
                kSecAttrLabel as String: label, kSecAttrAccessGroup as String: accessGroup,
                kSecAttrAccessControl as String: access,
            ] as [String: Any],
        ]
        guard let key = unsafe SecKeyCreateRandomKey(attributes as CFDictionary, &error) else {
            throw unsafe Self.failure(error)
        }
        return try EnclaveKey(key)
    }

    /// - Returns: nil if there is no such key.
    func find(_ tag: Data) throws(DeviceKeyError) -> EnclaveKey? {
        var query = query(tag)
        query[kSecReturnRef as String] = true
        query[kSecMatchLimit as String] = kSecMatchLimitOne
        guard let result = try Keychain.search(query, "find a key of the Secure Enclave") else { return nil }
        // A query for key references returns keys; a conditional cast isn't possible with this type.
        return try EnclaveKey(result as! SecKey)
    }

    func remove(_ tag: Data) throws(DeviceKeyError) {
        try Keychain.remove(query(tag), "remove a key of the Secure Enclave")
    }

    func tags() throws(DeviceKeyError) -> [Data] {
        var query = query
        query[kSecReturnAttributes as String] = true
        query[kSecMatchLimit as String] = kSecMatchLimitAll
        let what = "list the keys of the Secure Enclave"
        return try Keychain.all(query, what).compactMap { $0[kSecAttrApplicationTag as String] as? Data }
    }

    private static func failure(_ error: Unmanaged<CFError>?) -> DeviceKeyError {
        let code = unsafe error.map { unsafe CFErrorGetCode($0.takeRetainedValue()) } ?? 0
        return DeviceKeyError(OSStatus(truncatingIfNeeded: code), "make a key in the Secure Enclave")
    }
}

/// A P-256 key pair whose private half stays in the Secure Enclave, which computes shared secrets.
///
/// `@unchecked Sendable`: a SecKey is immutable, and Apple's functions for it may be called from any thread.
final class EnclaveKey: DecapsulationKey, @unchecked Sendable {
    private let key: SecKey
    let publicKey: any EncapsulationKey

    /// - Throws: `DeviceKeyError` with `failed`.
    init(_ key: SecKey) throws(DeviceKeyError) {
        guard let open = SecKeyCopyPublicKey(key), let point = SecKeyCopyExternalRepresentation(open, nil) else {
            throw DeviceKeyError(.failed, "the Secure Enclave returned no public half of a key")
        }
        self.key = key
        let bytes = [UInt8](point as Data)
        do {
            publicKey = try DefaultBackend.shared.publicKey(.p256, bytes.bytes)
        } catch {
            throw DeviceKeyError(.failed, "the Secure Enclave returned no P-256 point: \(error)")
        }
    }

    var serialized: SecretBytes {
        get throws { throw CryptoError(.invalidPrivateKey, "a private key of the Secure Enclave can't be read") }
    }

    /// Computes the shared secret. The peer's backend has validated the peer's point.
    func sharedSecret(with peer: any EncapsulationKey) throws -> SecretBytes {
        guard peer.type == .p256 else { throw CryptoError(.keyMismatch, "the other key is not a P-256 key") }
        let attributes: [String: Any] = [
            kSecAttrKeyType as String: kSecAttrKeyTypeECSECPrimeRandom,
            kSecAttrKeyClass as String: kSecAttrKeyClassPublic,
            kSecAttrKeySizeInBits as String: 256,
        ]
        let point = Data(peer.serialized)
        guard let open = SecKeyCreateWithData(point as CFData, attributes as CFDictionary, nil),
            let shared = SecKeyCopyKeyExchangeResult(
                key, .ecdhKeyExchangeStandard, open, [String: Any]() as CFDictionary, nil)
        else { throw CryptoError(.backendFailure, "the Secure Enclave computed no shared secret") }
        // The system's copy can't be wiped; the secret is used for this message only.
        var bytes = [UInt8](shared as Data)
        defer { wipe(&bytes) }
        guard bytes.count == KeyPairType.sharedSecretByteCount else {
            throw CryptoError(.backendFailure, "the Secure Enclave returned a shared secret of \(bytes.count) bytes")
        }
        return SecretBytes(copying: bytes.bytes)
    }
}
#endif
