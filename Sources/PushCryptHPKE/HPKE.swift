public import PushCryptPrimitives

/// Hybrid Public Key Encryption (RFC 9180) with one ciphersuite, over one backend.
///
/// The files of this target follow the RFC's sections; the RFC's pseudo-code stands above the code that does it.
/// A value is immutable, holds no key and is best made once.
///
/// The mode follows from what is passed: `psk` and `senderKey` both absent is base, `psk` alone is psk,
/// `senderKey` alone is auth, both are auth_psk.
public struct HPKE: Sendable {
    /// The key encapsulation mechanism.
    public let kem: KEM
    /// The AEAD that encrypts messages.
    public let aead: AEAD
    let backend: any CryptoBackend
    let labels: LabeledKDF
    let kemLabels: LabeledKDF
    /// LabeledExtract("", "psk_id_hash", "") of the modes without a PSK.
    let emptyPSKIDHash: SecretBytes

    /// The KDF is HKDF-SHA256 (0x0001), the one that both KEMs use.
    public init(kem: KEM, aead: AEAD, backend: any CryptoBackend) {
        self.kem = kem
        self.aead = aead
        self.backend = backend
        labels = LabeledKDF(suiteID: Self.suiteID(kem: kem, aead: aead), backend: backend)
        kemLabels = LabeledKDF(suiteID: kem.suiteID, backend: backend)
        let labels = self.labels
        emptyPSKIDHash = SecretBytes(count: HKDF.hashByteCount) { hash in
            labels.extract(salt: .init(), "psk_id_hash", into: &hash)
        }
    }
}
