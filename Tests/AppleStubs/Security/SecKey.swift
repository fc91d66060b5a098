// The names are those of Apple's API.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import Crypto
public import Foundation

/// A P-256 key: a public key, or a private key of the Secure Enclave, which can't be read.
public final class SecKey: Sendable {
    enum Half: Sendable {
        case enclave(P256.KeyAgreement.PrivateKey)
        case open(P256.KeyAgreement.PublicKey)
    }

    let half: Half

    init(_ half: Half) {
        self.half = half
    }
}

@available(iOS 10, macOS 10.12, watchOS 3, tvOS 10, visionOS 1, *)
public struct SecKeyAlgorithm: RawRepresentable, Hashable, Sendable {
    public let rawValue: CFString

    public init(rawValue: CFString) {
        self.rawValue = rawValue
    }

    public static let ecdhKeyExchangeStandard = SecKeyAlgorithm(rawValue: "ecdhKeyExchangeStandard")
}

@available(iOS 8, macOS 10.10, watchOS 2, tvOS 9, visionOS 1, *)
public struct SecAccessControlCreateFlags: OptionSet, Sendable {
    public let rawValue: UInt

    public init(rawValue: UInt) {
        self.rawValue = rawValue
    }

    @available(iOS 9, macOS 10.12.1, watchOS 2, tvOS 9, visionOS 1, *)
    public static let privateKeyUsage = SecAccessControlCreateFlags(rawValue: 1 << 30)
}

public final class SecAccessControl: Sendable {
    let protection: CFString
    let flags: SecAccessControlCreateFlags

    init(_ protection: CFString, _ flags: SecAccessControlCreateFlags) {
        self.protection = protection
        self.flags = flags
    }
}

@available(iOS 8, macOS 10.10, watchOS 2, tvOS 9, visionOS 1, *)
public func SecAccessControlCreateWithFlags(
    _ allocator: CFAllocator?, _ protection: CFTypeRef, _ flags: SecAccessControlCreateFlags,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecAccessControl? {
    guard let protection = protection as? CFString else { return unsafe fail(errSecParam, error) }
    return SecAccessControl(protection, flags)
}

/// Makes a permanent key of the Secure Enclave; fails for all other keys.
@available(iOS 10, macOS 10.12, watchOS 3, tvOS 10, visionOS 1, *)
public func SecKeyCreateRandomKey(
    _ parameters: CFDictionary, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecKey? {
    guard parameters[kSecAttrKeyType] as? String == kSecAttrKeyTypeECSECPrimeRandom,
        parameters[kSecAttrKeySizeInBits] as? Int == 256,
        parameters[kSecAttrTokenID] as? String == kSecAttrTokenIDSecureEnclave,
        var attributes = parameters[kSecPrivateKeyAttrs] as? [String: Any],
        attributes.removeValue(forKey: kSecAttrIsPermanent) as? Bool == true,
        let access = attributes.removeValue(forKey: kSecAttrAccessControl) as? SecAccessControl,
        access.flags.contains(.privateKeyUsage)
    else { return unsafe fail(errSecParam, error) }
    let key = SecKey(.enclave(P256.KeyAgreement.PrivateKey(compactRepresentable: false)))
    attributes[kSecClass] = kSecClassKey
    attributes[kSecAttrTokenID] = kSecAttrTokenIDSecureEnclave
    attributes[kSecAttrAccessible] = access.protection
    attributes[kSecValueRef] = key
    let status = SecItemAdd(attributes, nil)
    return status == errSecSuccess ? key : unsafe fail(status, error)
}

@available(iOS 10, macOS 10.12, watchOS 3, tvOS 10, visionOS 1, *)
public func SecKeyCopyPublicKey(_ key: SecKey) -> SecKey? {
    switch key.half {
    case .enclave(let key): SecKey(.open(key.publicKey))
    case .open: key
    }
}

/// Returns the public key in ANSI X9.63 form, 65 bytes; fails for a private key in the Secure Enclave.
@available(iOS 10, macOS 10.12, watchOS 3, tvOS 10, visionOS 1, *)
public func SecKeyCopyExternalRepresentation(
    _ key: SecKey, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    guard case .open(let key) = key.half else { return unsafe fail(errSecParam, error) }
    return key.x963Representation
}

@available(iOS 10, macOS 10.12, watchOS 3, tvOS 10, visionOS 1, *)
public func SecKeyCreateWithData(
    _ keyData: CFData, _ attributes: CFDictionary, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecKey? {
    guard attributes[kSecAttrKeyType] as? String == kSecAttrKeyTypeECSECPrimeRandom,
        attributes[kSecAttrKeyClass] as? String == kSecAttrKeyClassPublic,
        let key = try? P256.KeyAgreement.PublicKey(x963Representation: keyData)
    else { return unsafe fail(errSecParam, error) }
    return SecKey(.open(key))
}

/// Returns the x-coordinate of the ECDH result, 32 bytes.
@available(iOS 10, macOS 10.12, watchOS 3, tvOS 10, visionOS 1, *)
public func SecKeyCopyKeyExchangeResult(
    _ privateKey: SecKey, _ algorithm: SecKeyAlgorithm, _ publicKey: SecKey, _ parameters: CFDictionary,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    guard algorithm == .ecdhKeyExchangeStandard, case .enclave(let own) = privateKey.half,
        case .open(let peer) = publicKey.half, let secret = try? own.sharedSecretFromKeyAgreement(with: peer)
    else { return unsafe fail(errSecParam, error) }
    return unsafe secret.withUnsafeBytes { bytes in unsafe Data(bytes) }
}
