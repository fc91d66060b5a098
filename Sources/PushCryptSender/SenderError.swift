import PushCryptCore
public import PushCryptPrimitives

/// Why a push wasn't sealed or resealed, or why a device's record, answer or receipt was refused. It contains nothing of the
/// payload and no secret.
///
/// Without a change of the payload, the options, the keys or the configuration, a retry can succeed only after
/// ``Code/backendFailure`` and ``Code/callerFailure``.
public struct SenderError: DescribedError, Hashable, Sendable {
    /// The kind of failure; more may be added.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The name of the code. If the recipient would fail too, it is the raw value of the `FailureClass`.
        public let description: String

        private init(_ name: String) { description = name }

        // Sealing.

        /// The inner payload isn't strict JSON, is too large for any message, has no alert text, or was sealed before.
        public static let invalidPayload = Code("invalidPayload")
        /// The placeholder has no text.
        public static let invalidPlaceholder = Code("invalidPlaceholder")
        /// The protocol doesn't allow a limit, a lifetime or the name of an exposed member.
        public static let invalidOption = Code("invalidOption")
        /// The push retracts others, is quiet, adds to the badge or has an avatar, and it is neither signed nor sealed with a
        /// psk or a shared key. The recipient would ignore all of these.
        public static let notAuthenticated = Code("notAuthenticated")
        /// The suite of the recipient ranks below ``Sealer/Options/minimumSuite``, or the suite of an uploaded record below that of
        /// the registration that it would replace.
        public static let suiteTooLow = Code("suiteTooLow")
        /// The recipient is a shared key itself, and ``Sealer/Options/requiresDevice`` demands the key of a device.
        public static let deviceMissing = Code("deviceMissing")
        /// The device has day keys and none for today, and ``Sealer/Options/requiresDayKey`` demands one.
        public static let noDayKey = Code("noDayKey")
        /// The push expires after the device has erased the key: later than the flight of its device set.
        public static let expiresTooLate = Code("expiresTooLate")
        /// The payload lacks a member to expose, or its value has the wrong type.
        public static let notExposable = Code("notExposable")
        /// The payload is too large, see ``SenderError/bytesNeeded`` and ``SenderError/bytesAvailable``.
        public static let tooLarge = Code("tooLarge")
        /// A function of the caller threw an error of its own: the payload's `encode(to:)`, the change of the options, or the
        /// `store` of an ``OversizePlan``. Sealing one push throws that error itself; batches and observers have this code.
        public static let callerFailure = Code("callerFailure")

        // Resealing.

        /// The payload has no `pushcrypt` member.
        public static let notSealed = Code(FailureClass.notSealed.rawValue)
        /// The payload or message isn't strict JSON, or a member is missing or has the wrong type.
        public static let malformed = Code(FailureClass.malformed.rawValue)
        /// The payload uses a later version of the protocol.
        public static let unsupportedVersion = Code(FailureClass.unsupportedVersion.rawValue)
        /// The keysets have no shared key with that `kid`, or no sender key with that `skid`.
        public static let unknownKey = Code(FailureClass.unknownKey.rawValue)
        /// Decryption or verification failed, for example because the payload uses a device key and no device was given.
        public static let undecryptable = Code(FailureClass.undecryptable.rawValue)
        /// The message has expired, so no recipient would show it.
        public static let expired = Code(FailureClass.expired.rawValue)
        /// The payload is signed, and no sender keyset was given.
        public static let signerMissing = Code("signerMissing")
        /// The keyset contains the keys of another device.
        public static let wrongDevice = Code("wrongDevice")
        /// No key of the set seals or signs at this time.
        public static let noKeySeals = Code("noKeySeals")

        // Registering. A text from a device that doesn't have the protocol's form is `malformed`.

