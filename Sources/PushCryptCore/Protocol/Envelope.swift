import PushCryptHPKE
package import PushCryptPrimitives

/// Seals and opens the bytes of the `sealed` member (PROTOCOL sections 3 and 4). `message` is the padded inner payload.
///
/// ```
/// sealed    = enc || ct      suites 1 to 3, HPKE base or psk
///           | salt || ct     suite 4
/// ct        = AEAD(plaintext)
/// plaintext = message                      unsigned
///           | signature(64) || message     signed
/// ```
package enum Envelope {
    /// What is sealed. It is bound to the ciphertext, so that a device doesn't decrypt one as the other.
    package enum Use: Sendable {
        /// The inner payload of a push.
        case message
        /// The nonce of a challenge (PROTOCOL section 13).
        case challenge

        fileprivate var profile: Profile { self == .challenge ? .challenge : [] }
    }

    /// Returns how much longer `sealed` is than `message`, in bytes.
    package static func overheadByteCount(_ suite: Suite, isSigned: Bool) -> Int {
        suite.overheadByteCount + (isSigned ? MessageSignature.byteCount : 0)
    }

    /// - Parameter signer: nil for the unsigned profile.
    /// - Throws: `CryptoError` or `HPKEError` if the backend fails.
    package static func seal(
        _ message: [UInt8], to recipient: Recipient, signer: SenderKey?, topic: Topic, as use: Use = .message
    ) throws -> [UInt8] {
        try withContextInfo(
            suite: recipient.suite, profile: recipient.scheme.profile(isSigned: signer != nil).union(use.profile),
            kid: recipient.kid, skid: signer?.kid, topic: topic
        ) { info in
            guard let signer else { return try seal(plaintext: message, to: recipient, info: info) }
            let name = try recipient.scheme.recipientName(backend: recipient.backend)
            let input = MessageSignature.input(info: info, recipientName: name, message: message.bytes)
            let plaintext = try signer.key.signature(for: input.bytes) + message
            return try seal(plaintext: plaintext, to: recipient, info: info)
        }
    }

    private static func seal(plaintext: [UInt8], to recipient: Recipient, info: Span<UInt8>) throws -> [UInt8] {
        var sealed = [UInt8]()
        sealed.reserveCapacity(plaintext.count + recipient.suite.overheadByteCount)
        switch recipient.scheme {
        case .hpke(let scheme): try scheme.seal(plaintext.bytes, info: info, appendingTo: &sealed)
        case .shared(let scheme): try scheme.seal(plaintext.bytes, info: info, appendingTo: &sealed)
        }
        return sealed
    }

    /// - Parameter sender: the payload's `skid` and the public key of that id; nil for the unsigned profile.
    /// - Throws: `FailureClass`: `undecryptable` for wrong bytes of any kind, `internalError` if the backend fails.
    package static func open(
        _ sealed: [UInt8], with key: RecipientKey, signedBy sender: (skid: KeyID, key: any VerificationKey)?,
        topic: Topic, as use: Use = .message
    ) throws(FailureClass) -> [UInt8] {
        try withContextInfo(
            suite: key.suite, profile: key.scheme.profile(isSigned: sender != nil).union(use.profile), kid: key.kid,
            skid: sender?.skid, topic: topic
        ) { info throws(FailureClass) in
            let plaintext = try open(sealed, with: key, info: info)
            guard let sender else { return plaintext }
            guard plaintext.count >= MessageSignature.byteCount else { throw .undecryptable }
            let isValid: Bool
            let message = plaintext.bytes.extracting(droppingFirst: MessageSignature.byteCount)
            let signature = plaintext.bytes.extracting(first: MessageSignature.byteCount)
            do {
                let name = try key.scheme.recipientName(backend: key.backend)
                let input = MessageSignature.input(info: info, recipientName: name, message: message)
                isValid = try sender.key.isValid(signature, for: input.bytes)
            } catch {
                throw .internalError
            }
            guard isValid else { throw .undecryptable }
            return Array(message)
        }
    }

    private static func open(
        _ sealed: [UInt8], with key: RecipientKey, info: Span<UInt8>
    ) throws(FailureClass) -> [UInt8] {
        do {
            switch key.scheme {
            case .hpke(let scheme): return try scheme.open(sealed.bytes, info: info)
            case .shared(let scheme): return try scheme.open(sealed.bytes, info: info)
            }
        } catch let error as CryptoError where error.code == .backendFailure {
            throw .internalError
        } catch {
            throw .undecryptable
        }
    }
}
