import Crypto
import Foundation
import Testing

@testable import APNsStandIn

@Suite("provider tokens at APNs") struct ProviderTokenCheckTests {
    private let key = P256.Signing.PrivateKey()
    private let check: ProviderTokenCheck

    init() { check = ProviderTokenCheck(teamID: "TEAM", keys: ["KEY": key.publicKey]) }

    private func bearer(
        issuedAt: Int64, team: String = "TEAM", kid: String = "KEY", alg: String = "ES256",
        key: P256.Signing.PrivateKey? = nil
    ) throws -> String {
        let header = Self.base64URL(Data(#"{"alg":"\#(alg)","kid":"\#(kid)"}"#.utf8))
        let claims = Self.base64URL(Data(#"{"iss":"\#(team)","iat":\#(issuedAt)}"#.utf8))
        let signature = try (key ?? self.key).signature(for: Data("\(header).\(claims)".utf8))
        return "bearer \(header).\(claims).\(Self.base64URL(signature.rawRepresentation))"
    }

    private static func base64URL(_ data: Data) -> String {
        data.base64EncodedString().replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }

    @Test("a token is valid for an hour")
    func age() throws {
        let token = try bearer(issuedAt: 10_000)
        #expect(check.refusal(of: token, at: 10_000) == nil)
        #expect(check.refusal(of: token, at: 13_600) == nil)
        #expect(check.refusal(of: token, at: 13_601) == .expiredProviderToken)
    }

    @Test("a request without a token, or with another scheme, is refused as MissingProviderToken")
    func missing() {
        #expect(check.refusal(of: nil, at: 0) == .missingProviderToken)
        #expect(check.refusal(of: "basic x", at: 0) == .missingProviderToken)
    }

    @Test("another team, key, algorithm or signature, and a time that is ahead, are invalid")
    func invalid() throws {
        let time: Int64 = 10_000
        let tokens = [
            try bearer(issuedAt: time, team: "OTHER"), try bearer(issuedAt: time, kid: "OTHER"),
            try bearer(issuedAt: time, alg: "none"), try bearer(issuedAt: time, key: P256.Signing.PrivateKey()),
            try bearer(issuedAt: time + 61), "bearer a.b.c", "bearer a",
        ]
        for token in tokens { #expect(check.refusal(of: token, at: time) == .invalidProviderToken) }
    }

    @Test("a second token within 20 minutes is refused")
    func updates() throws {
        #expect(check.refusal(of: try bearer(issuedAt: 10_000), at: 10_000) == nil)
        #expect(check.refusal(of: try bearer(issuedAt: 11_199), at: 11_199) == .tooManyTokenUpdates)
        #expect(check.refusal(of: try bearer(issuedAt: 11_200), at: 11_200) == nil)
    }
}
