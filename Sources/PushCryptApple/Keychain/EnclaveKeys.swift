#if canImport(Security)
import Foundation
import PushCryptCore
import PushCryptExtension
import PushCryptPrimitives
import Security

/// The Secure Enclave's keys of one label in one access group.
///
/// A key has a random tag, which the record of the key pair remembers: the kid isn't known before there is a key.
struct EnclaveKeys: Sendable {
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

    private func query(_ tag: Data) -> [String: Any] {
        query.merging([kSecAttrApplicationTag as String: tag]) { $1 }
    }

    /// - Throws: `DeviceKeyError` with `locked`, `notEntitled`; `failed` also where there is no Secure Enclave.
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
                kSecAttrIsPermanent as String: true,
                kSecAttrApplicationTag as String: tag,
                kSecAttrLabel as String: label,
                kSecAttrAccessGroup as String: accessGroup,
                kSecAttrAccessControl as String: access,
            ] as [String: Any],
        ]
        guard let key = unsafe SecKeyCreateRandomKey(attributes as CFDictionary, &error) else {
            throw unsafe Self.failure(error)
        }
        return try EnclaveKey(key)
    }

    /// - Returns: nil where there is none.
    func find(_ tag: Data) throws(DeviceKeyError) -> EnclaveKey? {
        var query = query(tag)
        query[kSecReturnRef as String] = true
        query[kSecMatchLimit as String] = kSecMatchLimitOne
        var result: CFTypeRef?
        let status = unsafe SecItemCopyMatching(query as CFDictionary, &result)
        if status == errSecItemNotFound { return nil }
        guard status == errSecSuccess, let result else {
            throw DeviceKeyError(status, "find a key of the Secure Enclave")
        }
        // A query for keys by reference answers with keys; a conditional cast isn't possible with this type.
        return try EnclaveKey(result as! SecKey)
    }

    func remove(_ tag: Data) throws(DeviceKeyError) {
        let status = SecItemDelete(query(tag) as CFDictionary)
        guard status == errSecSuccess || status == errSecItemNotFound else {
            throw DeviceKeyError(status, "remove a key of the Secure Enclave")
        }
    }

    func tags() throws(DeviceKeyError) -> [Data] {
        var query = query
        query[kSecReturnAttributes as String] = true
        query[kSecMatchLimit as String] = kSecMatchLimitAll
        var result: CFTypeRef?
        let status = unsafe SecItemCopyMatching(query as CFDictionary, &result)
        if status == errSecItemNotFound { return [] }
        guard status == errSecSuccess, let items = result as? [[String: Any]] else {
            throw DeviceKeyError(status, "list the keys of the Secure Enclave")
        }
        return items.compactMap { $0[kSecAttrApplicationTag as String] as? Data }
    }

    private static func failure(_ error: Unmanaged<CFError>?) -> DeviceKeyError {
        let code = unsafe error.map { unsafe CFErrorGetCode($0.takeRetainedValue()) } ?? 0
        return DeviceKeyError(OSStatus(truncatingIfNeeded: code), "make a key in the Secure Enclave")
    }
}

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
