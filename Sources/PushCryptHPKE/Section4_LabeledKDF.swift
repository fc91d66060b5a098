import PushCryptPrimitives

/// RFC 9180 section 4, "Cryptographic Dependencies": the KDF with labels.
///
/// ```
/// def LabeledExtract(salt, label, ikm):
///   labeled_ikm = concat("HPKE-v1", suite_id, label, ikm)
///   return Extract(salt, labeled_ikm)
///
/// def LabeledExpand(prk, label, info, L):
///   labeled_info = concat(I2OSP(L, 2), "HPKE-v1", suite_id, label, info)
///   return Expand(prk, labeled_info, L)
/// ```
struct LabeledKDF: Sendable {
    /// "HPKE-v1" || suite_id
    private let prefix: [UInt8]
    private let backend: any CryptoBackend

    init(suiteID: [UInt8], backend: any CryptoBackend) {
        prefix = Array("HPKE-v1".utf8) + suiteID
        self.backend = backend
    }

    /// - Parameters:
    ///   - prk: 32 bytes.
    ///   - ikm: adds ikm to the message of its HMAC.
    func extract(
        salt: Span<UInt8>, _ label: StaticString, into prk: inout MutableSpan<UInt8>,
        ikm: (any HMACSHA256) -> Void = { _ in }
    ) {
        HKDF.extract(salt: salt, into: &prk, backend: backend) { hmac in
            hmac.update(prefix.bytes)
            hmac.update(label)
            ikm(hmac)
        }
    }

    /// Calls `body` with the HMAC under `prk`, which serves several calls of `expand`.
    func withKey<Result>(_ prk: Span<UInt8>, _ body: (any HMACSHA256) throws -> Result) rethrows -> Result {
        try backend.withHMACSHA256(key: prk, body)
    }

    /// - Parameters:
    ///   - output: L bytes, at most 8,160.
    ///   - info: adds info to the message of its HMAC.
    func expand(
        _ prk: any HMACSHA256, _ label: StaticString, into output: inout MutableSpan<UInt8>,
        info: (any HMACSHA256) -> Void = { _ in }
    ) throws {
        let count = output.count
        guard count <= HKDF.maximumOutputByteCount else { throw HPKEError(.invalidLength) }
        try HKDF.expand(prk, into: &output) { hmac in
            hmac.update(UInt8(count >> 8))
            hmac.update(UInt8(count & 0xff))
            hmac.update(prefix.bytes)
            hmac.update(label)
            info(hmac)
        }
    }
}

/// I2OSP(n, 2): big-endian.
func i2osp(_ number: UInt16) -> [UInt8] { [UInt8(truncatingIfNeeded: number >> 8), UInt8(truncatingIfNeeded: number)] }
