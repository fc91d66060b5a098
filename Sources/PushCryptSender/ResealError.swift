import PushCryptCore

/// Why a queued payload wasn't sealed again. It carries nothing of what was sealed.
public struct ResealError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of failure; more may be added. Where the recipient would fail too, it has the name of that
    /// `FailureClass`.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        public let description: String

        private init(_ name: String) {
            description = name
        }

        private init(_ failure: FailureClass) {
            description = failure.rawValue
        }

        /// The payload has no `pushcrypt` member.
        public static let notSealed = Code(.notSealed)
        /// Payload or message: not strict JSON, or a member is missing or of the wrong type.
        public static let malformed = Code(.malformed)
        /// A protocol version of the future.
        public static let unsupportedVersion = Code(.unsupportedVersion)
        /// No shared key of that `kid`, or no sender's key of that `skid`.
        public static let unknownKey = Code(.unknownKey)
        /// Decryption or verification failed. A payload for a device's key that comes without its device is one.
        public static let undecryptable = Code(.undecryptable)
        /// The message's time is over: nobody would show it.
        public static let expired = Code(.expired)
        /// The payload is signed, and there is no sender's keyset to sign it again with.
        public static let signerMissing = Code("signerMissing")
        /// The keyset holds one device's own keys, and the payload is for another device.
        public static let wrongDevice = Code("wrongDevice")
        /// No key of the set may seal or sign at this time.
        public static let noKeySeals = Code("noKeySeals")
        /// The cryptographic library failed: no entropy, no memory.
        public static let internalError = Code(.internalError)
    }

    public let code: Code
    /// What is wrong and what mends it.
    public let reason: String

    init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    public var description: String { reason }
}

extension ResealError {
    /// Of a key that can't be had from a keyset.
    init(_ error: any Error) {
        switch error {
        case let error as KeyError where error.code == .wrongDevice: self.init(.wrongDevice, error.reason)
        case let error as KeyError where error.code == .noKeySeals: self.init(.noKeySeals, error.reason)
        default: self.init(.internalError, "\(error)")
        }
    }
}
