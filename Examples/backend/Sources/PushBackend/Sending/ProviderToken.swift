import Foundation
import JWTKit

/// The key from Apple's developer site, a `.p8` file.
public struct ProviderKey: Sendable {
    let key: ES256PrivateKey

    /// - Throws: `ConfigurationError` if the text isn't a private key for P-256.
    public init(pem: String) throws(ConfigurationError) {
        do { key = try ES256PrivateKey(pem: pem) } catch {
            throw ConfigurationError(
                "provider-key", "this isn't a P-256 private key as PEM, such as a .p8 file from Apple's developer site")
        }
    }
}

/// Makes the tokens that authenticate this backend to APNs.
///
/// APNs refuses a token that is older than an hour, and a second one within 20 minutes. So one token is used for 50 minutes. It is
/// kept in the store, so that the same token is used after a restart.
public actor ProviderToken {
    /// The age at which a token is replaced.
    static let renewalAgeInSeconds: Int64 = 50 * 60
    /// The age at which APNs allows another one.
    static let shortestAgeInSeconds: Int64 = 20 * 60
    private static let setting = "providerToken"

    private struct Claims: JWTPayload {
        var iss: IssuerClaim
        var iat: IssuedAtClaim

        func verify(using algorithm: some JWTAlgorithm) async throws {}
    }

    private struct Kept: Codable {
        let token: String
        let keyID: String
        let teamID: String
        let issuedAt: Int64
    }

    private let keys: JWTKeyCollection
    private let keyID: String
    private let teamID: String
    private let store: SQLiteStore
    private let milliseconds: @Sendable () -> Int64
    private var kept: Kept?
    private var isRead = false
    private var renewal: Task<Kept, any Error>?

    /// - Parameters:
    ///   - keyID: the id of the key.
    ///   - teamID: the id of the team.
    ///   - milliseconds: the clock, in milliseconds since 1970.
    public init(
        _ key: ProviderKey, keyID: String, teamID: String, store: SQLiteStore,
        milliseconds: @escaping @Sendable () -> Int64
    ) async {
        keys = JWTKeyCollection()
        await keys.add(ecdsa: key.key, kid: JWKIdentifier(string: keyID))
        self.keyID = keyID
        self.teamID = teamID
        self.store = store
        self.milliseconds = milliseconds
    }

    /// Returns the token to use now.
    ///
    /// - Throws: the store's error, or jwt-kit's.
    public func current() async throws -> String {
        let now = milliseconds() / 1_000
        if let kept, now - kept.issuedAt < Self.renewalAgeInSeconds { return kept.token }
        return try await renew().token
    }

    /// Replaces a token that APNs calls expired.
    ///
    /// - Returns: whether there is another token: false if APNs would refuse another one so soon.
    public func replace(_ token: String) -> Bool {
        guard let kept, kept.token == token else { return true }
        guard milliseconds() / 1_000 - kept.issuedAt >= Self.shortestAgeInSeconds else { return false }
        self.kept = nil
        isRead = true
        return true
    }

    /// Reads the kept token or makes one. Callers that wait at the same time get the same one.
    private func renew() async throws -> Kept {
        if let renewal { return try await renewal.value }
        let task = Task { try await readOrMake() }
        renewal = task
        defer { renewal = nil }
        let kept = try await task.value
        self.kept = kept
        return kept
    }

    private func readOrMake() async throws -> Kept {
        let now = milliseconds() / 1_000
        if !isRead, let text = try await store.setting(Self.setting),
            let kept = try? JSONDecoder().decode(Kept.self, from: Data(text.utf8)), kept.keyID == keyID,
            kept.teamID == teamID, (0..<Self.renewalAgeInSeconds).contains(now - kept.issuedAt)
        {
            isRead = true
            return kept
        }
        let claims = Claims(
            iss: IssuerClaim(value: teamID),
            iat: IssuedAtClaim(value: Date(timeIntervalSince1970: TimeInterval(now))))
        let token = try await keys.sign(claims, kid: JWKIdentifier(string: keyID))
        let made = Kept(token: token, keyID: keyID, teamID: teamID, issuedAt: now)
        try await store.keep(String(decoding: JSONEncoder().encode(made), as: UTF8.self), as: Self.setting)
        isRead = true
        return made
    }
}
