import Foundation
import PushCryptCore
import PushCryptExtension
import PushCryptPrimitives
import PushCryptSender
import PushCryptTestSupport
import Testing

/// Conformance/vectors/possession-v1.json: challenges with their answers.
@Suite("proofs of possession of the Python package")
struct PossessionVectorTests {
    struct File: Decodable, Sendable {
        let challenges: [Challenge]
        let pending: Pending
        let answers: [Answer]

        static let shared = Result { try Vectors.loadOwn("possession-v1.json", as: File.self) }
    }

    struct Challenge: Decodable, Sendable, CustomStringConvertible {
        let name: String
        /// nil for a challenge that is answered.
        let failure: String?
        /// A JWK, and the pinned senders as a JWK set.
        let keyset: String
        let senders: String?
        let topic: String
        let at: Int64
        let host: String
        let record: String
        let challenge: String
        let answer: String?

        var description: String { name }
    }

    /// What the backend has stored of the challenge that the `answers` are for.
    struct Pending: Decodable, Sendable {
        let record: String
        let host: String
        let nonce: String
        let registration: String
        let codeDigest: String
        let challengedAt: Int64
    }

    struct Answer: Decodable, Sendable, CustomStringConvertible {
        let name: String
        let failure: String?
        let answer: String
        let at: Int64

        var description: String { name }
    }

    @Test(
        "a challenge is answered, or is refused, as the vector says",
        arguments: Backends.pairs(with: try File.shared.get().challenges) { $0.name.hasPrefix("xwing") })
    func challenge(_ vector: Challenge, _ named: NamedBackend) throws {
        let senders = try vector.senders.map { text in
            SenderTrust.pinned(try TrustedSenders(json: Array(text.utf8)))
        }
        let opener = try Opener(
            topic: vector.topic,
            keyring: KeysetKeyring(Keyset(json: Array(vector.keyset.utf8), backend: named.backend)),
            senders: senders ?? .unsigned)
        let record = SecretBytes(copying: Array(vector.record.utf8).bytes)
        do {
            let answer = try opener.answer(
                challenge: Array(vector.challenge.utf8), record: record, host: vector.host, at: UnixTime(vector.at))
            #expect(vector.failure == nil)
            #expect(String(decoding: answer, as: UTF8.self) == vector.answer)
        } catch let failure as FailureClass {
            #expect(failure.rawValue == vector.failure)
        }
    }

    @Test(
        "an answer is accepted, or is refused with its code, as the vector says",
        arguments: try File.shared.get().answers)
    func answer(_ vector: Answer) throws {
        let pending = try Self.pending()
        do throws(SenderError) {
            let registration = try pending.confirm(answer: vector.answer.utf8, at: UnixTime(vector.at))
            #expect(vector.failure == nil && registration.kid == pending.registration.kid)
        } catch {
            #expect(error.code.description == vector.failure)
        }
    }

    /// The value as a backend reads it from its database.
    private static func pending() throws -> PendingRegistration {
        let made = try File.shared.get().pending
        let registration = try JSONEncoder().encode(Registration(json: made.record.utf8, requiring: .psk))
        let json = """
            {"version":1,"id":"\(made.registration)","registration":\(String(decoding: registration, as: UTF8.self)),
             "codeDigest":"\(made.codeDigest)","challengedAt":\(made.challengedAt)}
            """
        return try JSONDecoder().decode(PendingRegistration.self, from: Data(json.utf8))
    }

    @Test(
        "the stored digest is that of the code that the nonce, the host, the id and the record give",
        arguments: Backends.all)
    func code(named: NamedBackend) throws {
        let made = try File.shared.get().pending
        let nonce = try #require(Base64URL.decode(Array(made.nonce.utf8)[...]))
        let code = Possession.code(
            nonce: nonce.bytes, host: try HostName(made.host),
            registrationID: try #require(RegistrationID(made.registration)),
            recordDigest: try named.backend.sha256(Array(made.record.utf8).bytes), backend: named.backend)
        #expect(Base64URL.encode(try named.backend.sha256(code.bytes)) == made.codeDigest)
    }

    @Test("the file has challenges of fourteen modes, and each class and code that one can fail with")
    func counts() throws {
        let file = try File.shared.get()
        #expect(file.challenges.filter { $0.failure == nil }.count == 98)
        #expect(file.challenges.count > 450 && file.answers.count > 40)
        #expect(Set(file.challenges.map { $0.name.prefix { $0 != ":" } }).count == 14)
        let classes: Set<String> = ["malformed", "unsupportedVersion", "unknownKey", "undecryptable"]
        #expect(Set(file.challenges.compactMap(\.failure)) == classes)
        let codes: Set<String> = ["malformed", "otherChallenge", "challengeExpired", "possessionNotProven"]
        #expect(Set(file.answers.compactMap(\.failure)) == codes)
    }
}
