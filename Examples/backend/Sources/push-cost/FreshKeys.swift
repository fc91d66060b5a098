import Crypto
import Foundation
import PushCryptSender

/// Fresh keys, which are read from JWKs (docs/protocol.md section 3).
enum FreshKeys {
    /// A recipient's key of each suite that OpenSSL 3.0 has.
    static func recipients() throws -> [Int: Recipient] {
        let point = P256.KeyAgreement.PrivateKey().publicKey.rawRepresentation
        let x25519 = Curve25519.KeyAgreement.PrivateKey().publicKey.rawRepresentation
        let secret = SymmetricKey(size: .bits256).withUnsafeBytes { Data($0) }
        let coordinates = ["x": point.prefix(32).base64URL, "y": point.suffix(32).base64URL]
        let jwks = [
            1: try jwk(["crv": "P-256", "kty": "EC"].merging(coordinates) { $1 }, algorithm: "HPKE-7"),
            2: try jwk(["crv": "X25519", "kty": "OKP", "x": x25519.base64URL], algorithm: "HPKE-3"),
            4: try jwk(["k": secret.base64URL, "kty": "oct"], algorithm: "HKDF-A256GCM"),
        ]
        return try jwks.mapValues { try Recipient(jwk: $0) }
    }

    static func sender() throws -> SenderKey {
        let key = Curve25519.Signing.PrivateKey()
        let members = ["crv": "Ed25519", "kty": "OKP", "x": key.publicKey.rawRepresentation.base64URL]
        return try SenderKey(
            jwk: jwk(members, algorithm: "Ed25519", with: ["d": key.rawRepresentation.base64URL]))
    }

    /// - Parameter members: those of the thumbprint (RFC 7638), whose first 8 bytes are the key's id.
    private static func jwk(
        _ members: [String: String], algorithm: String, with others: [String: String] = [:]
    ) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let thumbprint = SHA256.hash(data: try encoder.encode(members))
        let named = ["alg": algorithm, "kid": Data(thumbprint.prefix(8)).base64URL]
        return try encoder.encode(members.merging(named) { $1 }.merging(others) { $1 })
    }
}

extension Data {
    /// Without padding.
    var base64URL: String {
        base64EncodedString().replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }
}
