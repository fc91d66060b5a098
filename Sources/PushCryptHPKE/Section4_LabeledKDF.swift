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

    func extract(salt: Span<UInt8>, _ label: StaticString, ikm: Span<UInt8>) -> SecretBytes {
        let hmac = backend.hmacSHA256(key: salt)
        let labeled = concat([], prefix, label)
        hmac.update(labeled.bytes)
        hmac.update(ikm)
        return SecretBytes(count: HKDF.hashByteCount) { prk in hmac.finalize(into: &prk) }
    }

    /// A pseudo-random key, ready for several calls of `expand`: its HMAC state is set up once.
    func key(_ prk: SecretBytes) -> any HMACSHA256 {
        backend.hmacSHA256(key: prk.bytes)
    }

    func expand(_ prk: any HMACSHA256, _ label: StaticString, info: Span<UInt8>, count: Int) throws -> SecretBytes {
        guard (0...HKDF.maximumOutputByteCount).contains(count) else { throw HPKEError(.invalidLength) }
        let labeled = concat(i2osp(UInt16(count)), prefix, label)
        return try HKDF.expand(prk, infoPrefix: labeled.bytes, info: info, count: count)
    }

    private func concat(_ length: [UInt8], _ prefix: [UInt8], _ label: StaticString) -> [UInt8] {
        var bytes = [UInt8]()
        bytes.reserveCapacity(length.count + prefix.count + label.utf8CodeUnitCount)
        bytes += length
        bytes += prefix
        bytes += label.description.utf8
        return bytes
    }
}

/// I2OSP(n, 2): big-endian.
func i2osp(_ number: UInt16) -> [UInt8] {
    [UInt8(truncatingIfNeeded: number >> 8), UInt8(truncatingIfNeeded: number)]
}
