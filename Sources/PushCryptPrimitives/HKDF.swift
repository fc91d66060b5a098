/// HKDF with SHA-256 (RFC 5869) over a backend's HMAC.
public enum HKDF {
    /// HashLen in bytes.
    public static let hashByteCount = 32
    /// The longest output of Expand.
    public static let maximumOutputByteCount = 255 * hashByteCount

    /// RFC 5869 section 2.2: `PRK = HMAC-Hash(salt, IKM)`
    ///
    /// - Parameters:
    ///   - prk: 32 bytes.
    ///   - ikm: adds IKM to the message of its HMAC.
    public static func extract(
        salt: Span<UInt8>, into prk: inout MutableSpan<UInt8>, backend: any CryptoBackend, ikm: (any HMACSHA256) -> Void
    ) {
        backend.withHMACSHA256(key: salt) { hmac in
            ikm(hmac)
            hmac.finalize(into: &prk)
        }
    }

    /// Extract() with IKM in one piece.
    public static func extract(salt: Span<UInt8>, ikm: Span<UInt8>, backend: any CryptoBackend) -> SecretBytes {
        SecretBytes(count: hashByteCount) { prk in
            extract(salt: salt, into: &prk, backend: backend) { hmac in hmac.update(ikm) }
        }
    }

    /// RFC 5869 section 2.3. The key of `hmac` is PRK.
    ///
    /// ```
    /// T(0) = empty string
    /// T(i) = HMAC-Hash(PRK, T(i-1) | info | i)      i = 1 ... ceil(L / HashLen)
    /// OKM  = first L octets of T(1) | T(2) | ...
    /// ```
    /// - Parameters:
    ///   - okm: L bytes, at most 8,160.
    ///   - info: adds info to the message of its HMAC; called for every T(i).
    /// - Throws: `CryptoError` with `invalidLength` for a longer output.
    public static func expand(
        _ hmac: any HMACSHA256, into okm: inout MutableSpan<UInt8>, info: (any HMACSHA256) -> Void
    ) throws(CryptoError) {
        try checkLength(okm.count)
        withTemporarySecret(count: hashByteCount) { block in
            var counter: UInt8 = 0
            for start in stride(from: 0, to: okm.count, by: hashByteCount) {
                if counter > 0 { hmac.update(block.span) }
                counter &+= 1
                info(hmac)
                hmac.update(counter)
                hmac.finalize(into: &block)
                okm.write(block.span.extracting(first: min(hashByteCount, okm.count - start)), at: start)
            }
        }
    }

    /// Expand() into `SecretBytes`.
    ///
    /// - Parameter count: L, at most 8,160 bytes.
    public static func expand(_ hmac: any HMACSHA256, info: Span<UInt8>, count: Int) throws -> SecretBytes {
        try checkLength(count)
        return try SecretBytes(count: count) { okm in try expand(hmac, into: &okm) { hmac in hmac.update(info) } }
    }

    private static func checkLength(_ count: Int) throws(CryptoError) {
        guard (0...maximumOutputByteCount).contains(count) else {
            throw CryptoError(.invalidLength, "HKDF-Expand returns at most \(maximumOutputByteCount) bytes")
        }
    }
}
