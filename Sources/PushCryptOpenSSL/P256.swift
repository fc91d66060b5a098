import CPushCryptOpenSSL
import PushCryptPrimitives

// P-256 by EC_POINT_mul, which the EVP layer calls too. Without that layer, a key is checked once, at import, and not in
// every derivation. EC_POINT_mul with a single scalar runs in constant time: it uses the fixed-window nistz256 assembly
// or, on other processors, the Montgomery ladder.

/// `@unchecked Sendable`: only the initialisers write the point.
final class P256PublicKey: EncapsulationKey, @unchecked Sendable {
    let serialized: [UInt8]
    fileprivate let point: CurvePoint

    var type: KeyPairType { .p256 }

    init(_ serialized: Span<UInt8>) throws {
        let scratch = try ThreadContext.current.pointee.p256()
        let point = try CurvePoint(scratch.group)
        try point.read(serialized, scratch)
        self.point = point
        self.serialized = Array(serialized)
    }

    /// The public key of `scalar`.
    fileprivate init(of scalar: SecretNumber) throws {
        let scratch = try ThreadContext.current.pointee.p256()
        let point = try CurvePoint(scratch.group)
        try point.setToProduct(scalar, scratch)
        var serialized = [UInt8]()
        try point.append(to: &serialized, scratch)
        self.point = point
        self.serialized = serialized
    }
}

/// `@unchecked Sendable`: only the initialisers write the scalar.
final class P256PrivateKey: DecapsulationKey, @unchecked Sendable {
    private let scalar: SecretNumber
    private let point: P256PublicKey

    var publicKey: any EncapsulationKey { point }

    private init(scalar: SecretNumber) throws {
        self.scalar = scalar
        point = try P256PublicKey(of: scalar)
    }

    static func generate() throws -> P256PrivateKey {
        let scalar = try SecretNumber()
        try scalar.setToRandomScalar(of: ThreadContext.current.pointee.p256().group)
        return try P256PrivateKey(scalar: scalar)
    }

    /// 32 bytes, big-endian, in 1..<n.
    convenience init(_ serialized: Span<UInt8>) throws {
        let scalar = try SecretNumber()
        let read = serialized.withUnsafeBufferPointer { bytes in
            BN_bin2bn(bytes.baseAddress, Int32(bytes.count), scalar.pointer)
        }
        _ = try unwrap(read, "BN_bin2bn")
        let order = EC_GROUP_get0_order(try ThreadContext.current.pointee.p256().group)
        guard BN_is_zero(scalar.pointer) == 0, BN_cmp(scalar.pointer, order) < 0 else {
            throw CryptoError(.invalidPrivateKey, "a P-256 private key is in 1..<n")
        }
        try self.init(scalar: scalar)
    }

    var serialized: SecretBytes {
        get throws { try SecretBytes(count: KeyPairType.privateKeyByteCount) { bytes in try scalar.write(to: &bytes) } }
    }

    func sharedSecret(with peer: any EncapsulationKey) throws -> SecretBytes {
        let point = try Self.point(of: peer)
        let scratch = try ThreadContext.current.pointee.p256()
        defer { scratch.wipe() }
        return try SecretBytes(count: KeyPairType.sharedSecretByteCount) { secret in
            try scratch.agree(scalar, point, into: &secret)
        }
    }

    /// Agrees with a serialised key, which is read into the scratch point.
    func agree(withSerialized peer: Span<UInt8>, into secret: inout MutableSpan<UInt8>) throws {
        let scratch = try ThreadContext.current.pointee.p256()
        defer { scratch.wipe() }
        try scratch.point.read(peer, scratch)
        try scratch.agree(scalar, scratch.point, into: &secret)
    }

    /// Agrees with a new scalar, which is used only once.
    static func agreeOnce(
        with recipient: any EncapsulationKey, into secret: inout MutableSpan<UInt8>,
        appendingPublicKeyTo output: inout [UInt8]
    ) throws {
        let point = try point(of: recipient)
        let scratch = try ThreadContext.current.pointee.p256()
        defer { scratch.wipe() }
        try scratch.scalar.setToRandomScalar(of: scratch.group)
        try scratch.agree(scratch.scalar, point, into: &secret)
        try scratch.point.setToProduct(scratch.scalar, scratch)
        try scratch.point.append(to: &output, scratch)
    }

    private static func point(of key: any EncapsulationKey) throws -> CurvePoint {
        guard let key = key as? P256PublicKey else {
            throw CryptoError(.keyMismatch, "the other key is not a P-256 key of this backend")
        }
        return key.point
    }
}

/// The numbers and points of one thread, for one operation at a time. The operation wipes them, because they are secret.
final class P256Scratch {
    let group: OpaquePointer
    let context: OpaquePointer
    let scalar: SecretNumber
    let point: CurvePoint
    private let product: CurvePoint
    private let x: SecretNumber

    init() throws {
        group = try Algorithms.shared.p256()
        scalar = try SecretNumber()
        point = try CurvePoint(group)
        product = try CurvePoint(group)
        x = try SecretNumber()
        context = try unwrap(BN_CTX_new(), "BN_CTX_new")
    }

    deinit { BN_CTX_free(context) }

