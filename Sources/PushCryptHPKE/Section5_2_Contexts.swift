public import PushCryptPrimitives

/// The secrets of a context (RFC 9180 section 5.1): key and base nonce, absent for export-only, and exporter secret.
struct ContextSecrets {
    let backend: any CryptoBackend
    let labels: LabeledKDF
    let cipher: (algorithm: AEADAlgorithm, key: SecretBytes, baseNonce: SecretBytes)?
    let exporterSecret: SecretBytes

    init(_ hpke: HPKE, _ schedule: KeySchedule) throws {
        backend = hpke.backend
        labels = hpke.labels
        if let algorithm = hpke.aead.algorithm {
            let key = try SecretBytes(count: algorithm.keyByteCount) { key in try schedule.key(into: &key) }
            let baseNonce = try SecretBytes(count: AEADAlgorithm.nonceByteCount) { nonce in
                try schedule.baseNonce(into: &nonce)
            }
            cipher = (algorithm, key, baseNonce)
        } else {
            cipher = nil
        }
        exporterSecret = try SecretBytes(count: HKDF.hashByteCount) { secret in
            try schedule.exporterSecret(into: &secret)
        }
    }

    /// RFC 9180 section 5.3, "Secret Export".
    ///
    /// ```
    /// def Context.Export(exporter_context, L):
    ///   return LabeledExpand(self.exporter_secret, "sec", exporter_context, L)
    /// ```
    func export(_ exporterContext: Span<UInt8>, count: Int) throws -> SecretBytes {
        guard (0...HKDF.maximumOutputByteCount).contains(count) else { throw HPKEError(.invalidLength) }
        return try SecretBytes(count: count) { secret in
            try labels.withKey(exporterSecret.bytes) { hmac in
                try labels.expand(hmac, "sec", into: &secret) { hmac in hmac.update(exporterContext) }
            }
        }
    }
}

/// The sequence number, 12 bytes big-endian, as wide as the nonce (RFC 9180 section 5.2).
///
/// ```
/// def Context<ROLE>.ComputeNonce(seq):
///   seq_bytes = I2OSP(seq, Nn)
///   return xor(self.base_nonce, seq_bytes)
///
/// def Context<ROLE>.IncrementSeq():
///   if self.seq >= (1 << (8*Nn)) - 1:
///     raise MessageLimitReachedError
///   self.seq += 1
/// ```
/// The RFC increments after sealing, and fails then. The check here is before sealing: it refuses the same message
/// without having used its nonce.
struct SequenceNumber {
    private(set) var bytes = [UInt8](repeating: 0, count: AEADAlgorithm.nonceByteCount)

    init() {}

    /// Begins near the limit, for tests.
    init(bytes: [UInt8]) {
        precondition(bytes.count == AEADAlgorithm.nonceByteCount)
        self.bytes = bytes
    }

    func check() throws(HPKEError) {
        if bytes.allSatisfy({ $0 == 0xff }) { throw HPKEError(.messageLimitReached) }
    }

    mutating func increment() {
        for index in bytes.indices.reversed() {
            bytes[index] &+= 1
            if bytes[index] != 0 { return }
        }
    }

    func nonce(_ base: SecretBytes) -> [UInt8] { bytes.indices.map { index in bytes[index] ^ base.bytes[index] } }
}

/// ContextS (RFC 9180 section 5.2). Not copyable, because a copy would seal two messages under one nonce.
///
/// ```
/// def ContextS.Seal(aad, pt):
///   ct = Seal(self.key, self.ComputeNonce(self.seq), aad, pt)
///   self.IncrementSeq()
///   return ct
/// ```
public struct SenderContext: ~Copyable {
    private let secrets: ContextSecrets
    var sequence = SequenceNumber()

    init(_ secrets: ContextSecrets) { self.secrets = secrets }

    /// Seals the next message.
    ///
    /// - Returns: the ciphertext, 16 bytes longer than `plaintext`.
    /// - Throws: `HPKEError` with `messageLimitReached` or `exportOnly`.
    public mutating func seal(_ plaintext: Span<UInt8>, aad: Span<UInt8> = .init()) throws -> [UInt8] {
        guard let cipher = secrets.cipher else { throw HPKEError(.exportOnly) }
        try sequence.check()
        var ciphertext = [UInt8]()
        ciphertext.reserveCapacity(plaintext.count + AEADAlgorithm.tagByteCount)
        try secrets.backend.seal(
            cipher.algorithm, key: cipher.key.bytes, nonce: sequence.nonce(cipher.baseNonce).bytes, aad: aad,
            plaintext: plaintext, appendingTo: &ciphertext)
        sequence.increment()
        return ciphertext
    }

    /// Derives a secret of `count` bytes, at most 8,160, which the other side can derive too.
    public func export(_ exporterContext: Span<UInt8>, count: Int) throws -> SecretBytes {
        try secrets.export(exporterContext, count: count)
    }
}

/// ContextR (RFC 9180 section 5.2).
///
/// ```
/// def ContextR.Open(aad, ct):
///   pt = Open(self.key, self.ComputeNonce(self.seq), aad, ct)
///   if pt == OpenError:
///     raise OpenError
///   self.IncrementSeq()
///   return pt
/// ```
public struct RecipientContext: ~Copyable {
    private let secrets: ContextSecrets
    var sequence = SequenceNumber()

    init(_ secrets: ContextSecrets) { self.secrets = secrets }

    /// Opens the next message. A failure doesn't change the sequence number.
    ///
    /// - Throws: `HPKEError` with `open`, `messageLimitReached` or `exportOnly`.
    public mutating func open(_ ciphertext: Span<UInt8>, aad: Span<UInt8> = .init()) throws -> [UInt8] {
        guard let cipher = secrets.cipher else { throw HPKEError(.exportOnly) }
        try sequence.check()
        let plaintext = try secrets.backend.openAsHPKE(
            cipher.algorithm, key: cipher.key.bytes, nonce: sequence.nonce(cipher.baseNonce).bytes, aad: aad,
            ciphertext: ciphertext)
        sequence.increment()
        return plaintext
    }

    /// Derives a secret of `count` bytes, at most 8,160, which the other side can derive too.
    public func export(_ exporterContext: Span<UInt8>, count: Int) throws -> SecretBytes {
        try secrets.export(exporterContext, count: count)
    }
}

extension CryptoBackend {
    /// Opens, and translates an authentication failure to the RFC's OpenError.
    func openAsHPKE(
        _ algorithm: AEADAlgorithm, key: Span<UInt8>, nonce: Span<UInt8>, aad: Span<UInt8>, ciphertext: Span<UInt8>
    ) throws -> [UInt8] {
        do {
            return try open(algorithm, key: key, nonce: nonce, aad: aad, ciphertext: ciphertext)
        } catch let error as CryptoError where error.code == .authenticationFailure {
            throw HPKEError(.open)
        }
    }
}
