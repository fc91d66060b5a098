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

    /// The name.
    public var description: String { rawValue }

    /// The payload has no `pushcrypt` member.
    public static let notSealed = FailureClass(rawValue: "notSealed")
    /// The payload is not strict JSON, or a member is missing or has the wrong type.
    public static let malformed = FailureClass(rawValue: "malformed")
    /// The payload has another protocol version.
    public static let unsupportedVersion = FailureClass(rawValue: "unsupportedVersion")
    /// There is no key with this `kid`, or none with this `skid`.
    public static let unknownKey = FailureClass(rawValue: "unknownKey")
    /// The key can't be read before the device has been unlocked once after its start.
    public static let keyLocked = FailureClass(rawValue: "keyLocked")
    /// The key has expired: it no longer opens or verifies.
    public static let keyExpired = FailureClass(rawValue: "keyExpired")
    /// The key was revoked.
    public static let keyRevoked = FailureClass(rawValue: "keyRevoked")
    /// The key is of a suite that this system doesn't have (`Suite.isAvailable`).
    public static let unsupportedSuite = FailureClass(rawValue: "unsupportedSuite")
    /// Decryption or verification failed.
    public static let undecryptable = FailureClass(rawValue: "undecryptable")
    /// The message has expired.
    public static let expired = FailureClass(rawValue: "expired")
    /// The message's `iat` is in the future.
    public static let notYetValid = FailureClass(rawValue: "notYetValid")
    /// The message was already handed to the system.
    public static let replayed = FailureClass(rawValue: "replayed")
    /// The message was taken back before it was shown.
    public static let retracted = FailureClass(rawValue: "retracted")
    /// The extension's deadline passed before the content was ready.
    public static let timedOut = FailureClass(rawValue: "timedOut")
    /// An attachment couldn't be fetched; the text is shown without it.
    public static let attachmentFailed = FailureClass(rawValue: "attachmentFailed")
    /// An error that no input can cause: no entropy, no memory.
    public static let internalError = FailureClass(rawValue: "internalError")
}
