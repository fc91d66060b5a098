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
    ///   - recipient: pkR, of this KEM's group and this backend.
    ///   - info: application context, the same on both sides.
    ///   - psk: for the modes psk and auth_psk.
    ///   - senderKey: skS, for the modes auth and auth_psk.
    /// - Throws: `HPKEError` with `validation` when a key doesn't fit, `exportOnly`.
    public func seal(
        _ plaintext: Span<UInt8>, to recipient: any DHPublicKey, info: Span<UInt8>, aad: Span<UInt8> = .init(),
        psk: PSK? = nil, senderKey: (any DHPrivateKey)? = nil, appendingTo output: inout [UInt8]
    ) throws {
        let ephemeral = try backend.generateKeyPair(kem.group)
        try seal(
            plaintext, to: recipient, info: info, aad: aad, psk: psk, senderKey: senderKey, ephemeral: ephemeral,
            appendingTo: &output)
    }

    func seal(
        _ plaintext: Span<UInt8>, to recipient: any DHPublicKey, info: Span<UInt8>, aad: Span<UInt8>,
        psk: PSK?, senderKey: (any DHPrivateKey)?, ephemeral: any DHPrivateKey, appendingTo output: inout [UInt8]
    ) throws {
        guard let algorithm = aead.algorithm else { throw HPKEError(.exportOnly) }
        let (sharedSecret, enc) = try encap(to: recipient, senderKey: senderKey, ephemeral: ephemeral)
        let mode = Mode(hasPSK: psk != nil, hasSenderKey: senderKey != nil)
        let schedule = KeySchedule(self, mode, sharedSecret: sharedSecret, info: info, psk: psk)
        let key = try schedule.key(algorithm)
        let nonce = try schedule.baseNonce()
        output += enc
        do {
            try backend.seal(
                algorithm, key: key.bytes, nonce: nonce.bytes, aad: aad, plaintext: plaintext, appendingTo: &output)
        } catch {
            output.removeLast(enc.count)
            throw error
        }
    }

    /// Opens `sealed`, which is `enc || ct`.
    ///
    /// - Parameters:
    ///   - key: skR.
    ///   - senderKey: pkS, for the modes auth and auth_psk.
    /// - Throws: `HPKEError` with `open` or, when `enc` or a key doesn't fit, `validation`. A receiver shows its
    ///   peers one and the same failure for both.
    public func open(
        _ sealed: Span<UInt8>, with key: any DHPrivateKey, info: Span<UInt8>, aad: Span<UInt8> = .init(),
        psk: PSK? = nil, senderKey: (any DHPublicKey)? = nil
    ) throws -> [UInt8] {
        guard let algorithm = aead.algorithm else { throw HPKEError(.exportOnly) }
        guard sealed.count >= kem.encByteCount + AEADAlgorithm.tagByteCount else { throw HPKEError(.open) }
        let sharedSecret = try decap(sealed.extracting(first: kem.encByteCount), with: key, senderKey: senderKey)
        let mode = Mode(hasPSK: psk != nil, hasSenderKey: senderKey != nil)
        let schedule = KeySchedule(self, mode, sharedSecret: sharedSecret, info: info, psk: psk)
        let aeadKey = try schedule.key(algorithm)
        let nonce = try schedule.baseNonce()
        return try backend.openAsHPKE(
            algorithm, key: aeadKey.bytes, nonce: nonce.bytes, aad: aad,
            ciphertext: sealed.extracting(droppingFirst: kem.encByteCount))
    }
}
