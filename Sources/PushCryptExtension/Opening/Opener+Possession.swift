public import PushCryptCore
public import PushCryptPrimitives

extension Opener {
    /// Answers a backend's challenge: proves that this device has the private key of the record that it uploaded (PROTOCOL
    /// section 13).
    ///
    /// It has no side effects and checks no times of messages. A sealed push is refused: it is `undecryptable` as a challenge.
    ///
    /// - Parameters:
    ///   - challenge: the backend's answer to the upload, UTF-8 JSON of at most 4,096 bytes.
    ///   - record: the uploaded registration record, byte for byte: `RegistrationRecord.jwk`.
    ///   - host: the host of the address that the app registers with, in lower case and without port. Take it from the app's
    ///     configuration and never from the challenge: the backend of another host gets an answer that is wrong there.
    ///   - time: the device's clock, for the lifecycles of the keys.
    /// - Returns: the answer to send, UTF-8 JSON. It contains no secret of the device.
    /// - Throws: `FailureClass` as for a push: `malformed`, `unsupportedVersion`, `unknownKey`, `keyLocked`, `keyExpired`,
    ///   `keyRevoked`, `undecryptable`, `internalError`; `KeyError` with `invalidHost`.
    public func answer(
        challenge: [UInt8], record: SecretBytes, host: String, at time: UnixTime = .now
    ) throws -> [UInt8] {
        let host = try HostName(host)
        let challenge = try PossessionChallengeText(json: challenge)
        let (key, signer) = try keys(challenge.kid, challenge.skid, at: time, highestIssuedAt: { nil })
        var nonce = try Envelope.open(
            challenge.sealed, with: key, signedBy: signer.map { ($0.skid, $0.key) }, topic: topic, as: .challenge)
        defer { wipe(&nonce) }
        guard nonce.count == Possession.nonceByteCount else { throw FailureClass.malformed }
        let backend = DefaultBackend.shared
        let code = Possession.code(
            nonce: nonce.bytes, host: host, registrationID: challenge.registrationID,
            recordDigest: try backend.sha256(record.bytes), backend: backend)
        return PossessionAnswerText(registrationID: challenge.registrationID, code: Array(code.bytes)).json
    }
}
