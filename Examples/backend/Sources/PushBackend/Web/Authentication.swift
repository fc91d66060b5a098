import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import JWTKit

/// What handlers know about their request.
struct APIContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The user whose bearer token the request has; empty for a request of another kind.
    var user = ""

    init(source: ApplicationRequestContextSource) { coreContext = .init(source: source) }
}

/// The bearer tokens of signed-in users: JWTs with HS256 and the claims `sub`, the user, and `exp`. The part of the backend that
/// signs users in makes them with a key that it shares with this service.
struct UserTokens: Sendable {
    struct Claims: JWTPayload {
        let sub: SubjectClaim
        let exp: ExpirationClaim

        /// The expiry is compared with the service's clock.
        func verify(using algorithm: some JWTAlgorithm) {}
    }

    private let keys = JWTKeyCollection()

    /// - Parameter key: at least 32 random bytes.
    /// - Throws: `ConfigurationError` for a shorter key.
    init(key: Data) async throws(ConfigurationError) {
        guard key.count >= 32 else { throw ConfigurationError("user-token-key", "the key has fewer than 32 bytes") }
        await keys.add(hmac: HMACKey(from: key), digestAlgorithm: .sha256)
    }

    /// Returns the user of a token.
    ///
    /// - Parameter time: UNIX seconds.
    /// - Throws: `APIError` with 401.
    func user(of token: String, at time: Int64) async throws(APIError) -> String {
        let claims: Claims
        do { claims = try await keys.verify(token, as: Claims.self) } catch let error as JWTError {
            throw APIError.unauthorized("\(error.errorType)")
        } catch { throw APIError.unauthorized("malformedToken") }
        guard Date(timeIntervalSince1970: TimeInterval(time)) < claims.exp.value else {
            throw APIError.unauthorized("expired")
        }
        // A user with NUL would be another user's name in the database.
        guard claims.sub.value.isUser else { throw APIError.unauthorized("badUser") }
        return claims.sub.value
    }
}

/// The bearer tokens of other parts of the backend.
struct ServiceTokens: Sendable {
    private let digests: [SHA256.Digest]

    /// - Parameter tokens: one or more, each at least 20 characters.
    /// - Throws: `ConfigurationError` for none, and for a shorter one.
    init(_ tokens: [String]) throws(ConfigurationError) {
        guard !tokens.isEmpty, tokens.allSatisfy({ $0.count >= 20 }) else {
            throw ConfigurationError("service-tokens", "there is no token, or one has fewer than 20 characters")
        }
        digests = tokens.map { SHA256.hash(data: Data($0.utf8)) }
    }

    /// Compares digests, in constant time, so that the time tells nothing about a token.
    ///
    /// - Throws: `APIError` with 401 if no token is equal.
    func check(_ token: String) throws(APIError) {
        let digest = SHA256.hash(data: Data(token.utf8))
        guard digests.reduce(false, { found, other in (digest == other) || found }) else {
            throw APIError.unauthorized("unknown")
        }
    }
}

/// Lets requests with an accepted bearer token pass.
struct BearerAuthentication: RouterMiddleware {
    /// Returns the user of a token; an empty text for another part of the backend. It throws `APIError` with 401.
    let user: @Sendable (String) async throws -> String

    func handle(
        _ request: Request, context: APIContext, next: (Request, APIContext) async throws -> Response
    ) async throws -> Response {
        var context = context
        context.user = try await user(request.bearerToken)
        return try await next(request, context)
    }
}

extension Request {
    /// The token of `Authorization: Bearer TOKEN`.
    fileprivate var bearerToken: String {
        get throws(APIError) {
            guard let value = headers[.authorization] else { throw APIError.unauthorized("missing") }
            let parts = value.split(separator: " ", maxSplits: 1)
            guard parts.count == 2, parts[0].lowercased() == "bearer" else {
                throw APIError.unauthorized("malformedToken")
            }
            return String(parts[1])
        }
    }
}
