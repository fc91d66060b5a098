/// Why a push wasn't restored (PROTOCOL section 8). Nothing else about the failure leaves the core: a bad tag, a bad point
/// and a bad signature are one class, so that an attacker can't use the recipient as an oracle for forgeries.
public struct FailureClass: RawRepresentable, Error, Hashable, Sendable, CustomStringConvertible {
    /// The name in the protocol, as in `undecryptable`.
    public let rawValue: String

    /// - Parameter rawValue: a name; one that the protocol doesn't have is kept.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// The name.
    public var description: String { rawValue }

    /// The payload has no `pushcrypt` member.
    public static let notSealed = FailureClass(rawValue: "notSealed")
    /// Not JSON by the strict rules, or a member is missing or of the wrong type.
    public static let malformed = FailureClass(rawValue: "malformed")
    /// A protocol version that this code doesn't know.
    public static let unsupportedVersion = FailureClass(rawValue: "unsupportedVersion")
    /// No key of that `kid`, or none of that `skid`.
    public static let unknownKey = FailureClass(rawValue: "unknownKey")
    /// The key can't be read until the device has been unlocked once after its start.
    public static let keyLocked = FailureClass(rawValue: "keyLocked")
    /// The key's time to open or to verify is over.
    public static let keyExpired = FailureClass(rawValue: "keyExpired")
    /// The key was withdrawn.
    public static let keyRevoked = FailureClass(rawValue: "keyRevoked")
    /// Decryption or verification failed.
    public static let undecryptable = FailureClass(rawValue: "undecryptable")
    /// The message's time is over.
    public static let expired = FailureClass(rawValue: "expired")
    /// The message's `iat` is in the future.
    public static let notYetValid = FailureClass(rawValue: "notYetValid")
    /// The message was already handed to the system.
    public static let replayed = FailureClass(rawValue: "replayed")
    /// The deadline passed before the content was ready.
    public static let timedOut = FailureClass(rawValue: "timedOut")
    /// An attachment couldn't be fetched; the text is shown without it.
    public static let attachmentFailed = FailureClass(rawValue: "attachmentFailed")
    /// Something that valid or invalid input can't cause: no entropy, no memory.
    public static let internalError = FailureClass(rawValue: "internalError")
}
