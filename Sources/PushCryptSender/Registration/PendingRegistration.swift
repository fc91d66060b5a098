public import PushCryptCore
import PushCryptPrimitives

/// A registration whose device hasn't answered the challenge yet. It is `Codable` as one JSON value. The value contains the
/// record and is as secret as the record. It doesn't contain the challenge's nonce, so that a reader of the value can't answer.
///
/// Store it under its ``id`` until the answer arrives. Remove it from the store before you call ``confirm(answer:at:)``, so that
/// only one answer to a challenge is checked, and remove values that are older than 10 minutes.
public struct PendingRegistration: Sendable {
    /// The member `registration` of the challenge and of the answer, 22 characters.
    public let id: String
    /// The uploaded record. Don't seal to it before the device has answered.
    public let registration: Registration
    /// When the challenge was made, by the backend's clock.
    public let challengedAt: UnixTime
    /// SHA-256 of the expected code.
    private let codeDigest: [UInt8]

    /// How long after the challenge an answer is accepted: 10 minutes. Because the clocks of two hosts may differ, an answer is
    /// also accepted up to this time before ``challengedAt``.
    public static let validity = Duration.seconds(validityInSeconds)
    /// ``validity`` in seconds.
    public static let validityInSeconds: Int64 = 600

    init(id: String, registration: Registration, codeDigest: [UInt8], challengedAt: UnixTime) {
        self.id = id
        self.registration = registration
        self.codeDigest = codeDigest
        self.challengedAt = challengedAt
    }

    /// Returns the id of the challenge that an answer is for, to find the value in the store.
    ///
    /// - Parameter json: the answer, UTF-8 JSON of at most 4,096 bytes.
    /// - Throws: `SenderError` with `malformed`.
    public static func id(ofAnswer json: some Collection<UInt8>) throws(SenderError) -> String {
        try text(json).registrationID.description
    }

    /// Checks the device's answer.
    ///
    /// - Parameters:
    ///   - json: the answer, UTF-8 JSON of at most 4,096 bytes.
    ///   - time: the backend's clock; `UnixTime(date)` is the time of a `Date`.
    /// - Returns: the registration. It is proven that the device has the private key and the psk of its record.
    /// - Throws: `SenderError` with `malformed`; `otherChallenge` for an answer to another challenge; `challengeExpired` more
    ///   than 10 minutes from ``challengedAt``; `possessionNotProven` for a wrong answer: another key, record or host.
    public func confirm(
        answer json: some Collection<UInt8>, at time: UnixTime = .now
    ) throws(SenderError) -> Registration {
        let answer = try Self.text(json)
        guard answer.registrationID.description == id else {
            throw SenderError(.otherChallenge, "the answer is for another challenge")
        }
        guard (challengedAt - Self.validityInSeconds...challengedAt + Self.validityInSeconds).contains(time) else {
            throw SenderError(.challengeExpired, "the challenge was made at \(challengedAt), and it is \(time)")
        }
        let digest: [UInt8]
        do { digest = try DefaultBackend.shared.sha256(answer.code.bytes) } catch { throw SenderError(error) }
        guard constantTimeEqual(digest.bytes, codeDigest.bytes) else {
            throw SenderError(
                .possessionNotProven,
                "the answer for key \(registration.kid) is wrong: another key, record (byte for byte) or host")
        }
        return registration
    }

    private static func text(_ json: some Collection<UInt8>) throws(SenderError) -> PossessionAnswerText {
        guard json.count <= Possession.maximumByteCount, let answer = PossessionAnswerText(json: Array(json)) else {
            throw SenderError(.malformed, "the answer isn't JSON with the members registration and answer")
        }
        return answer
    }
}

extension PendingRegistration: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The id, the kid and the time; never the secret.
    public var description: String {
        "PendingRegistration(id: \(id), kid: \(registration.kid), at: \(challengedAt), redacted)"
    }
    /// As ``description``.
    public var debugDescription: String { description }
    /// A mirror without secrets, so that a dump shows none.
    public var customMirror: Mirror { Mirror(self, children: ["id": id, "registration": registration]) }
}

/// ```
/// {"version": 1, "id": RID, "registration": Registration, "codeDigest": BASE64URL(32 bytes), "challengedAt": SECONDS}
/// ```
extension PendingRegistration: Codable {
    private enum Member: String, CodingKey {
        case version, id, registration, codeDigest, challengedAt
    }

    /// Reads a stored value.
    ///
    /// - Throws: `SenderError` with `malformed`, the errors of ``Registration``, `DecodingError`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Member.self)
        let digest = try container.decode(String.self, forKey: .codeDigest)
        guard try container.decode(Int.self, forKey: .version) == 1,
            let codeDigest = Base64URL.decode(Array(digest.utf8)[...]), codeDigest.count == HKDF.hashByteCount
        else { throw SenderError(.malformed, "the stored pending registration has another version or form") }
        self.init(
            id: try container.decode(String.self, forKey: .id),
            registration: try container.decode(Registration.self, forKey: .registration), codeDigest: codeDigest,
            challengedAt: UnixTime(try container.decode(Int64.self, forKey: .challengedAt)))
    }

    /// Writes the value with the record's secret. The text can't be wiped. Write it only to the database.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Member.self)
        try container.encode(1, forKey: .version)
        try container.encode(id, forKey: .id)
        try container.encode(registration, forKey: .registration)
        try container.encode(Base64URL.encode(codeDigest), forKey: .codeDigest)
        try container.encode(challengedAt.seconds, forKey: .challengedAt)
    }
}