        /// pushcrypt doesn't support the record's key type, curve or `alg`.
        public static let unsupportedKey = Code("unsupportedKey")
        /// The machine's OpenSSL doesn't have the algorithms of the key's suite: suite 3 needs OpenSSL 3.5.
        public static let unsupportedSuite = Code("unsupportedSuite")
        /// The record's point is off the curve or of small order.
        public static let invalidKey = Code("invalidKey")
        /// The record's `kid` isn't the thumbprint of its key.
        public static let kidMismatch = Code("kidMismatch")
        /// The record has a private key, or a key that signs.
        public static let wrongKind = Code("wrongKind")
        /// The record has no psk, and one is required or was there when it was stored.
        public static let pskMissing = Code("pskMissing")
        /// The record has a shared or device key, and a key pair is required.
        public static let notAsymmetric = Code("notAsymmetric")
        /// Another key with the same `kid` is stored, or another device set with the same `seq`. It is never replaced.
        public static let conflict = Code("conflict")
        /// The device set has a lower `seq` than the stored one of the same record.
        public static let rolledBack = Code("rolledBack")
        /// The device set was changed, or made with another psk.
        public static let notAuthentic = Code("notAuthentic")
        /// The device set belongs to another record.
        public static let otherRegistration = Code("otherRegistration")
        /// The key belongs to another account, and the device hasn't proven that it has the private key.
        public static let otherAccount = Code("otherAccount")
        /// The device has answered another challenge than this one.
        public static let otherChallenge = Code("otherChallenge")
        /// The answer came more than 10 minutes after the challenge, or before it.
        public static let challengeExpired = Code("challengeExpired")
        /// The answer is wrong: it was made with another key, for another record or for another host.
        public static let possessionNotProven = Code("possessionNotProven")

        // Sealing, resealing and registering.

        /// The cryptographic library failed: no entropy, no memory. A retry can succeed.
        public static let backendFailure = Code("backendFailure")
    }

    /// The kind of failure.
    public let code: Code
    /// The fault and its place, for a log.
    public let reason: String
    /// The length of the outer payload without padding, in bytes; nil unless the code is `tooLarge`.
    public let bytesNeeded: Int?
    /// The limit, in bytes; nil unless the code is `tooLarge`.
    public let bytesAvailable: Int?
    /// The length, in bytes, if the payload's JSON has UTF-8 in place of escapes such as `\u00e9`; nil if it doesn't fit then.
    public let bytesWithoutEscapes: Int?

    init(
        _ code: Code, _ reason: String, bytesNeeded: Int? = nil, bytesAvailable: Int? = nil,
        bytesWithoutEscapes: Int? = nil
    ) {
        self.code = code
        self.reason = reason
        self.bytesNeeded = bytesNeeded
        self.bytesAvailable = bytesAvailable
        self.bytesWithoutEscapes = bytesWithoutEscapes
    }

    /// ``reason``
    public var description: String { reason }
}

extension SenderError {
    /// Converts what sealing throws, for results that have errors of one type. The text of a caller's error may quote the
    /// payload, so only the error's type is named.
    init(sealing error: any Error) {
        switch error {
        case let error as SenderError: self = error
        case is EncodingError: self.init(.invalidPayload, "the payload can't be encoded as JSON")
        default: self.init(.callerFailure, "a function of the caller threw an error of type \(type(of: error))")
        }
    }

    /// Converts any error of the layers below. Errors of JSON and payload are about the inner payload, those of keys about
    /// the choice of a key.
    package init(_ error: any Error) {
        switch error {
        case let error as SenderError: self = error
        case let flaw as InnerPayload.Flaw: self.init(.invalidPayload, flaw.reason)
        case let error as JSONError: self.init(.invalidPayload, "the payload is not strict JSON: \(error)")
        case let error as KeyError where error.code == .wrongDevice: self.init(.wrongDevice, error.reason)
        case let error as KeyError where error.code == .suiteTooLow: self.init(.suiteTooLow, error.reason)
        case let error as KeyError where error.code == .noKeySeals: self.init(.noKeySeals, error.reason)
        default: self.init(.backendFailure, "\(error)")
        }
    }
}
