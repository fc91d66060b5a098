public import PushCryptCore
import PushCryptPrimitives

/// Which pushes are opened: those signed by pinned senders, or unsigned ones. The app chooses; there is no default.
///
/// With pinned senders an unsigned payload is refused, and so is every payload where the pinned keys can't be read. A
/// missing set never means `unsigned`.
public struct SenderTrust: Sendable {
    /// Returns the pinned sender keys, or throws the failure class of a push that comes while they can't be read.
    public typealias Source = @Sendable () throws(FailureClass) -> TrustedSenders

    /// nil for unsigned payloads.
    private let source: Source?

    /// No sender is pinned: unsigned payloads are opened, signed ones are `unknownKey`.
    ///
    /// Everyone who can seal to this device can then write to it. In the base profile that is everyone with its public key.
    public static let unsigned = SenderTrust(source: nil)

    /// Only these keys sign what is opened.
    public static func pinned(_ senders: TrustedSenders) -> SenderTrust {
        SenderTrust { () throws(FailureClass) in senders }
    }

    /// Only the keys that are pinned when the push comes sign what is opened: an update counts without a new process.
    public static func pinned(_ pins: SenderPins) -> SenderTrust {
        SenderTrust { () throws(FailureClass) in try pins.trustedSenders() }
    }

    /// For an app that stores its pinned keys in another way than ``SenderPins``.
    ///
    /// - Parameter source: called for each push.
    public static func current(_ source: @escaping Source) -> SenderTrust {
        SenderTrust(source: source)
    }

    /// The key that a payload has to be signed with; nil for a payload that is to be unsigned.
    ///
    /// - Parameter skid: the sender key that the payload names; nil where it names none.
    /// - Throws: `FailureClass`: `undecryptable` for an unsigned payload where senders are pinned; `unknownKey`,
    ///   `keyExpired`, `keyRevoked`; what the source throws.
    func verificationKey(
        _ skid: KeyID?, at time: UnixTime
    ) throws(FailureClass) -> (skid: KeyID, key: any VerificationKey)? {
        guard let source else {
            guard skid == nil else { throw .unknownKey }
            return nil
        }
        let senders = try source()
        guard let skid else { throw .undecryptable }
        return (skid, try senders.verificationKey(skid, at: time))
    }
}
