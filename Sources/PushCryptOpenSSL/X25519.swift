import CPushCryptOpenSSL
import PushCryptPrimitives

/// `@unchecked Sendable`: OpenSSL counts references atomically, and nothing changes the EVP_PKEY.
final class X25519PublicKey: EncapsulationKey, @unchecked Sendable {
    let serialized: [UInt8]
    fileprivate let key: X25519KeyObject

    var type: KeyPairType { .x25519 }

    /// RFC 7748 section 5: every 32-byte string is a public key. The shared secret reveals the degenerate ones.
    init(_ serialized: Span<UInt8>) throws {
        key = try ThreadContext.current.pointee.x25519().publicKey(serialized)
        self.serialized = Array(serialized)
    }
}

/// `@unchecked Sendable`: as for the public key.
final class X25519PrivateKey: DecapsulationKey, @unchecked Sendable {
    private let key: X25519KeyObject
    private let agreements = X25519Agreements()
    private let scalar: SecretBytes
    let point: X25519PublicKey

    var publicKey: any EncapsulationKey { point }

    static func generate() throws -> X25519PrivateKey {
        try X25519PrivateKey(OpenSSLBackend().randomSecret(count: KeyPairType.privateKeyByteCount))
    }

    convenience init(_ serialized: Span<UInt8>) throws { try self.init(SecretBytes(copying: serialized)) }

    /// RFC 7748 section 6.1: the public key is X25519(scalar, 9).
    private init(_ scalar: SecretBytes) throws {
        let importer = try ThreadContext.current.pointee.x25519()
        let key = try importer.privateKey(scalar.bytes)
        point = try withTemporarySecret(count: KeyPairType.x25519.publicKeyByteCount) { derived in
            try X25519Agreement(key).agree(with: importer.basePoint, into: &derived)
            return try X25519PublicKey(derived.span)
        }
        self.key = key
        self.scalar = scalar
    }

    var serialized: SecretBytes { scalar }

    func sharedSecret(with peer: any EncapsulationKey) throws -> SecretBytes {
        let peer = try Self.ownKey(peer)
        return try SecretBytes(count: KeyPairType.sharedSecretByteCount) { secret in
            try agreements.agree(key, with: peer.key, into: &secret)
        }
    }

    /// Agrees with a serialised key.
    func agree(withSerialized peer: Span<UInt8>, into secret: inout MutableSpan<UInt8>) throws {
        let peer = try ThreadContext.current.pointee.x25519().publicKey(peer)
        try agreements.agree(key, with: peer, into: &secret)
    }

    /// Agrees with a new scalar, which is used only once.
    static func agreeOnce(
        with recipient: any EncapsulationKey, into secret: inout MutableSpan<UInt8>,
        appendingPublicKeyTo output: inout [UInt8]
    ) throws {
        let recipient = try ownKey(recipient)
        let importer = try ThreadContext.current.pointee.x25519()
        try withTemporarySecrets(KeyPairType.privateKeyByteCount, KeyPairType.x25519.publicKeyByteCount) {
            scalar, publicKey in
            try scalar.fillWithPrivateRandom()
            let agreement = try X25519Agreement(importer.privateKey(scalar.span))
            try agreement.agree(with: importer.basePoint, into: &publicKey)
            try agreement.agree(with: recipient.key, into: &secret)
            output.append(contentsOf: publicKey.span)
        }
    }

    private static func ownKey(_ key: any EncapsulationKey) throws -> X25519PublicKey {
        guard let key = key as? X25519PublicKey else {
            throw CryptoError(.keyMismatch, "the other key is not an X25519 key of this backend")
        }
        return key
    }
}

/// An EVP_PKEY of X25519. Not a class, because each message makes one and a class would allocate.
struct X25519KeyObject: ~Copyable {
    let pointer: OpaquePointer

    fileprivate init(_ pointer: OpaquePointer) { self.pointer = pointer }
    deinit { EVP_PKEY_free(pointer) }
}

/// The agreements of one private key with any number of public keys, by one thread at a time.
struct X25519Agreement: ~Copyable {
    private let context: OpaquePointer

    fileprivate init(_ context: OpaquePointer) { self.context = context }

    fileprivate consuming func release() -> OpaquePointer {
        let context = context
        discard self
        return context
    }

    init(_ key: borrowing X25519KeyObject) throws {
        let made = try unwrap(EVP_PKEY_CTX_new_from_pkey(nil, key.pointer, nil), "EVP_PKEY_CTX_new_from_pkey")
        do {
            try check(EVP_PKEY_derive_init(made), "EVP_PKEY_derive_init")
        } catch {
            EVP_PKEY_CTX_free(made)
            throw error
        }
        context = made
    }

