import PushCryptPrimitives

/// RFC 9180 section 4.1, "DH-Based KEM (DHKEM)".
///
/// ```
/// def ExtractAndExpand(dh, kem_context):
///   eae_prk = LabeledExtract("", "eae_prk", dh)
///   shared_secret = LabeledExpand(eae_prk, "shared_secret", kem_context, Nsecret)
///   return shared_secret
///
/// def Encap(pkR):                                 def AuthEncap(pkR, skS):
///   skE, pkE = GenerateKeyPair()                    skE, pkE = GenerateKeyPair()
///   dh = DH(skE, pkR)                               dh = concat(DH(skE, pkR), DH(skS, pkR))
///   enc = SerializePublicKey(pkE)                   enc = SerializePublicKey(pkE)
///   pkRm = SerializePublicKey(pkR)                  pkRm = SerializePublicKey(pkR)
///                                                   pkSm = SerializePublicKey(pk(skS))
///   kem_context = concat(enc, pkRm)                 kem_context = concat(enc, pkRm, pkSm)
///   shared_secret = ExtractAndExpand(dh, kem_context)
///   return shared_secret, enc
///
/// def Decap(enc, skR):                            def AuthDecap(enc, skR, pkS):
///   pkE = DeserializePublicKey(enc)                 pkE = DeserializePublicKey(enc)
///   dh = DH(skR, pkE)                               dh = concat(DH(skR, pkE), DH(skR, pkS))
///   pkRm = SerializePublicKey(pk(skR))              pkRm = SerializePublicKey(pk(skR))
///                                                   pkSm = SerializePublicKey(pkS)
///   kem_context = concat(enc, pkRm)                 kem_context = concat(enc, pkRm, pkSm)
///   return ExtractAndExpand(dh, kem_context)
/// ```
extension HPKE {
    /// Ndh of both groups.
    private static let dhByteCount = KeyPairType.sharedSecretByteCount

    /// Encap() or, with a sender key, AuthEncap().
    func dhkemEncap(
        to recipient: any EncapsulationKey, senderKey: (any DecapsulationKey)?, ephemeral: (any DecapsulationKey)?,
        into sharedSecret: inout MutableSpan<UInt8>, appendingEncTo output: inout [UInt8]
    ) throws {
        let start = output.count
        try withTemporarySecrets(Self.dhByteCount, senderKey == nil ? 0 : Self.dhByteCount) { dh, senderDH in
            if let ephemeral {
                let agreed = try ephemeral.sharedSecret(with: recipient)
                dh.write(agreed.bytes)
                output += ephemeral.publicKey.serialized
            } else {
                try backend.agreeOnce(kem.keyPairType, with: recipient, into: &dh, appendingPublicKeyTo: &output)
            }
            if let senderKey {
                let agreed = try senderKey.sharedSecret(with: recipient)
                senderDH.write(agreed.bytes)
            }
            try extractAndExpand(dh.span, senderDH.span, into: &sharedSecret) { hmac in
                hmac.update(output.bytes.extracting(droppingFirst: start))
                hmac.update(recipient.serialized.bytes)
                if let senderKey { hmac.update(senderKey.publicKey.serialized.bytes) }
            }
        }
    }

    /// Decap() or, with the sender's public key, AuthDecap().
    func dhkemDecap(
        _ enc: Span<UInt8>, with recipientKey: any DecapsulationKey, senderKey: (any EncapsulationKey)?,
        into sharedSecret: inout MutableSpan<UInt8>
    ) throws {
        try withTemporarySecrets(Self.dhByteCount, senderKey == nil ? 0 : Self.dhByteCount) { dh, senderDH in
            try backend.agree(recipientKey, withSerialized: enc, into: &dh)
            if let senderKey {
                let agreed = try recipientKey.sharedSecret(with: senderKey)
                senderDH.write(agreed.bytes)
            }
            try extractAndExpand(dh.span, senderDH.span, into: &sharedSecret) { hmac in
                hmac.update(enc)
                hmac.update(recipientKey.publicKey.serialized.bytes)
                if let senderKey { hmac.update(senderKey.serialized.bytes) }
            }
        }
    }

    /// - Parameters:
    ///   - dh: DH with the ephemeral key.
    ///   - senderDH: DH with the sender key; empty in the modes without one.
    ///   - kemContext: adds kem_context to the message of its HMAC.
    private func extractAndExpand(
        _ dh: Span<UInt8>, _ senderDH: Span<UInt8>, into sharedSecret: inout MutableSpan<UInt8>,
        kemContext: (any HMACSHA256) -> Void
    ) throws {
        try withTemporarySecret(count: HKDF.hashByteCount) { eaePRK in
            kemLabels.extract(salt: .init(), "eae_prk", into: &eaePRK) { hmac in
                hmac.update(dh)
                hmac.update(senderDH)
            }
            try kemLabels.withKey(eaePRK.span) { hmac in
                try kemLabels.expand(hmac, "shared_secret", into: &sharedSecret, info: kemContext)
            }
        }
    }
}
