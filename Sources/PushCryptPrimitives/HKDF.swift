/// HKDF with SHA-256 (RFC 5869) over a backend's HMAC.
public enum HKDF {
    /// HashLen in bytes.
    public static let hashByteCount = 32
    /// The longest output that Expand has.
    public static let maximumOutputByteCount = 255 * hashByteCount

    /// RFC 5869 section 2.2: `PRK = HMAC-Hash(salt, IKM)`
    public static func extract(salt: Span<UInt8>, ikm: Span<UInt8>, backend: any CryptoBackend) -> SecretBytes {
        let hmac = backend.hmacSHA256(key: salt)
        hmac.update(ikm)
        return SecretBytes(count: hashByteCount) { prk in hmac.finalize(into: &prk) }
    }

    /// RFC 5869 section 2.3, `prk` being the key that `hmac` was made with.
    ///
    /// ```
    /// T(0) = empty string
    /// T(i) = HMAC-Hash(PRK, T(i-1) | info | i)      i = 1 ... ceil(L / HashLen)
    /// OKM  = first L octets of T(1) | T(2) | ...
    /// ```
    /// - Parameters:
    ///   - infoPrefix: put before `info`; the two are one string to the function.
    ///   - count: L, at most 8,160 bytes.
    /// - Throws: `CryptoError` with `invalidLength` for a longer one.
    public static func expand(
        _ hmac: any HMACSHA256, infoPrefix: Span<UInt8> = .init(), info: Span<UInt8>, count: Int
    ) throws(CryptoError) -> SecretBytes {
        guard (0...maximumOutputByteCount).contains(count) else {
            throw CryptoError(.invalidLength, "HKDF-Expand gives at most \(maximumOutputByteCount) bytes")
        }
        return SecretBytes(count: count) { okm in
            var counter: UInt8 = 0
            for start in stride(from: 0, to: count, by: hashByteCount) {
                counter &+= 1
                if start > 0 {
                    hmac.update(okm.span.extracting(start - hashByteCount..<start))
                }
                hmac.update(infoPrefix)
                hmac.update(info)
                hmac.update([counter].bytes)
                let block = SecretBytes(count: hashByteCount) { code in hmac.finalize(into: &code) }
                for index in start..<min(start + hashByteCount, count) {
                    okm[index] = block.bytes[index - start]
                }
            }
        }
    }
}
