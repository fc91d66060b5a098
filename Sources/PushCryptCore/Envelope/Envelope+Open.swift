import PushCryptHPKE
package import PushCryptPrimitives

extension Envelope {
    /// - Parameters:
    ///   - skid: the sender key that the payload names; its public half is `verificationKey`.
    /// - Throws: `FailureClass`, `undecryptable` for whatever is wrong with the bytes.
    package static func open(
        _ sealed: [UInt8], with key: RecipientKey, signedBy sender: (skid: KeyID, key: any VerificationKey)?,
        topic: Topic
    ) throws(FailureClass) -> [UInt8] {
        try withContextInfo(
            suite: key.suite, profile: key.profile(isSigned: sender != nil), kid: key.kid, skid: sender?.skid,
            topic: topic
        ) { info throws(FailureClass) in
            let plaintext = try open(sealed, with: key, info: info)
            guard let sender else { return plaintext }
            guard plaintext.count >= MessageSignature.byteCount else { throw .undecryptable }
            let message = plaintext.bytes.extracting(droppingFirst: MessageSignature.byteCount)
            let input = MessageSignature.input(info: info, recipientName: try key.name(), message: message)
            let signature = plaintext.bytes.extracting(first: MessageSignature.byteCount)
            guard sender.key.isValid(signature, for: input.bytes) else { throw .undecryptable }
            return Array(message)
        }
    }

    private static func open(
        _ sealed: [UInt8], with key: RecipientKey, info: Span<UInt8>
    ) throws(FailureClass) -> [UInt8] {
        do {
            switch key.scheme {
            case .hpke(let scheme):
                return try scheme.open(sealed.bytes, info: info)
            case .shared(let scheme):
                return try scheme.open(sealed.bytes, info: info)
            }
        } catch let error as CryptoError where error.code == .backendFailure {
            throw .internalError
        } catch {
            throw .undecryptable
        }
    }
}

extension RecipientKey {
    fileprivate func profile(isSigned: Bool) -> Profile {
        var profile: Profile = isSigned ? .signed : []
        if case .hpke(let scheme) = scheme, scheme.psk != nil { profile.insert(.psk) }
        return profile
    }

    fileprivate func name() throws(FailureClass) -> [UInt8] {
        switch scheme {
        case .hpke(let scheme):
            guard let digest = try? backend.sha256(scheme.privateKey.publicKey.serialized.bytes) else {
                throw .internalError
            }
            return digest
        case .shared(let scheme): return scheme.recipientName()
        }
    }
}