    deinit { EVP_PKEY_CTX_free(context) }

    /// X25519 (RFC 7748 section 5), 32 bytes. OpenSSL refuses an all-zero result. The check is repeated here because RFC
    /// 9180 section 7.1.4 requires it of HPKE.
    func agree(with peer: borrowing X25519KeyObject, into secret: inout MutableSpan<UInt8>) throws {
        try check(EVP_PKEY_derive_set_peer_ex(context, peer.pointer, 0), "EVP_PKEY_derive_set_peer_ex")
        try secret.withUnsafeMutableBufferPointer { buffer in
            var count = buffer.count
            try check("X25519", orThrow: .degenerateSharedSecret) {
                EVP_PKEY_derive(context, buffer.baseAddress, &count)
            }
        }
        if constantTimeIsZero(secret.span) { throw CryptoError(.degenerateSharedSecret, "X25519") }
    }
}

/// The agreements of a long-lived private key: one for each thread that uses it at the same time.
final class X25519Agreements: Sendable {
    private let idle = Locked<[UInt]>([])

    deinit {
        for context in idle.withLock({ $0 }) { _ = X25519Agreement(OpaquePointer(bitPattern: context)!) }
    }

    func agree(
        _ key: borrowing X25519KeyObject, with peer: borrowing X25519KeyObject, into secret: inout MutableSpan<UInt8>
    ) throws {
        let known = idle.withLock { contexts in contexts.popLast() }
        let agreement = try known.flatMap(OpaquePointer.init).map(X25519Agreement.init) ?? X25519Agreement(key)
        try agreement.agree(with: peer, into: &secret)
        let context = UInt(bitPattern: agreement.release())
        idle.withLock { contexts in contexts.append(context) }
    }
}

/// Makes X25519 key objects from bytes with one reused context. It costs half of EVP_PKEY_new_raw_public_key, and derives
/// no public key as EVP_PKEY_new_raw_private_key does.
final class X25519Importer {
    private let context: OpaquePointer
    /// A public key object with u = 9.
    let basePoint: X25519KeyObject
    /// u = 9, RFC 7748 section 4.1.
    private static let nine: [UInt8] = [9] + [UInt8](repeating: 0, count: 31)

    init() throws {
        let made = EVP_PKEY_CTX_new_from_name(nil, "X25519", nil)
        context = try unwrap(made, "EVP_PKEY_CTX_new_from_name X25519")
        do {
            try check(EVP_PKEY_fromdata_init(context), "EVP_PKEY_fromdata_init")
            basePoint = try Self.importKey(context, Self.nine.bytes, nil)
        } catch {
            EVP_PKEY_CTX_free(context)
            throw error
        }
    }

    deinit { EVP_PKEY_CTX_free(context) }

    func publicKey(_ bytes: Span<UInt8>) throws -> X25519KeyObject {
        guard bytes.count == KeyPairType.x25519.publicKeyByteCount else {
            throw CryptoError(.invalidPublicKey, "an X25519 public key has 32 bytes")
        }
        return try Self.importKey(context, bytes, nil)
    }

    /// Makes a key object that derives with `scalar`, 32 bytes.
    ///
    /// OpenSSL's key generation and raw import derive the public key by the slower Edwards arithmetic. This object has u = 9
    /// as its public key, which a derivation doesn't read. The real public key is derived as the shared secret with u = 9.
    /// The object never leaves this target.
    func privateKey(_ scalar: Span<UInt8>) throws -> X25519KeyObject {
        precondition(scalar.count == KeyPairType.privateKeyByteCount)
        return try scalar.withUnsafeBufferPointer { bytes in
            try Self.importKey(context, Self.nine.bytes, bytes.baseAddress)
        }
    }

    private static func importKey(
        _ context: OpaquePointer, _ publicKey: Span<UInt8>, _ scalar: UnsafePointer<UInt8>?
    ) throws -> X25519KeyObject {
        var key: OpaquePointer?
        let result = publicKey.withUnsafeBufferPointer { bytes in
            pushcrypt_x25519_fromdata(context, &key, bytes.baseAddress, scalar)
        }
        try check(result, "EVP_PKEY_fromdata X25519")
        return X25519KeyObject(try unwrap(key, "EVP_PKEY_fromdata X25519"))
    }
}
