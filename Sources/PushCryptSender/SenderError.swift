import PushCryptCore

/// Why a push wasn't sealed, or a queued one not sealed again. It carries nothing of the payload.
///
/// Only ``Code/backendFailure`` may go away by itself. Everything else fails again until the payload, the options, the keys
/// or the configuration change.
public struct SenderError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of failure; more may be added.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The name of the code, as here. Where the recipient would fail too, it is the raw value of that
        /// `FailureClass`.
        public let description: String

        private init(_ name: String) {
            description = name
        }

        // Sealing.

        /// The inner payload isn't strict JSON, is too large for any message, has no alert text, or was sealed before.
        public static let invalidPayload = Code("invalidPayload")
        /// The placeholder has no text.
        public static let invalidPlaceholder = Code("invalidPlaceholder")
        /// A limit, a lifetime or the name of an exposed member that the protocol doesn't have.
        public static let invalidOption = Code("invalidOption")
        /// The payload doesn't have a member that is to be exposed, or its value isn't of the member's type.
        public static let notExposable = Code("notExposable")
        /// The payload doesn't fit; ``SenderError/bytesNeeded`` and ``SenderError/bytesAvailable`` say by how much.
        public static let tooLarge = Code("tooLarge")

        // Sealing again.

        /// The payload has no `pushcrypt` member.
        public static let notSealed = Code(FailureClass.notSealed.rawValue)
        /// Payload or message: not strict JSON, or a member is missing or of the wrong type.
        public static let malformed = Code(FailureClass.malformed.rawValue)
        /// A later version of the protocol.
        public static let unsupportedVersion = Code(FailureClass.unsupportedVersion.rawValue)
        /// No shared key of that `kid`, or no sender's key of that `skid`.
        public static let unknownKey = Code(FailureClass.unknownKey.rawValue)
        /// Decryption or verification failed, also because a payload for one device's key comes without the device.
        public static let undecryptable = Code(FailureClass.undecryptable.rawValue)
        /// The message has expired: no recipient would show it.
        public static let expired = Code(FailureClass.expired.rawValue)
        /// The payload is signed, and there is no sender's keyset to sign it again with.
        public static let signerMissing = Code("signerMissing")
        /// The keyset holds one device's own keys, and the payload is for another device.
        public static let wrongDevice = Code("wrongDevice")
        /// No key of the set may seal or sign at this time.
        public static let noKeySeals = Code("noKeySeals")

        // Both.

        /// The cryptographic library failed: no entropy, no memory. The only code that is worth another try.
        public static let backendFailure = Code("backendFailure")
    }

    /// The kind of failure.
    public let code: Code
    /// What is wrong and where, for a log.
    public let reason: String
    /// With `tooLarge`: the length of the outer payload without any padding, in bytes.
    public let bytesNeeded: Int?
    /// With `tooLarge`: the limit, in bytes.
    public let bytesAvailable: Int?

    init(_ code: Code, _ reason: String, bytesNeeded: Int? = nil, bytesAvailable: Int? = nil) {
        self.code = code
        self.reason = reason
        self.bytesNeeded = bytesNeeded
        self.bytesAvailable = bytesAvailable
    }

    /// ``reason``
    public var description: String { reason }
}

extension SenderError {
    /// Any error of the layers below. Errors of JSON and payload come from the inner payload; those of keys from choosing a
    /// key of a keyset.
    init(_ error: any Error) {
        switch error {
        case let error as SenderError: self = error
        case let flaw as InnerPayload.Flaw: self.init(.invalidPayload, flaw.reason)
        case let error as JSONError: self.init(.invalidPayload, "the payload is not strict JSON: \(error)")
        case let error as KeyError where error.code == .wrongDevice: self.init(.wrongDevice, error.reason)
        case let error as KeyError where error.code == .noKeySeals: self.init(.noKeySeals, error.reason)
        default: self.init(.backendFailure, "\(error)")
        }
    }
}
