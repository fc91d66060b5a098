import Crypto
public import Foundation

/// The bearer token of a signed-in user, which the part of the backend that signs users in makes with a key that it shares with
/// this service.
///
/// ```
/// user  = 1 to 256 characters in UTF-8, none of them a control character
/// token = BASE64URL(user) "." EXPIRY IN UNIX SECONDS "." BASE64URL(HMAC-SHA256(key, "pushes/1 user" 0x00 BASE64URL(user) "." EXPIRY))
/// ```
public struct UserToken: Sendable {
    private let key: SymmetricKey

    /// - Parameter key: at least 32 random bytes.
    /// - Throws: `ConfigurationError` for a shorter key.
    public init(key: Data) throws(ConfigurationError) {
        guard key.count >= 32 else { throw ConfigurationError("user-token-key", "the key has fewer than 32 bytes") }
        self.key = SymmetricKey(data: key)
    }

    /// Makes a token.
    ///
    /// - Parameter expiry: UNIX seconds.
    public func token(for user: String, until expiry: Int64) -> String {
        token(of: Data(user.utf8), until: expiry)
    }

    func token(of user: Data, until expiry: Int64) -> String {
        let text = "\(user.base64URL).\(expiry)"
        return "\(text).\(Data(code(text)).base64URL)"
    }

    /// Returns the user of a token.
    ///
    /// - Parameter time: UNIX seconds.
    func user(of token: String, at time: Int64) throws(TokenRefusal) -> String {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let user = Data(base64URL: parts[0]), let expiry = Int64(parts[1]),
            let code = Data(base64URL: parts[2])
        else { throw .malformed }
        let text = Data("pushes/1 user\0\(parts[0]).\(parts[1])".utf8)
        // Compares in constant time.
        guard HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: text, using: key) else {
            throw .badSignature
        }
        guard time < expiry else { throw .expired }
        // Two texts that aren't UTF-8 would become one user, and one with NUL another user's name in the database.
        guard let name = String(data: user, encoding: .utf8), Data(name.utf8) == user, name.isUser else {
            throw .badUser
        }
        return name
    }

    private func code(_ text: String) -> HMAC<SHA256>.MAC {
        HMAC<SHA256>.authenticationCode(for: Data("pushes/1 user\0\(text)".utf8), using: key)
    }
}

/// Why a bearer token is refused. Only the log has it, without anything of the token.
enum TokenRefusal: String, Error {
    case missing, malformed, badSignature, expired
    /// The user isn't UTF-8, is too long, or has a control character.
    case badUser
    /// No service token is equal.
    case unknown
}

/// The bearer tokens of other parts of the backend, compared in constant time.
public struct ServiceTokens: Sendable {
    private let key = SymmetricKey(size: .bits256)
    private let codes: [HMAC<SHA256>.MAC]

    /// - Parameter tokens: one or more, each at least 20 characters.
    /// - Throws: `ConfigurationError` for none, and for a shorter one.
    public init(_ tokens: [String]) throws(ConfigurationError) {
        guard !tokens.isEmpty, tokens.allSatisfy({ $0.count >= 20 }) else {
            throw ConfigurationError("service-tokens", "there is no token, or one has fewer than 20 characters")
        }
        codes = tokens.map { [key] in HMAC<SHA256>.authenticationCode(for: Data($0.utf8), using: key) }
    }

    /// Compares with every token, also after one has matched. It compares codes under a random key, so that the time tells nothing
    /// about a token.
    func contains(_ token: String) -> Bool {
        let code = HMAC<SHA256>.authenticationCode(for: Data(token.utf8), using: key)
        return codes.reduce(false) { found, other in (code == other) || found }
    }
}

extension Data {
    var base64URL: String {
        base64EncodedString().replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }

    init?(base64URL text: some StringProtocol) {
        var text = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        text += String(repeating: "=", count: (4 - text.count % 4) % 4)
        self.init(base64Encoded: text)
    }
}
