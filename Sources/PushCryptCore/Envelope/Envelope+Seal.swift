import PushCryptHPKE
import PushCryptPrimitives

/// Sealing and opening of `message`, the padded inner payload, as the bytes of the `sealed` member.
package enum Envelope {
    /// Bytes that `sealed` is longer than `message`.
    package static func overheadByteCount(_ suite: Suite, isSigned: Bool) -> Int {
        suite.overheadByteCount + (isSigned ? MessageSignature.byteCount : 0)
    }

    /// ```
    /// sealed = enc || ct      suites 1 and 2, HPKE base or psk
    ///        | salt || ct     suite 4
    /// ```
    package static func seal(
        _ message: [UInt8], to recipient: Recipient, signer: SenderKey?, topic: Topic
    ) throws -> [UInt8] {
        try withContextInfo(
            suite: recipient.suite, profile: recipient.profile(isSigned: signer != nil), kid: recipient.kid,
            skid: signer?.kid, topic: topic
        ) { info in
            guard let signer else { return try seal(plaintext: message, to: recipient, info: info) }
            let input = MessageSignature.input(
                info: info, recipientName: try recipient.name(), message: message.bytes)
            let plaintext = try signer.key.signature(for: input.bytes) + message
            return try seal(plaintext: plaintext, to: recipient, info: info)
        }
    }

    private static func seal(plaintext: [UInt8], to recipient: Recipient, info: Span<UInt8>) throws -> [UInt8] {
        var sealed = [UInt8]()
        sealed.reserveCapacity(plaintext.count + recipient.suite.overheadByteCount)
        switch recipient.scheme {
        case .hpke(let scheme):
            try scheme.seal(plaintext.bytes, info: info, appendingTo: &sealed)
        case .shared(let scheme):
            try scheme.seal(plaintext.bytes, info: info, appendingTo: &sealed)
        }
        return sealed
    }
}

extension Recipient {
    fileprivate func profile(isSigned: Bool) -> Profile {
        var profile: Profile = isSigned ? .signed : []
        if case .hpke(let scheme) = scheme, scheme.psk != nil { profile.insert(.psk) }
        return profile
    }

    fileprivate func name() throws -> [UInt8] {
        switch scheme {
        case .hpke(let scheme): try backend.sha256(scheme.publicKey.serialized.bytes)
        case .shared(let scheme): scheme.recipientName()
        }
    }
}
