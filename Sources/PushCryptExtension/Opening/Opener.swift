public import PushCryptCore
import PushCryptPrimitives

/// Opens sealed payloads: a function of payload, keys and time, without side effects.
public struct Opener: Sendable {
    let topic: Topic
    private var keyring: any RecipientKeyring
    private let senders: SenderTrust

    /// Creates an opener with the recipient's keys and the pinned sender keys, or `.unsigned`. With pinned keys, unsigned
    /// payloads are refused.
    ///
    /// - Parameter topic: the app's bundle identifier, not the extension's.
    /// - Throws: `KeyError` with `invalidTopic`.
    public init(topic: String, keyring: any RecipientKeyring, senders: SenderTrust) throws {
        self.topic = try Topic(topic)
        self.keyring = keyring
        self.senders = senders
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
        opening(payload, at: time, highestIssuedAt: highestIssuedAt).mapError(\.failure)
    }

    /// Why a push wasn't opened: its class and, for a message that was opened and isn't fresh, its times.
    package struct OpeningError: Error {
        package let failure: FailureClass
        /// nil for every failure before decryption has succeeded.
        package let times: (issuedAt: UnixTime, expiresAt: UnixTime)?
    }

    package func opening(
        _ payload: [UInt8], at time: UnixTime, highestIssuedAt: UnixTime? = nil
    ) -> Result<OpenedPush, OpeningError> {
        untimed(payload, at: time, highestIssuedAt: { highestIssuedAt })
            .mapError { OpeningError(failure: $0, times: nil) }.flatMap { push in
                Freshness.failure(
                    issuedAt: push.issuedAt, expiresAt: push.expiresAt, clock: time, highestIssuedAt: highestIssuedAt
                ).map { .failure(OpeningError(failure: $0, times: (push.issuedAt, push.expiresAt))) } ?? .success(push)
            }
    }

    /// Opens a payload of any age: the caller checks its freshness.
    func untimed(
        _ payload: [UInt8], at time: UnixTime, highestIssuedAt: () -> UnixTime?
    ) -> Result<OpenedPush, FailureClass> {
        Result { () throws(FailureClass) in
            let outer = try Self.outerPayload(payload)
            let (key, signer) = try keys(outer.kid, outer.skid, at: time, highestIssuedAt: highestIssuedAt)
            let message = try Envelope.open(
                outer.sealed, with: key, signedBy: signer.map { ($0.skid, $0.key) }, topic: topic)
            let inner = try InnerPayload(message: message)
            let proof = key.proof(isSigned: signer != nil)
            guard let header = inner.header(proof: proof) else { throw .malformed }
            return try OpenedPush(
                inner, header, proof: proof, key: key, signedBy: outer.skid, sender: signer?.sender ?? .unnamed)
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

    private static func outerPayload(_ payload: [UInt8]) throws(FailureClass) -> OuterPayload {
        let text: JSONText
        do { text = try JSONText(payload) } catch { throw .malformed }
        return try OuterPayload(text)
    }

    /// The recipient's key and the sender's that a payload names, for diagnostics; nil for a payload that can't be read.
    static func keyIDs(of payload: [UInt8]) -> (kid: KeyID, skid: KeyID?)? {
        (try? outerPayload(payload)).map { ($0.kid, $0.skid) }
    }
}
