public import PushCryptCore

/// What a sealer tells its observer about each push, for metrics and tracing. It names no device and no message.
public struct SealObservation: Sendable {
    /// Why the push wasn't sealed; nil if it was.
    public let refusal: SenderError.Code?
    /// How long sealing took, with the encoding of the payload unless it was encoded for several devices.
    public let duration: Duration
    /// The suite of the recipient's key.
    public let suite: Suite
    /// The length of the request body; nil if the push wasn't sealed.
    public let byteCount: Int?
    /// Whether the body was shortened to fit.
    public let isBodyShortened: Bool
    /// Whether the payload was offloaded.
    public let isOffloaded: Bool
    /// See ``SealedPush/usesLastResortKey``.
    public let usesLastResortKey: Bool
    /// What devices ignore or change of the payload; see ``SealedPush/warnings``.
    public let warnings: [PayloadWarning]
    /// The key that signed; nil for an unsigned push, and if no key could sign.
    public let signedBy: KeyID?
    /// How long that key has been the primary key; nil if the signer is a single key, or the keyset doesn't tell.
    public let signingKeyAge: Duration?
    /// The `seq` of the signing keyset; nil if the signer is a single key.
    public let keysetSequence: Int64?
}
