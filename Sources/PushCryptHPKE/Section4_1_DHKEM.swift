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
    /// Nsecret of both KEMs.
    static let sharedSecretByteCount = 32

    /// Encap() or, with a sender key, AuthEncap().
    ///
    /// - Parameter ephemeral: skE; made fresh by every caller but the tests of published vectors.
    func encap(
        to recipient: any DHPublicKey, senderKey: (any DHPrivateKey)?, ephemeral: any DHPrivateKey
    ) throws -> (sharedSecret: SecretBytes, enc: [UInt8]) {
        try validated {
            let enc = ephemeral.publicKey.serialized
            var kemContext = enc + recipient.serialized
            var dh = try ephemeral.sharedSecret(with: recipient)
            if let senderKey {
                kemContext += senderKey.publicKey.serialized
                dh = concat(dh, try senderKey.sharedSecret(with: recipient))
            }
            return (try extractAndExpand(dh, kemContext), enc)
        }
    }

    /// Decap() or, with the sender's public key, AuthDecap().
    func decap(
        _ enc: Span<UInt8>, with recipientKey: any DHPrivateKey, senderKey: (any DHPublicKey)?
    ) throws -> SecretBytes {
        try validated {
            let ephemeral = try backend.publicKey(kem.group, enc)
            var kemContext = ephemeral.serialized + recipientKey.publicKey.serialized
            var dh = try recipientKey.sharedSecret(with: ephemeral)
            if let senderKey {
                kemContext += senderKey.serialized
                dh = concat(dh, try recipientKey.sharedSecret(with: senderKey))
            }
            return try extractAndExpand(dh, kemContext)
        }
    }

    private func extractAndExpand(_ dh: SecretBytes, _ kemContext: [UInt8]) throws -> SecretBytes {
        let eaePRK = kemLabels.extract(salt: .init(), "eae_prk", ikm: dh.bytes)
        return try kemLabels.expand(
            kemLabels.key(eaePRK), "shared_secret", info: kemContext.bytes, count: Self.sharedSecretByteCount)
    }

    private func concat(_ first: SecretBytes, _ second: SecretBytes) -> SecretBytes {
        SecretBytes(count: first.count + second.count) { bytes in
            for index in 0..<first.count { bytes[index] = first.bytes[index] }
            for index in 0..<second.count { bytes[first.count + index] = second.bytes[index] }
        }
    }

    /// Every key that can't be used is a ValidationError, whatever the backend calls it.
    private func validated<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as CryptoError where error.code != .backendFailure {
            throw HPKEError(.validation)
        }
    }
}
