public import PushCryptCore
import PushCryptPrimitives

/// The record that an app uploaded so that the backend can seal to the device (PROTOCOL section 3), parsed and checked.
///
/// ```
/// let registration = try Registration(json: body, requiring: [.psk, .asymmetric])
/// let recipient = Recipient(registration)
/// ```
/// Store the value with the account and the device token. It is `Codable` as one JSON value, which is a secret like a password.
/// ``RegistrationChange`` decides which stored value an upload replaces.
public struct Registration: Sendable {
    /// What a backend requires of a record.
    public struct Requirements: OptionSet, Hashable, Sendable {
        /// The bits of the requirements.
        public let rawValue: UInt8
        /// Makes requirements from their bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// A secret that only app and backend have, so that only this backend can seal to the device: a psk, or a shared or
        /// device key.
        public static let psk = Requirements(rawValue: 1)
        /// A key pair and no shared or device key, so that the backend can't open what it has sealed.
        public static let asymmetric = Requirements(rawValue: 2)
    }

    /// The longest record, in bytes, without its device set.
    public static let maximumByteCount = 4_096

    /// The id of the record's key.
    public let kid: KeyID
    /// The suite of messages to the key.
    public let suite: Suite
    /// Whether a key pair's record has a pre-shared key.
    public let hasPSK: Bool
    /// The record as uploaded, a secret. The text can't be wiped: write it only to a database.
    package var recordText: String { String(decoding: Array(text.bytes), as: UTF8.self) }
    /// SHA-256 of the record as uploaded, 32 bytes.
    let digest: [UInt8]
    /// The record as uploaded.
    let text: SecretBytes
    private let record: KeyRecord
    fileprivate let recipient: Recipient

    /// Reads an uploaded record.
    ///
    /// - Parameters:
    ///   - json: the body of the upload, byte for byte, UTF-8 JSON. Wipe it afterwards.
    ///   - requirements: what the record must have; `[.psk, .asymmetric]` for the records of `DeviceIdentity` by default.
    /// - Throws: `SenderError` with `malformed`, `tooLarge`, `unsupportedKey`, `unsupportedSuite`, `invalidKey`, `kidMismatch`; `wrongKind` for a
    ///   private key or a key that signs; `pskMissing`, `notAsymmetric` if a requirement isn't met; `backendFailure`.
    public init(json: some Collection<UInt8>, requiring requirements: Requirements) throws(SenderError) {
        try self.init(json: json, requiring: requirements, backend: DefaultBackend.shared)
    }

    /// - Parameter isStored: whether the record was read before it was stored. Then its day keys were checked.
    package init(
        json: some Collection<UInt8>, requiring requirements: Requirements, isStored: Bool = false,
        backend: any CryptoBackend
    ) throws(SenderError) {
        var bytes = Array(json)
        defer { wipe(&bytes) }
        do {
            let root = try JSONText(bytes, maximumCount: Self.maximumTextByteCount).root
            let byteCount = bytes.count - (root[DeviceSet.memberName]?.rawBytes.count ?? 0)
            guard byteCount <= Self.maximumByteCount else {
                throw SenderError(
                    .tooLarge, "the record has \(byteCount) bytes and the limit is \(Self.maximumByteCount)",
                    bytesNeeded: byteCount, bytesAvailable: Self.maximumByteCount)
            }
            record = try KeyRecord(root, backend: backend)
            if !isStored { try record.deviceSet?.checkKeys() }
            recipient = try Recipient(Keyset.Entry(record, KeyLifecycle()))
            digest = try backend.sha256(bytes.bytes)
        } catch {
            throw SenderError(registration: error)
        }
        text = SecretBytes(copying: bytes.bytes)
        kid = record.kid
        suite = recipient.suite
        hasPSK = record.hasPSK
        try check(requirements)
    }

    /// The longest record with a device set whose characters are all escaped, in bytes.
    private static let maximumTextByteCount = maximumByteCount + 6 * DeviceSet.maximumByteCount

    /// How many days from `time` on have a day key of the device; nil if the record has no device set. Call it to see which apps
    /// haven't run for long.
    public func dayKeysLeft(at time: UnixTime) -> Int? {
        record.deviceSet.map { set in
            set.days.reduce(0) { $0 + Int(max(0, $1.retiresAt.seconds - max($1.activatesAt, time).seconds)) } / 86_400
        }
    }

    /// Checks requirements, for example for a registration that was stored before the backend had them.
    ///
    /// - Throws: `SenderError` with `pskMissing`, `notAsymmetric`.
    public func check(_ requirements: Requirements) throws(SenderError) {
        if requirements.contains(.psk) {
            do throws(KeyError) { try recipient.requirePSK() } catch { throw SenderError(.pskMissing, error.reason) }
        }
        if requirements.contains(.asymmetric), suite == .shared {
            throw SenderError(.notAsymmetric, "key \(kid) is a shared secret, and a key pair is required")
        }
    }

