/// Why a push wasn't restored (PROTOCOL section 8). The class is all that anybody learns: a bad tag, a bad point and
/// a bad signature are one class, so that nobody can ask the recipient questions about a forgery.
public struct FailureClass: RawRepresentable, Error, Hashable, Sendable, CustomStringConvertible {
    public let rawValue: String

    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    public var description: String { rawValue }

    /// The payload has no `pushcrypt` member.
    public static let notSealed = FailureClass(rawValue: "notSealed")
    /// Not JSON by the strict rules, or a member is missing or of the wrong type.
    public static let malformed = FailureClass(rawValue: "malformed")
    /// A protocol version of the future.
    public static let unsupportedVersion = FailureClass(rawValue: "unsupportedVersion")
    /// No key of that `kid`, or none of that `skid`.
    public static let unknownKey = FailureClass(rawValue: "unknownKey")
    /// The key can't be read before the device was unlocked once.
    public static let keyLocked = FailureClass(rawValue: "keyLocked")
    /// The key's time to open or to verify is over.
    public static let keyExpired = FailureClass(rawValue: "keyExpired")
    /// The key was withdrawn.
    public static let keyRevoked = FailureClass(rawValue: "keyRevoked")
    /// Decryption or verification failed.
    public static let undecryptable = FailureClass(rawValue: "undecryptable")
    /// The message's time is over.
    public static let expired = FailureClass(rawValue: "expired")
    /// The message comes from the future.
    public static let notYetValid = FailureClass(rawValue: "notYetValid")
    /// The message was handed over before.
    public static let replayed = FailureClass(rawValue: "replayed")
    /// The deadline came before the content.
    public static let timedOut = FailureClass(rawValue: "timedOut")
    /// An attachment couldn't be fetched; the text is shown all the same.
    public static let attachmentFailed = FailureClass(rawValue: "attachmentFailed")
    /// Something that valid or invalid input can't cause: no entropy, no memory.
    public static let internalError = FailureClass(rawValue: "internalError")
}
