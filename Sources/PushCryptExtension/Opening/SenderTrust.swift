public import PushCryptCore
import PushCryptPrimitives

/// The keys of one sender, which an app pins: ``SenderPins`` or `TrustedSenders`.
public protocol PinnedSender: Sendable {
    /// Returns the keys at the time of the call.
    ///
    /// - Throws: `FailureClass`: `unknownKey` if there is no usable set, `keyLocked`, `internalError`.
    func trustedSenders() throws(FailureClass) -> TrustedSenders
}

extension TrustedSenders: PinnedSender {
    /// Returns these keys.
    public func trustedSenders() -> TrustedSenders { self }
}

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

    /// Opens payloads that are signed by a key of these senders, of the sets that are pinned when the push is received.
    ///
    /// If you trust several senders, pin one set for each: then none of them can take back another's messages.
    public static func pinned(_ senders: any PinnedSender...) -> SenderTrust { pinned(senders) }

    /// Opens payloads that are signed by a key of these senders. A sender without a set is left out if another has one.
    public static func pinned(_ senders: [any PinnedSender]) -> SenderTrust {
        SenderTrust { () throws(FailureClass) in
            var found: [TrustedSenders] = []
            for sender in senders {
                do throws(FailureClass) {
                    found.append(try sender.trustedSenders())
                } catch  where error == .unknownKey {}
            }
            guard !found.isEmpty else { throw .unknownKey }
            return TrustedSenders(found)
        }
    }

    /// Opens payloads that are signed by this key, which is in the app's code. To change it, the app must be updated.
    ///
    /// - Parameter publicKey: an Ed25519 public key: its 32 bytes as base64 or base64url.
    /// - Throws: `KeyError` with `invalidKey`.
    public static func key(_ publicKey: String) throws -> SenderTrust {
        pinned(try TrustedSenders(publicKey: publicKey))
    }

    /// Opens payloads that are signed by the key in the app's code until the pins have their first set, and from then on those of
    /// the set alone: for the update of an app that had only the key. The extension may run before the updated app does.
    ///
    /// - Throws: `KeyError` with `invalidKey`.
    public static func key(_ publicKey: String, until pins: SenderPins) throws -> SenderTrust {
        let first = try TrustedSenders(publicKey: publicKey)
        return SenderTrust { () throws(FailureClass) in
            do throws(FailureClass) { return try pins.trustedSenders() } catch {
                guard error == .unknownKey, try pins.isEmpty else { throw error }
                return first
            }
        }
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
    ) throws(FailureClass) -> (skid: KeyID, key: any VerificationKey, sender: MessageSender)? {
        guard let source else {
            guard skid == nil else { throw .unknownKey }
            return nil
        }
        let senders = try source()
        guard let skid else { throw .undecryptable }
        let now = Freshness.now(clock: time, highestIssuedAt: highestIssuedAt())
        let (key, sender) = try senders.verificationKey(skid, at: now)
        return (skid, key, sender)
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
