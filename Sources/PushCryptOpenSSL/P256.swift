import CPushCryptOpenSSL
import PushCryptPrimitives

// P-256 by EC_POINT_mul, which is what the EVP layer ends in as well, without the layer: keys are checked once, at
// import, and not again in every derivation. EC_POINT_mul with a single scalar is OpenSSL's constant-time path: the
// fixed-window nistz256 code where there is assembly for the processor, the Montgomery ladder elsewhere.

/// `@unchecked Sendable`: the point is written in the initialisers and only read afterwards.
final class P256PublicKey: DHPublicKey, @unchecked Sendable {
    let serialized: [UInt8]
    fileprivate let point: CurvePoint

    var group: DHGroup { .p256 }

    /// SEC 1 section 2.3.4, uncompressed only: 0x04, x, y, 65 bytes.
    ///
    /// EC_POINT_oct2point refuses coordinates that are not below p and points off the curve; the length and the 0x04
    /// leave no way to write infinity, and the cofactor is 1, so every such point is a valid public key.
    init(_ serialized: Span<UInt8>) throws {
        guard serialized.count == DHGroup.p256.publicKeyByteCount, serialized[0] == 4 else {
            throw CryptoError(.invalidPublicKey, "a P-256 public key is 65 bytes, uncompressed")
        }
        let group = try Algorithms.shared.p256()
        let context = try ThreadContext.current.bigNumbers().pointer
        let point = try CurvePoint()
        let result = serialized.withUnsafeBufferPointer { bytes in
            EC_POINT_oct2point(group, point.pointer, bytes.baseAddress, bytes.count, context)
        }
        try check(result, "the point is not on P-256", .invalidPublicKey)
        self.point = point
        self.serialized = serialized.withUnsafeBufferPointer { Array($0) }
    }

    /// The public key of `scalar`.
    fileprivate init(of scalar: SecretNumber) throws {
        let group = try Algorithms.shared.p256()
        let context = try ThreadContext.current.bigNumbers().pointer
        let point = try CurvePoint()
        try check(EC_POINT_mul(group, point.pointer, scalar.pointer, nil, nil, context), "EC_POINT_mul")
        serialized = try [UInt8](unsafeUninitializedCapacity: DHGroup.p256.publicKeyByteCount) { buffer, count in
            count = EC_POINT_point2oct(
                group, point.pointer, POINT_CONVERSION_UNCOMPRESSED, buffer.baseAddress, buffer.count, context)
            try check(count == DHGroup.p256.publicKeyByteCount ? 1 : 0, "EC_POINT_point2oct")
        }
        self.point = point
    }
}

/// `@unchecked Sendable`: the scalar is written in the initialisers and only read afterwards.
final class P256PrivateKey: DHPrivateKey, @unchecked Sendable {
    private let scalar: SecretNumber
    private let point: P256PublicKey

    var publicKey: any DHPublicKey { point }

    private init(scalar: SecretNumber) throws {
        self.scalar = scalar
        point = try P256PublicKey(of: scalar)
    }

    static func generate() throws -> P256PrivateKey {
        let scalar = try SecretNumber()
        let order = EC_GROUP_get0_order(try Algorithms.shared.p256())
        repeat {
            try check(BN_priv_rand_range(scalar.pointer, order), "BN_priv_rand_range")
        } while BN_is_zero(scalar.pointer) == 1
        return try P256PrivateKey(scalar: scalar)
    }

    /// 32 bytes, big-endian, in 1..<n.
    convenience init(_ serialized: Span<UInt8>) throws {
        let scalar = try SecretNumber()
        serialized.withUnsafeBufferPointer { bytes in
            _ = BN_bin2bn(bytes.baseAddress, Int32(bytes.count), scalar.pointer)
        }
        let order = EC_GROUP_get0_order(try Algorithms.shared.p256())
        guard BN_is_zero(scalar.pointer) == 0, BN_cmp(scalar.pointer, order) < 0 else {
            throw CryptoError(.invalidPrivateKey, "a P-256 private key is in 1..<n")
        }
        try self.init(scalar: scalar)
    }

    var serialized: SecretBytes {
        get throws { try scalar.serialized(count: DHGroup.privateKeyByteCount) }
    }

    /// ECDH (SEC 1 section 3.3.1): the x-coordinate of scalar * point.
    func sharedSecret(with peer: any DHPublicKey) throws -> SecretBytes {
        guard let peer = peer as? P256PublicKey else {
            throw CryptoError(.keyMismatch, "the other key is not a P-256 key of this backend")
        }
        let group = try Algorithms.shared.p256()
        let context = try ThreadContext.current.bigNumbers().pointer
        let product = try CurvePoint()
        try check(
            EC_POINT_mul(group, product.pointer, nil, peer.point.pointer, scalar.pointer, context), "EC_POINT_mul")
        let x = try SecretNumber()
        try check(
            EC_POINT_get_affine_coordinates(group, product.pointer, x.pointer, nil, context),
            "the shared point is infinity", .degenerateSharedSecret)
        return try x.serialized(count: DHGroup.sharedSecretByteCount)
    }
}
