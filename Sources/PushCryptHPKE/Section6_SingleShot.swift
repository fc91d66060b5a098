public import PushCryptPrimitives

/// RFC 9180 section 6, "Single-Shot APIs", with `enc || ct` as one string.
///
/// ```
/// def Seal<MODE>(pkR, info, aad, pt, ...):          def Open<MODE>(enc, skR, info, aad, ct, ...):
///   enc, ctx = Setup<MODE>S(pkR, info, ...)           ctx = Setup<MODE>R(enc, skR, info, ...)
///   ct = ctx.Seal(aad, pt)                            return ctx.Open(aad, ct)
///   return enc, ct
/// ```
/// The nonce of the only message is `base_nonce xor 0`, and no exporter secret is derived.
extension HPKE {
    /// Seals one message and appends `enc || ct` to `output`: Nenc + `plaintext.count` + 16 bytes.
    ///
    /// - Parameters:
    ///   - recipient: pkR, of this KEM and this backend.
    ///   - info: application context, the same on both sides.
    ///   - psk: for the modes psk and auth_psk.
    ///   - senderKey: skS, for the modes auth and auth_psk.
    /// - Throws: `HPKEError` with `validation` for a key of another KEM or backend, `exportOnly`.
    public func seal(
        _ plaintext: Span<UInt8>, to recipient: any EncapsulationKey, info: Span<UInt8>, aad: Span<UInt8> = .init(),
        psk: PSK? = nil, senderKey: (any DecapsulationKey)? = nil, appendingTo output: inout [UInt8]
    ) throws {
        try seal(
            plaintext, to: recipient, info: info, aad: aad, psk: psk, senderKey: senderKey, ephemeral: nil,
            appendingTo: &output)
    }

    func seal(
        _ plaintext: Span<UInt8>, to recipient: any EncapsulationKey, info: Span<UInt8>, aad: Span<UInt8>,
        psk: PSK?, senderKey: (any DecapsulationKey)?, ephemeral: (any DecapsulationKey)?,
        appendingTo output: inout [UInt8]
    ) throws {
        guard let algorithm = aead.algorithm else { throw HPKEError(.exportOnly) }
        let start = output.count
        do {
            try withTemporarySecret(count: Self.sharedSecretByteCount) { sharedSecret in
                try encap(
                    to: recipient, senderKey: senderKey, ephemeral: ephemeral, into: &sharedSecret,
                    appendingEncTo: &output)
                let mode = Mode(hasPSK: psk != nil, hasSenderKey: senderKey != nil)
                try withKeyAndNonce(
                    algorithm, mode, sharedSecret: sharedSecret.span, info: info, psk: psk
                ) { key, nonce in
                    try backend.seal(
                        algorithm, key: key, nonce: nonce, aad: aad, plaintext: plaintext, appendingTo: &output)
                }
            }
        } catch {
            output.removeLast(output.count - start)
            throw error
        }
    }

    /// Opens `sealed`, which is `enc || ct`.
    ///
    /// - Parameters:
    ///   - key: skR.
    ///   - senderKey: pkS, for the modes auth and auth_psk.
    /// - Throws: `HPKEError` with `open`, or `validation` for a wrong `enc` or key. A receiver must report the same failure
    ///   to its peers for both.
    public func open(
        _ sealed: Span<UInt8>, with key: any DecapsulationKey, info: Span<UInt8>, aad: Span<UInt8> = .init(),
        psk: PSK? = nil, senderKey: (any EncapsulationKey)? = nil
    ) throws -> [UInt8] {
        guard let algorithm = aead.algorithm else { throw HPKEError(.exportOnly) }
        guard sealed.count >= kem.encByteCount + AEADAlgorithm.tagByteCount else { throw HPKEError(.open) }
        return try withTemporarySecret(count: Self.sharedSecretByteCount) { sharedSecret in
            try decap(sealed.extracting(first: kem.encByteCount), with: key, senderKey: senderKey, into: &sharedSecret)
            let mode = Mode(hasPSK: psk != nil, hasSenderKey: senderKey != nil)
            return try withKeyAndNonce(
                algorithm, mode, sharedSecret: sharedSecret.span, info: info, psk: psk
            ) { key, nonce in
                try backend.openAsHPKE(
                    algorithm, key: key, nonce: nonce, aad: aad,
                    ciphertext: sealed.extracting(droppingFirst: kem.encByteCount))
            }
        }
    }

    private func withKeyAndNonce<Result>(
        _ algorithm: AEADAlgorithm, _ mode: Mode, sharedSecret: Span<UInt8>, info: Span<UInt8>, psk: PSK?,
        _ body: (Span<UInt8>, Span<UInt8>) throws -> Result
    ) throws -> Result {
        try withTemporarySecrets(algorithm.keyByteCount, AEADAlgorithm.nonceByteCount) { key, nonce in
            try withKeySchedule(mode, sharedSecret: sharedSecret, info: info, psk: psk) { schedule in
                try schedule.key(into: &key)
                try schedule.baseNonce(into: &nonce)
            }
            return try body(key.span, nonce.span)
        }
    }
}
