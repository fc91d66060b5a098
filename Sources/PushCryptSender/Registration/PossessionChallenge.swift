import PushCryptCore
import PushCryptPrimitives

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A question to a device whose answer proves that it has the private key of its record (PROTOCOL section 13).
public struct PossessionChallenge: Sendable {
    /// The challenge, UTF-8 JSON: the body of the response to the upload.
    public let json: Data
    /// What the backend stores until the device answers, with the account and the device token of the upload.
    public let pending: PendingRegistration
}

extension Sealer {
    /// Makes a challenge for an uploaded record, with the sealer's topic, signing key and clock.
    ///
    /// - Parameters:
    ///   - registration: what the app has uploaded.
    ///   - host: the host that the app registers with, in lower case and without port, as the app knows it.
    /// - Throws: `SenderError` with `invalidOption` for a host of another form, `noKeySeals`, `backendFailure`.
    public func challenge(_ registration: Registration, host: String) throws(SenderError) -> PossessionChallenge {
        let recipient = Recipient(registration)
        let backend = recipient.backend
        do {
            let host = try HostName(host)
            let time = clock()
            let signer = try signer?.choice(at: time).key
            let id = try RegistrationID.random(backend)
            let secret = try backend.randomSecret(count: Possession.nonceByteCount)
            var nonce = Array(secret.bytes)
            defer { wipe(&nonce) }
            let sealed = try Envelope.seal(nonce, to: recipient, signer: signer, topic: topic, as: .challenge)
            let code = Possession.code(
                nonce: secret.bytes, host: host, registrationID: id, recordDigest: registration.digest,
                backend: backend)
            let text = PossessionChallengeText(
                registrationID: id, kid: recipient.kid, skid: signer?.kid, sealed: sealed)
            return PossessionChallenge(
                json: Data(text.json),
                pending: PendingRegistration(
                    id: id.description, registration: registration, codeDigest: try backend.sha256(code.bytes),
                    challengedAt: time))
        } catch let error as KeyError where error.code == .invalidHost {
            throw SenderError(.invalidOption, error.reason)
        } catch {
            throw SenderError(error)
        }
    }
}
