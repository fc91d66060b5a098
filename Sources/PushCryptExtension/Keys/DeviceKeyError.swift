public import PushCryptCore

/// Why the device's keys, or the senders that it has pinned, can't be read or changed. It carries no key bytes.
public struct DeviceKeyError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of failure; more may be added.
    public struct Code: Hashable, Sendable {
        let name: String

        /// The storage can't be read before the device's first unlock. Try again after it; never make a new key now.
        public static let locked = Code(name: "locked")
        /// There is no such key, or nothing is pinned yet.
        public static let notFound = Code(name: "notFound")
        /// Another key has the same id, or another set the same number.
        public static let conflict = Code(name: "conflict")
        /// The stored bytes aren't the ones that were written, or the private half is gone. Trying again doesn't help.
        public static let damaged = Code(name: "damaged")
        /// A link, no regular file, or a file or folder that belongs to another user, who isn't root, or that others than
        /// the owner can change or read.
        public static let insecure = Code(name: "insecure")
        /// The app lacks an entitlement: the keychain access group isn't its own.
        public static let notEntitled = Code(name: "notEntitled")
        /// A key or set of a kind that has no place here.
        public static let unsuitable = Code(name: "unsuitable")
        /// A newer key was registered since.
        public static let superseded = Code(name: "superseded")
        /// An older set of sender keys than the pinned one.
        public static let rolledBack = Code(name: "rolledBack")
        /// The system failed: no space, no entropy, a status that nobody foresaw.
        public static let failed = Code(name: "failed")
    }

    /// The kind of failure.
    public let code: Code
    /// What is wrong and where.
    public let reason: String

    /// Makes an error of its members.
    public init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    /// The reason.
    public var description: String { reason }

    /// The failure class of a push that needed the key.
    ///
    /// A damaged key is as good as none: it will never open anything, and a new registration helps, which is the advice for
    /// `unknownKey`. If a new key wouldn't help, the class is `internalError`.
    public var failureClass: FailureClass {
        switch code {
        case .notFound, .damaged: .unknownKey
        case .locked: .keyLocked
        default: .internalError
        }
    }
}
