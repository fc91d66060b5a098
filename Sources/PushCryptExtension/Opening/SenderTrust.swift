public import PushCryptCore
import PushCryptPrimitives

/// The pushes that an opener accepts: signed by pinned senders, or unsigned. The app chooses; there is no default.
///
/// With pinned senders, unsigned payloads are refused, and all payloads are refused if the pinned keys can't be read. A
/// missing set never means `unsigned`.
public struct SenderTrust: Sendable {
    /// Returns the pinned sender keys, or throws the failure class of the push if they can't be read.
    public typealias Source = @Sendable () throws(FailureClass) -> TrustedSenders

    /// nil for unsigned payloads.
    private let source: Source?

    /// Opens unsigned payloads; signed payloads are `unknownKey`.
    ///
    /// Everyone who can seal to this device can then send it pushes; in the base profile, everyone with its public key.
    public static let unsigned = SenderTrust(source: nil)

    /// Opens payloads that are signed by one of these keys.
    public static func pinned(_ senders: TrustedSenders) -> SenderTrust {
        SenderTrust { () throws(FailureClass) in senders }
    }

    /// Opens payloads that are signed by a key of the signed set that was accepted last when the push is received.
    public static func pinned(_ pins: SenderPins) -> SenderTrust {
        SenderTrust { () throws(FailureClass) in try pins.trustedSenders() }
    }

    /// Opens payloads that are signed by a key of an unsigned set: the one that is pinned when the push is received.
    public static func pinned(_ pins: UnsignedSenderPins) -> SenderTrust {
        SenderTrust { () throws(FailureClass) in try pins.trustedSenders() }
    }

    /// Opens payloads that are signed by a key from the app's own source, for apps that don't use ``SenderPins``.
    ///
    /// - Parameter source: called for each push. Write a closure: in Swift 5 mode the name of a method causes a warning.
    public static func current(_ source: @escaping Source) -> SenderTrust { SenderTrust(source: source) }

    /// The key that must have signed the payload; nil if the payload must be unsigned. Throws `FailureClass`:
    /// `undecryptable` for an unsigned payload if senders are pinned; `unknownKey`, `keyExpired`, `keyRevoked`; the
    /// error of the source.
    ///
    /// - Parameter highestIssuedAt: read only if senders are pinned. A key is judged no earlier than 10 minutes before it, so
    ///   that a key that has expired doesn't verify again when the clock is set back.
    func verificationKey(
        _ skid: KeyID?, at time: UnixTime, highestIssuedAt: () -> UnixTime?
    ) throws(FailureClass) -> (skid: KeyID, key: any VerificationKey)? {
        guard let source else {
            guard skid == nil else { throw .unknownKey }
            return nil
        }
        let senders = try source()
        guard let skid else { throw .undecryptable }
        let now = Freshness.now(clock: time, highestIssuedAt: highestIssuedAt())
        return (skid, try senders.verificationKey(skid, at: now))
    }

    /// Which senders are trusted, for a report.
    func report(at time: UnixTime) -> DeviceReport.Senders {
        do throws(FailureClass) {
            return DeviceReport.Senders(try source?(), at: time)
        } catch {
            return DeviceReport.Senders(error)
        }
    }
}
