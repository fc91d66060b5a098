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
/// VerifyPSKInputs() can't fail here: the presence of a `PSK` selects the mode, and a `PSK` has both parts.
/// Each output is derived on request, because a single-shot seal needs no exporter secret.
struct KeySchedule: ~Escapable {
    private let labels: LabeledKDF
    /// mode || psk_id_hash || info_hash
    let context: Span<UInt8>
    /// The HMAC under "secret".
    private let secret: any HMACSHA256

    @_lifetime(copy context)
    fileprivate init(_ labels: LabeledKDF, context: Span<UInt8>, secret: any HMACSHA256) {
        self.labels = labels
        self.context = context
        self.secret = secret
    }

    /// Nk bytes.
    func key(into output: inout MutableSpan<UInt8>) throws {
        try labels.expand(secret, "key", into: &output) { hmac in hmac.update(context) }
    }

    /// Nn bytes.
    func baseNonce(into output: inout MutableSpan<UInt8>) throws {
        try labels.expand(secret, "base_nonce", into: &output) { hmac in hmac.update(context) }
    }

    /// Nh bytes.
    func exporterSecret(into output: inout MutableSpan<UInt8>) throws {
        try labels.expand(secret, "exp", into: &output) { hmac in hmac.update(context) }
    }
}

extension HPKE {
    /// Calls `body` with KeySchedule(), and wipes its secrets afterwards.
    func withKeySchedule<Result>(
        _ mode: Mode, sharedSecret: Span<UInt8>, info: Span<UInt8>, psk: PSK?, _ body: (KeySchedule) throws -> Result
    ) rethrows -> Result {
        let hashByteCount = HKDF.hashByteCount
        return try withTemporarySecrets(1 + 2 * hashByteCount, hashByteCount) { context, output in
            context[0] = mode.rawValue
            if let psk {
                labels.extract(salt: .init(), "psk_id_hash", into: &output) { hmac in hmac.update(psk.id.bytes) }
                context.write(output.span, at: 1)
            } else {
                context.write(emptyPSKIDHash.bytes, at: 1)
            }
            labels.extract(salt: .init(), "info_hash", into: &output) { hmac in hmac.update(info) }
            context.write(output.span, at: 1 + hashByteCount)
            labels.extract(salt: sharedSecret, "secret", into: &output) { hmac in
                if let psk { hmac.update(psk.secret.bytes) }
            }
            return try labels.withKey(output.span) { secret in
                try body(KeySchedule(labels, context: context.span, secret: secret))
            }
        }
    }
}
