public import PushCryptPrimitives

/// RFC 9180 section 7.1.3, "DeriveKeyPair".
///
/// ```
/// P-256                                               X25519
/// def DeriveKeyPair(ikm):                             def DeriveKeyPair(ikm):
///   dkp_prk = LabeledExtract("", "dkp_prk", ikm)        dkp_prk = LabeledExtract("", "dkp_prk", ikm)
///   sk = 0                                              sk = LabeledExpand(dkp_prk, "sk", "", Nsk)
///   counter = 0                                         return (sk, pk(sk))
///   while sk == 0 or sk >= order:
///     if counter > 255:
///       raise DeriveKeyPairError
///     bytes = LabeledExpand(dkp_prk, "candidate",
///                           I2OSP(counter, 1), Nsk)
///     bytes[0] = bytes[0] & bitmask                   bitmask = 0xFF for P-256
///     sk = OS2IP(bytes)
///     counter = counter + 1
///   return (sk, pk(sk))
/// ```
extension HPKE {
    /// Derives the key pair of `ikm`.
    ///
    /// - Parameter ikm: at least 32 bytes (Nsk) of high entropy, never used for anything else.
    /// - Throws: `HPKEError` with `invalidLength` for a shorter `ikm`, `unsupported` with X-Wing.
    public func deriveKeyPair(_ ikm: Span<UInt8>) throws -> any DecapsulationKey {
        guard ikm.count >= KeyPairType.privateKeyByteCount else { throw HPKEError(.invalidLength) }
        return try withTemporarySecrets(HKDF.hashByteCount, KeyPairType.privateKeyByteCount) { dkpPRK, sk in
            kemLabels.extract(salt: .init(), "dkp_prk", into: &dkpPRK) { hmac in hmac.update(ikm) }
            return try kemLabels.withKey(dkpPRK.span) { prk in
                switch kem {
                case .dhkemP256: return try firstValidKey(prk, candidate: &sk)
                case .dhkemX25519:
                    try kemLabels.expand(prk, "sk", into: &sk)
                    return try backend.privateKey(.x25519, sk.span)
                case .xWing: throw HPKEError(.unsupported)
                }
            }
        }
    }

    private func firstValidKey(
        _ dkpPRK: any HMACSHA256, candidate: inout MutableSpan<UInt8>
    ) throws -> any DecapsulationKey {
        for counter in UInt8.min...UInt8.max {
            try kemLabels.expand(dkpPRK, "candidate", into: &candidate) { hmac in hmac.update(counter) }
            do {
                return try backend.privateKey(.p256, candidate.span)
            } catch let error as CryptoError where error.code == .invalidPrivateKey {
                continue
            }
        }
        throw HPKEError(.deriveKeyPair)
    }
}
