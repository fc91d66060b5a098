public import PushCryptPrimitives

/// RFC 9180 sections 5.1.1 to 5.1.4: SetupBaseS/R, SetupPSKS/R, SetupAuthS/R, SetupAuthPSKS/R.
///
/// ```
/// def SetupBaseS(pkR, info):                        def SetupBaseR(enc, skR, info):
///   shared_secret, enc = Encap(pkR)                   shared_secret = Decap(enc, skR)
///   return enc, KeyScheduleS(mode_base,               return KeyScheduleR(mode_base, shared_secret,
///     shared_secret, info,                              info, default_psk, default_psk_id)
///     default_psk, default_psk_id)
/// ```
extension HPKE {
    /// Makes a context that seals any number of messages to one recipient.
    ///
    /// - Parameters:
    ///   - recipient: pkR, of this KEM and this backend.
    ///   - info: application context, the same on both sides.
    ///   - psk: for the modes psk and auth_psk.
    ///   - senderKey: skS, for the modes auth and auth_psk.
    /// - Returns: enc, which the recipient needs, and the context.
    /// - Throws: `HPKEError` with `validation` for a key of another KEM or backend.
    public func setupSender(
        to recipient: any EncapsulationKey, info: Span<UInt8>, psk: PSK? = nil, senderKey: (any DecapsulationKey)? = nil
    ) throws -> SenderSetup {
        try setupSender(to: recipient, info: info, psk: psk, senderKey: senderKey, ephemeral: nil)
    }

    func setupSender(
        to recipient: any EncapsulationKey, info: Span<UInt8>, psk: PSK?, senderKey: (any DecapsulationKey)?,
        ephemeral: (any DecapsulationKey)?
    ) throws -> SenderSetup {
        var enc = [UInt8]()
        let secrets = try withTemporarySecret(count: Self.sharedSecretByteCount) { sharedSecret in
            try encap(
                to: recipient, senderKey: senderKey, ephemeral: ephemeral, into: &sharedSecret, appendingEncTo: &enc)
            let mode = Mode(hasPSK: psk != nil, hasSenderKey: senderKey != nil)
            return try withKeySchedule(mode, sharedSecret: sharedSecret.span, info: info, psk: psk) { schedule in
                try ContextSecrets(self, schedule)
            }
        }
        return SenderSetup(enc: enc, context: SenderContext(secrets))
    }

    /// Makes the context that opens the messages of a sender's context.
    ///
    /// - Parameters:
    ///   - enc: the encapsulated key of the sender's setup, Nenc bytes.
    ///   - key: skR.
    ///   - senderKey: pkS, for the modes auth and auth_psk.
    /// - Throws: `HPKEError` with `validation` for a wrong `enc` or key.
    public func setupRecipient(
        enc: Span<UInt8>, with key: any DecapsulationKey, info: Span<UInt8>, psk: PSK? = nil,
        senderKey: (any EncapsulationKey)? = nil
    ) throws -> RecipientContext {
        let secrets = try withTemporarySecret(count: Self.sharedSecretByteCount) { sharedSecret in
            try decap(enc, with: key, senderKey: senderKey, into: &sharedSecret)
            let mode = Mode(hasPSK: psk != nil, hasSenderKey: senderKey != nil)
            return try withKeySchedule(mode, sharedSecret: sharedSecret.span, info: info, psk: psk) { schedule in
                try ContextSecrets(self, schedule)
            }
        }
        return RecipientContext(secrets)
    }
}

/// The result of setting up a sender.
public struct SenderSetup: ~Copyable {
    /// The encapsulated key, Nenc bytes.
    public let enc: [UInt8]
    /// Seals the messages.
    public var context: SenderContext
}
