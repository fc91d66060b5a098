import Crypto
public import Foundation

/// The token that authenticates a backend to APNs: a JWT with ES256, made of the `.p8` key from Apple's developer site.
///
/// APNs accepts a token for an hour, and another one at the earliest after 20 minutes. Use one value for all pushes.
public actor ProviderToken {
    private static let lifetime: TimeInterval = 50 * 60

    private let key: P256.Signing.PrivateKey
    private let keyID: String
    private let teamID: String
    private let clock: @Sendable () -> Date
    private var made: (text: String, at: Date)?

    /// - Parameters:
    ///   - key: the text of the `.p8` file.
    ///   - keyID: the key's id, 10 characters.
    ///   - teamID: the team's id, 10 characters.
    ///   - clock: the time of the tokens.
    /// - Throws: `CryptoKitASN1Error` or `CryptoKitError` for another text.
    public init(
        key: String, keyID: String, teamID: String, clock: @escaping @Sendable () -> Date = { Date() }
    ) throws {
        self.key = try P256.Signing.PrivateKey(pemRepresentation: key)
        (self.keyID, self.teamID, self.clock) = (keyID, teamID, clock)
    }

    /// The token of this time.
    func current() throws -> String {
        let now = clock()
        if let made, now.timeIntervalSince(made.at) < Self.lifetime { return made.text }
        return try make(at: now)
    }

    /// Another token, if `expired` is the current one.
    func renewed(_ expired: String) throws -> String {
        if let made, made.text != expired { return made.text }
        return try make(at: clock())
    }

    private func make(at time: Date) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let header = try encoder.encode(["alg": "ES256", "kid": keyID])
        let claims = try encoder.encode(Claims(iss: teamID, iat: Int64(time.timeIntervalSince1970)))
        let text = "\(header.base64URL).\(claims.base64URL)"
        let token = "\(text).\(try key.signature(for: Data(text.utf8)).rawRepresentation.base64URL)"
        made = (token, time)
        return token
    }

    private struct Claims: Encodable {
        let iss: String
        let iat: Int64
    }
}

extension Data {
    fileprivate var base64URL: String {
        base64EncodedString().replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }
}
