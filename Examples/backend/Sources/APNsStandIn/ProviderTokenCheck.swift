public import Crypto
import Foundation
import NIOConcurrencyHelpers

/// Checks provider tokens as "Establishing a token-based connection to APNs" describes them:
///
/// ```
/// token   = JWS compact serialisation, ES256
/// header  = {"alg": "ES256", "kid": ID OF THE KEY}
/// claims  = {"iss": ID OF THE TEAM, "iat": UNIX SECONDS}
/// age     at most an hour
/// another token of the same key: at the earliest 20 minutes after the last one
/// ```
/// It shares no code with the service, which makes its tokens with jwt-kit.
public final class ProviderTokenCheck: Sendable {
    /// How old a token may be.
    static let longestAgeInSeconds: Int64 = 3_600
    /// The time between two tokens of a key.
    static let shortestIntervalInSeconds: Int64 = 1_200
    /// By how much the clock of a provider may be ahead. Apple names no number.
    private static let toleranceInSeconds: Int64 = 60

    private struct Header: Decodable {
        let alg: String
        let kid: String
    }

    private struct Claims: Decodable {
        let iss: String
        let iat: Int64
    }

    private struct State {
        /// The tokens that were verified, with their `iat`. A signature is verified once.
        var verified: [String: (kid: String, issuedAt: Int64)] = [:]
        /// The last token of each key.
        var last: [String: (token: String, issuedAt: Int64)] = [:]
    }

    private let teamID: String
    private let keys: [String: P256.Signing.PublicKey]
    private let state = NIOLockedValueBox(State())

    /// - Parameter keys: by key id.
    public init(teamID: String, keys: [String: P256.Signing.PublicKey]) {
        self.teamID = teamID
        self.keys = keys
    }

    /// - Parameter authorization: the header of a request.
    /// - Returns: nil for a valid token.
    func refusal(of authorization: String?, at seconds: Int64) -> Refusal? {
        guard let authorization else { return .missingProviderToken }
        let parts = authorization.split(separator: " ")
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return .missingProviderToken }
        let token = String(parts[1])
        return state.withLockedValue { state in
            guard let (kid, issuedAt) = state.verified[token] ?? verify(token) else { return .invalidProviderToken }
            state.verified[token] = (kid, issuedAt)
            guard issuedAt <= seconds + Self.toleranceInSeconds else { return .invalidProviderToken }
            guard seconds - issuedAt <= Self.longestAgeInSeconds else { return .expiredProviderToken }
            if let last = state.last[kid], last.token != token {
                guard abs(issuedAt - last.issuedAt) >= Self.shortestIntervalInSeconds else {
                    return .tooManyTokenUpdates
                }
                // Two senders may use different tokens until each has renewed its own.
                guard issuedAt > last.issuedAt else { return nil }
            }
            state.last[kid] = (token, issuedAt)
            return nil
        }
    }

    private func verify(_ token: String) -> (kid: String, issuedAt: Int64)? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Data(base64URL: parts[0]), let claims = Data(base64URL: parts[1]),
            let signature = Data(base64URL: parts[2]),
            let header = try? JSONDecoder().decode(Header.self, from: header), header.alg == "ES256",
            let claims = try? JSONDecoder().decode(Claims.self, from: claims), claims.iss == teamID,
            let key = keys[header.kid], let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature),
            key.isValidSignature(signature, for: Data("\(parts[0]).\(parts[1])".utf8))
        else { return nil }
        return (header.kid, claims.iat)
    }
}

extension Data {
    fileprivate init?(base64URL text: Substring) {
        var text = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        text += String(repeating: "=", count: (4 - text.count % 4) % 4)
        self.init(base64Encoded: text)
    }
}
