public import PushCryptPrimitives

/// Why a push wasn't opened (PROTOCOL section 8).
///
/// A bad tag, a bad point and a bad signature are one class, so that an attacker can't use the recipient as an oracle for
/// forgeries.
public struct FailureClass: RawRepresentable, DescribedError, Hashable, Sendable {
    /// The name in the protocol, as in `undecryptable`.
    public let rawValue: String

    /// - Parameter rawValue: a name, which may be one that the protocol doesn't define.
    public init(rawValue: String) { self.rawValue = rawValue }

    package init(_ defined: Defined) { rawValue = defined.rawValue }

    /// The name.
    public var description: String { rawValue }

    /// The payload has no `pushcrypt` member.
    public static let notSealed = FailureClass(.notSealed)
    /// The payload is not strict JSON, or a member is missing or has the wrong type.
    public static let malformed = FailureClass(.malformed)
    /// The payload has another protocol version.
    public static let unsupportedVersion = FailureClass(.unsupportedVersion)
    /// There is no key with this `kid`, or none with this `skid`.
    public static let unknownKey = FailureClass(.unknownKey)
    /// The key can't be read before the device has been unlocked once after its start.
    public static let keyLocked = FailureClass(.keyLocked)
    /// The key has expired: it no longer opens or verifies.
    public static let keyExpired = FailureClass(.keyExpired)
    /// The key was revoked.
    public static let keyRevoked = FailureClass(.keyRevoked)
    /// The key is of a suite that this system doesn't have (`Suite.isAvailable`).
    public static let unsupportedSuite = FailureClass(.unsupportedSuite)
    /// Decryption or verification failed.
    public static let undecryptable = FailureClass(.undecryptable)
    /// The message has expired.
    public static let expired = FailureClass(.expired)
    /// The message's `iat` is in the future.
    public static let notYetValid = FailureClass(.notYetValid)
    /// The message was already handed to the system.
    public static let replayed = FailureClass(.replayed)
    /// The message was taken back before it was shown.
    public static let retracted = FailureClass(.retracted)
    /// The extension's deadline passed before the content was ready.
    public static let timedOut = FailureClass(.timedOut)
    /// An attachment couldn't be fetched; the text is shown without it.
    public static let attachmentFailed = FailureClass(.attachmentFailed)
    /// An error that no input can cause: no entropy, no memory.
    public static let internalError = FailureClass(.internalError)
}

extension FailureClass {
    /// nil for a class of the app's own, or of a later version.
    package var defined: Defined? { Defined(rawValue: rawValue) }

    /// The classes that the protocol defines. A switch over them has no default, so that a new class doesn't compile before
    /// each table has its entry.
    package enum Defined: String, CaseIterable, Sendable {
        case notSealed, malformed, unsupportedVersion, unknownKey, keyLocked, keyExpired, keyRevoked, unsupportedSuite
        case undecryptable, expired, notYetValid, replayed, retracted, timedOut, attachmentFailed, internalError

        /// What the library does after the failure.
        package var consequence: Consequence {
            switch self {
            case .unknownKey, .keyExpired, .unsupportedSuite: Consequence(placeholder: .keepsMessage, remedy: .key)
            case .keyLocked: Consequence(placeholder: .keepsMessage, remedy: .unlock)
            case .timedOut: Consequence(placeholder: .keepsMessage, remedy: nil)
            case .keyRevoked: Consequence(placeholder: .isAlone, remedy: .key)
            case .undecryptable: Consequence(placeholder: .isAlone, remedy: .keyIfRepeated)
            case .unsupportedVersion: Consequence(placeholder: .isAlone, remedy: .app)
            case .notSealed, .malformed, .notYetValid, .replayed, .attachmentFailed, .internalError:
                Consequence(placeholder: .isAlone, remedy: nil)
            case .expired, .retracted: Consequence(placeholder: .isRemoved, remedy: nil)
            }
        }
    }

    package struct Consequence: Sendable {
        /// The placeholder keeps the sealed message if opening may succeed later: when keys can be read, the app has fetched a
        /// newer set of sender keys, or the system is updated. If a kept message can never be shown, it is removed.
        package enum Placeholder: Sendable { case keepsMessage, isAlone, isRemoved }
        /// What the app can do.
        package enum Remedy: Sendable { case key, keyIfRepeated, app, unlock }

        package let placeholder: Placeholder
        package let remedy: Remedy?
    }
}