    /// Checks that the record may replace another one of the same device: its suite must not rank below that of the other one
    /// (PROTOCOL section 3). ``RegistrationChange`` does it; call it in a backend that decides otherwise what an upload replaces.
    ///
    /// - Throws: `SenderError` with `suiteTooLow`.
    public func checkSuite(replacing earlier: Registration) throws(SenderError) {
        guard !suite.isAtLeast(earlier.suite) else { return }
        throw SenderError(
            .suiteTooLow,
            "key \(kid) has suite \(suite.rawValue) (\(suite)), which ranks below suite \(earlier.suite.rawValue) "
                + "(\(earlier.suite)) of key \(earlier.kid), which it would replace: let the app make a key pair of that suite, "
                + "or allow the lower one for this device")
    }

    /// Checks that the device set may replace that of a stored record of the same key (PROTOCOL section 14). ``RegistrationChange``
    /// does it. A record without a set replaces every set.
    ///
    /// - Throws: `SenderError` with `rolledBack` for a lower `seq`, `conflict` for another set with the same `seq`.
    public func checkDeviceSet(replacing stored: Registration) throws(SenderError) {
        guard let new = record.deviceSet, let old = stored.record.deviceSet else { return }
        guard new.sequence >= old.sequence else {
            throw SenderError(
                .rolledBack, "the device set of key \(kid) has seq \(new.sequence), and the stored one \(old.sequence)")
        }
        guard new.sequence > old.sequence || new.set == old.set else {
            throw SenderError(.conflict, "another device set of key \(kid) with seq \(new.sequence) is stored")
        }
    }

    /// Whether both records have the same key, with the same psk and device. Equal kids aren't enough: an attacker can make two
    /// keys with the same 64-bit id.
    public func hasSameKey(as other: Registration) -> Bool { record.isSameKey(as: other.record) }
}

extension Registration: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The kid, the suite and whether there is a psk; never the secret.
    public var description: String {
        "Registration(kid: \(kid), suite: \(suite.rawValue), hasPSK: \(hasPSK), redacted)"
    }
    /// As ``description``.
    public var debugDescription: String { description }
    /// A mirror without secrets, so that a dump shows none.
    public var customMirror: Mirror {
        Mirror(self, children: ["kid": kid, "suite": suite.rawValue, "hasPSK": hasPSK])
    }
}

extension Recipient {
    /// The key to seal to.
    public init(_ registration: Registration) { self = registration.recipient }
}

extension SenderError {
    /// An error of reading a record. It has no characters of the record except its kid.
    init(registration error: any Error) {
        switch error {
        case let error as SenderError: self = error
        case let error as JSONError where error.code == .tooLong:
            self.init(.tooLarge, "the record is longer than a record can be")
        case let error as JSONError: self.init(.malformed, "the record is not strict JSON: \(error)")
        case let error as KeyError: self.init(Code(registration: error.code), error.reason)
        default: self.init(.backendFailure, "\(error)")
        }
    }
}

extension SenderError.Code {
    fileprivate init(registration code: KeyError.Code) {
        self =
            switch code {
            case .unsupportedKey: .unsupportedKey
            case .unsupportedSuite: .unsupportedSuite
            case .invalidKey: .invalidKey
            case .kidMismatch: .kidMismatch
            case .wrongKind: .wrongKind
            case .tooLarge: .tooLarge
            case .notAuthentic: .notAuthentic
            case .otherRegistration: .otherRegistration
            case .backendFailure: .backendFailure
            default: .malformed
            }
    }
}

/// One JSON value for a column of a database:
///
/// ```
/// {"version": 1, "kid": KID, "hasPSK": Bool, "record": TEXT}          TEXT: the record as uploaded
/// ```
/// The record is one string, so that a database that rewrites JSON doesn't change its bytes. `hasPSK` is written beside it, so
/// that a record whose psk was removed is refused and isn't sealed to without it.
extension Registration: Codable {
    private enum Member: String, CodingKey {
        case version, kid, hasPSK, record
    }

    /// Reads a stored registration.
    ///
    /// - Throws: `SenderError` with `pskMissing` if the record had a psk and has none; `malformed` for another version, or if
    ///   `kid` or `hasPSK` differ from the record's; the errors of ``init(json:requiring:)``; `DecodingError`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Member.self)
        guard try container.decode(Int.self, forKey: .version) == 1 else {
            throw SenderError(.malformed, "the stored registration has another version")
        }
        let text = try container.decode(String.self, forKey: .record)
        try self.init(json: text.utf8, requiring: [], isStored: true, backend: DefaultBackend.shared)
        let kid = try container.decode(String.self, forKey: .kid)
        let hadPSK = try container.decode(Bool.self, forKey: .hasPSK)
        if hadPSK { try check(.psk) }
        guard kid == self.kid.description, hadPSK == hasPSK else {
            throw SenderError(.malformed, "the stored record of key \(kid) was replaced")
        }
    }

    /// Writes the registration with its secret. The text can't be wiped. Write it only to the database.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Member.self)
        try container.encode(1, forKey: .version)
        try container.encode(kid.description, forKey: .kid)
        try container.encode(hasPSK, forKey: .hasPSK)
        try container.encode(recordText, forKey: .record)
    }
}
