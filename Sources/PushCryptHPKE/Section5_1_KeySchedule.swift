public import PushCryptPrimitives

/// A pre-shared key and its name (RFC 9180 section 5.1.2).
public struct PSK: Sendable {
    let secret: SecretBytes
    let id: [UInt8]

    /// The least length of `psk` in bytes (section 9.5: at least 32 bytes of entropy).
    public static let minimumByteCount = 32

    /// - Parameters:
    ///   - psk: at least 32 bytes, with as much entropy.
    ///   - id: psk_id, not empty; not a secret.
    /// - Throws: `HPKEError` with `invalidPSK`.
    public init(_ psk: SecretBytes, id: [UInt8]) throws(HPKEError) {
        guard psk.count >= Self.minimumByteCount, !id.isEmpty else { throw HPKEError(.invalidPSK) }
        self.secret = psk
        self.id = id
    }
}

/// RFC 9180 section 5, table 1.
enum Mode: UInt8 {
    case base = 0x00
    case psk = 0x01
    case auth = 0x02
    case authPSK = 0x03

    init(hasPSK: Bool, hasSenderKey: Bool) {
        switch (hasPSK, hasSenderKey) {
        case (false, false): self = .base
        case (true, false): self = .psk
        case (false, true): self = .auth
        case (true, true): self = .authPSK
        }
    }
}

/// RFC 9180 section 5.1, "Creating the Encryption Context".
///
/// ```
/// def KeySchedule<ROLE>(mode, shared_secret, info, psk, psk_id):
///   VerifyPSKInputs(mode, psk, psk_id)
///
///   psk_id_hash = LabeledExtract("", "psk_id_hash", psk_id)
///   info_hash = LabeledExtract("", "info_hash", info)
///   key_schedule_context = concat(mode, psk_id_hash, info_hash)
///
///   secret = LabeledExtract(shared_secret, "secret", psk)
///
///   key = LabeledExpand(secret, "key", key_schedule_context, Nk)
///   base_nonce = LabeledExpand(secret, "base_nonce", key_schedule_context, Nn)
///   exporter_secret = LabeledExpand(secret, "exp", key_schedule_context, Nh)
///
///   return Context<ROLE>(key, base_nonce, 0, exporter_secret)
/// ```
/// VerifyPSKInputs() can't fail here: the mode follows from the presence of a `PSK`, and a `PSK` has both parts.
/// Each output is derived when it is asked for: a single-shot seal has no use for an exporter secret.
struct KeySchedule {
    private let labels: LabeledKDF
    private let context: [UInt8]
    private let secret: any HMACSHA256

    init(_ hpke: HPKE, _ mode: Mode, sharedSecret: SecretBytes, info: Span<UInt8>, psk: PSK?) {
        labels = hpke.labels
        let pskIDHash =
            psk.map { psk in hpke.labels.extract(salt: .init(), "psk_id_hash", ikm: psk.id.bytes) }
            ?? hpke.emptyPSKIDHash
        let infoHash = labels.extract(salt: .init(), "info_hash", ikm: info)
        var context = [mode.rawValue]
        context.reserveCapacity(1 + 2 * HKDF.hashByteCount)
        context.append(contentsOf: pskIDHash.bytes)
        context.append(contentsOf: infoHash.bytes)
        self.context = context
        let prk =
            if let psk {
                labels.extract(salt: sharedSecret.bytes, "secret", ikm: psk.secret.bytes)
            } else {
                labels.extract(salt: sharedSecret.bytes, "secret", ikm: .init())
            }
        secret = labels.key(prk)
    }

    /// Nk bytes.
    func key(_ algorithm: AEADAlgorithm) throws -> SecretBytes {
        try labels.expand(secret, "key", info: context.bytes, count: algorithm.keyByteCount)
    }

    /// Nn bytes.
    func baseNonce() throws -> SecretBytes {
        try labels.expand(secret, "base_nonce", info: context.bytes, count: AEADAlgorithm.nonceByteCount)
    }

    /// Nh bytes.
    func exporterSecret() throws -> SecretBytes {
        try labels.expand(secret, "exp", info: context.bytes, count: HKDF.hashByteCount)
    }
}