    /// ECDH (SEC 1 section 3.3.1): the x-coordinate of scalar * point, 32 bytes.
    func agree(_ scalar: SecretNumber, _ point: CurvePoint, into secret: inout MutableSpan<UInt8>) throws {
        try check(EC_POINT_mul(group, product.pointer, nil, point.pointer, scalar.pointer, context), "EC_POINT_mul")
        try check("the shared point is infinity", orThrow: .degenerateSharedSecret) {
            EC_POINT_get_affine_coordinates(group, product.pointer, x.pointer, nil, context)
        }
        try x.write(to: &secret)
    }

    /// OpenSSL can't clear a point without freeing it, so the generator is copied over it. If the copy lacks memory, the thread
    /// gets a new scratch, and this one is freed.
    func wipe() {
        BN_clear(scalar.pointer)
        BN_clear(x.pointer)
        let generator = EC_GROUP_get0_generator(group)
        guard EC_POINT_copy(point.pointer, generator) == 1, EC_POINT_copy(product.pointer, generator) == 1 else {
            _ = pushcrypt_clear_errors()
            ThreadContext.current.pointee.forgetP256()
            return
        }
    }
}

/// A secret number: used in constant time, wiped when it is freed.
final class SecretNumber {
    let pointer: OpaquePointer

    init() throws {
        pointer = try unwrap(BN_new(), "BN_new")
        BN_set_flags(pointer, BN_FLG_CONSTTIME)
    }

    deinit { BN_clear_free(pointer) }

    /// Sets a uniformly random number in 1..<n, where n is the order of `group`.
    func setToRandomScalar(of group: OpaquePointer) throws {
        let order = EC_GROUP_get0_order(group)
        repeat {
            try checkRandom(BN_priv_rand_range(pointer, order), "BN_priv_rand_range")
        } while BN_is_zero(pointer) == 1
    }

    /// Writes the number big-endian, padded with zeros on the left.
    func write(to bytes: inout MutableSpan<UInt8>) throws {
        try bytes.withUnsafeMutableBufferPointer { buffer in
            let written = BN_bn2binpad(pointer, buffer.baseAddress, Int32(buffer.count))
            try check(written == Int32(buffer.count) ? 1 : 0, "BN_bn2binpad")
        }
    }
}

/// A point of P-256. It is wiped when it is freed, because a shared secret is a point.
final class CurvePoint {
    let pointer: OpaquePointer

    init(_ group: OpaquePointer) throws { pointer = try unwrap(EC_POINT_new(group), "EC_POINT_new") }
    deinit { EC_POINT_clear_free(pointer) }

    /// SEC 1 section 2.3.4, uncompressed only: 0x04, x, y, 65 bytes.
    ///
    /// EC_POINT_oct2point refuses coordinates that are not below p and points off the curve. This form can't encode
    /// infinity, and the cofactor is 1, so every point that passes is a valid public key.
    func read(_ serialized: Span<UInt8>, _ scratch: P256Scratch) throws {
        guard serialized.count == KeyPairType.p256.publicKeyByteCount, serialized[0] == 4 else {
            throw CryptoError(.invalidPublicKey, "a P-256 public key is 65 bytes, uncompressed")
        }
        try check("the point is not on P-256", orThrow: .invalidPublicKey) {
            serialized.withUnsafeBufferPointer { bytes in
                EC_POINT_oct2point(scratch.group, pointer, bytes.baseAddress, bytes.count, scratch.context)
            }
        }
    }

    /// Sets scalar * generator.
    func setToProduct(_ scalar: SecretNumber, _ scratch: P256Scratch) throws {
        try check(EC_POINT_mul(scratch.group, pointer, scalar.pointer, nil, nil, scratch.context), "EC_POINT_mul")
    }

    /// Appends SEC 1 section 2.3.3, uncompressed: 65 bytes. `output` is unchanged if it throws.
    func append(to output: inout [UInt8], _ scratch: P256Scratch) throws {
        let count = KeyPairType.p256.publicKeyByteCount
        try withUnsafeTemporaryAllocation(of: UInt8.self, capacity: count) { bytes in
            let written = EC_POINT_point2oct(
                scratch.group, pointer, POINT_CONVERSION_UNCOMPRESSED, bytes.baseAddress, count, scratch.context)
            try check(written == count ? 1 : 0, "EC_POINT_point2oct")
            output.append(contentsOf: bytes)
        }
    }
}

extension OpenSSLBackend {
    /// Decompresses a P-256 point (SEC 1 section 2.3.4): 0x02 or 0x03 and x, 33 bytes, become 65 bytes.
    ///
    /// - Throws: `CryptoError` with `invalidPublicKey` if no point of the curve has that x.
    public func uncompressedP256Point(_ compressed: Span<UInt8>) throws -> [UInt8] {
        let scratch = try ThreadContext.current.pointee.p256()
        let point = try CurvePoint(scratch.group)
        try check("the compressed point is not on P-256", orThrow: .invalidPublicKey) {
            compressed.withUnsafeBufferPointer { bytes in
                EC_POINT_oct2point(scratch.group, point.pointer, bytes.baseAddress, bytes.count, scratch.context)
            }
        }
        var uncompressed = [UInt8]()
        try point.append(to: &uncompressed, scratch)
        return uncompressed
    }
}
