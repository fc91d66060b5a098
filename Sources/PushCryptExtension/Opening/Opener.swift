public import PushCryptCore
public import PushCryptPrimitives

/// Opens sealed payloads: a function of payload, keys and time, without side effects.
public struct Opener: Sendable {
    let topic: Topic
    private(set) var keyring: any RecipientKeyring
    package let senders: SenderTrust
    /// The ways of the app's pushes.
    let carriers: Set<Carrier>
    /// Where the envelope of a push may stand.
    private(set) var places: EnvelopePlaces

    /// Creates an opener with the recipient's keys and the pinned sender keys, or `.unsigned`. With pinned keys, unsigned
    /// payloads are refused.
    ///
    /// - Parameters:
    ///   - topic: the app's bundle identifier, not the extension's.
    ///   - carriers: the ways of the app's pushes. An app that moves to another service names both for a while.
    /// - Throws: `KeyError` with `invalidTopic`.
    public init(
        topic: String, keyring: any RecipientKeyring, senders: SenderTrust, carriers: Set<Carrier> = [.apns]
    ) throws {
        self.topic = try Topic(topic)
        self.keyring = keyring
        self.senders = senders
        self.carriers = carriers
        places = EnvelopePlaces(carriers)
    }

    /// An opener of what ``KeptMessage`` returns.
    var readingKeptMessages: Opener {
        var opener = self
        opener.places = .standard
        return opener
    }

    /// Returns an opener with other keys, made of its present ones.
    package func mappingKeyring(_ map: (any RecipientKeyring) -> any RecipientKeyring) -> Opener {
        var opener = self
        opener.keyring = map(keyring)
        return opener
    }

    /// Opens and verifies an outer payload, UTF-8 JSON, or returns the failure class. The checks have the order of the
    /// protocol: form, keys, decryption, signature, content, time.
    ///
    /// - Parameter highestIssuedAt: the highest `iat` that this recipient has accepted and confirmed. With it a clock that is
    ///   set back makes neither expired pushes nor expired sender keys valid.
    public func open(
        _ payload: [UInt8], at time: UnixTime, highestIssuedAt: UnixTime? = nil
    ) -> Result<OpenedPush, FailureClass> {
        switch untimed(payload, at: time, highestIssuedAt: { highestIssuedAt }) {
        case .success(let push): freshness(push, at: time, highestIssuedAt).map(Result.failure) ?? .success(push)
        case .failure(let failure): .failure(failure)
        }
    }

    private func freshness(_ push: OpenedPush, at time: UnixTime, _ highestIssuedAt: UnixTime?) -> FailureClass? {
        Freshness.failure(
            issuedAt: push.issuedAt, expiresAt: push.expiresAt, clock: time, highestIssuedAt: highestIssuedAt)
    }

    /// Why a push wasn't opened: its class and, for a message that was opened and isn't fresh, its times.
    package struct OpeningError: Error {
        package let failure: FailureClass
        /// nil for every failure before decryption has succeeded.
        package let times: (issuedAt: UnixTime, expiresAt: UnixTime)?
    }

    /// As ``open(_:at:highestIssuedAt:)``, for diagnostics.
    package func opening(_ payload: [UInt8], at time: UnixTime) -> Result<OpenedPush, OpeningError> {
        untimed(payload, at: time, highestIssuedAt: { nil }).mapError { OpeningError(failure: $0, times: nil) }
            .flatMap { push in
                freshness(push, at: time, nil)
                    .map { .failure(OpeningError(failure: $0, times: (push.issuedAt, push.expiresAt))) }
                    ?? .success(push)
            }
    }

    /// Opens a payload of any age: the caller checks its freshness.
    func untimed(
        _ payload: [UInt8], at time: UnixTime, highestIssuedAt: () -> UnixTime?
    ) -> Result<OpenedPush, FailureClass> {
        do throws(FailureClass) {
            let outer = try outerPayload(payload)
            let (key, signer) = try keys(outer.kid, outer.skid, at: time, highestIssuedAt: highestIssuedAt)
            let message = try Envelope.open(
                outer.sealed, with: key, signedBy: signer.map { ($0.skid, $0.key) }, topic: topic)
            let inner = try InnerPayload(message: message)
            let proof = key.proof(isSigned: signer != nil)
            guard let header = inner.header(proof: proof) else { throw .malformed }
            return .success(
                try OpenedPush(
                    inner, header, proof: proof, key: key, signedBy: outer.skid, sender: signer?.sender ?? .unnamed))
        } catch {
            return .failure(error)
        }
    }

    /// The recipient's key and the sender's, which is nil for an unsigned text. The recipient's is looked up first: the order
    /// determines the failure class.
    func keys(
        _ kid: KeyID, _ skid: KeyID?, at time: UnixTime, highestIssuedAt: () -> UnixTime?
    ) throws(FailureClass) -> (RecipientKey, (skid: KeyID, key: any VerificationKey, sender: MessageSender)?) {
        let key = try keyring.key(kid, at: time)
        return (key, try senders.verificationKey(skid, at: time, highestIssuedAt: highestIssuedAt))
    }

    private func outerPayload(_ payload: [UInt8]) throws(FailureClass) -> OuterPayload {
        let text: JSONText
        do { text = try JSONText(payload) } catch { throw .malformed }
        return try OuterPayload(text, at: places)
    }

    /// The recipient's key and the sender's that a payload names, for diagnostics; nil for a payload that can't be read.
    func keyIDs(of payload: [UInt8]) -> (kid: KeyID, skid: KeyID?)? {
        (try? outerPayload(payload)).map { ($0.kid, $0.skid) }
    }
}

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
