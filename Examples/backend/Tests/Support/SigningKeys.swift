import Crypto
import Foundation
import NIOConcurrencyHelpers

/// A JWK set of Ed25519 keys that sign, in a file of its own.
public final class SigningKeys: Sendable {
    private struct Key {
        let key = Curve25519.Signing.PrivateKey()
        var isRevoked = false

        var x: String { key.publicKey.rawRepresentation.base64URL }
        /// The first 8 bytes of the thumbprint (RFC 7638).
        var kid: String {
            Data(SHA256.hash(data: Data(#"{"crv":"Ed25519","kty":"OKP","x":"\#(x)"}"#.utf8))).prefix(8).base64URL
        }

        func jwk(isPrivate: Bool) -> String {
            let d = isPrivate ? #""d":"\#(key.rawRepresentation.base64URL)","# : ""
            return #"{"kty":"OKP","crv":"Ed25519","x":"\#(x)",\#(d)"alg":"Ed25519","kid":"\#(kid)"}"#
        }

        var lifecycle: String {
            let revocation = isRevoked ? #","revokedAt":"2026-01-02T00:00:00Z""# : ""
            return #""\#(kid)":{"createdAt":"2026-01-01T00:00:00Z","activatesAt":"2026-01-01T00:00:00Z"\#(revocation)}"#
        }
    }

    /// The file, which is removed with the object.
    public let path: String
    private let keys = NIOLockedValueBox<(all: [Key], sequence: Int)>(([Key()], 1))

    /// Makes a key that signs from now on.
    public init() {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("Keys." + UUID().uuidString).path
        write()
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// The public half of the first key, which an app trusts.
    public var publicKey: [UInt8] {
        keys.withLockedValue { Array($0.all[0].jwk(isPrivate: false).utf8) }
    }

    /// The id of the first key.
    public var kid: String { keys.withLockedValue { $0.all[0].kid } }

    /// Revokes the first key.
    public func revoke() {
        keys.withLockedValue { $0.all[0].isRevoked = true }
        write()
    }

    /// Adds a key that signs from now on.
    public func add() {
        keys.withLockedValue { $0.all.append(Key()) }
        write()
    }

    private func write() {
        let text = keys.withLockedValue { keys in
            defer { keys.sequence += 1 }
            return """
                {"keys":[\(keys.all.map { $0.jwk(isPrivate: true) }.joined(separator: ","))],
                "pushcrypt":{"seq":\(keys.sequence),"updatedAt":"2026-02-0\(keys.sequence)T00:00:00Z",
                "keys":{\(keys.all.map(\.lifecycle).joined(separator: ","))}}}
                """
        }
        try? FileManager.default.removeItem(atPath: path)
        _ = FileManager.default.createFile(
            atPath: path, contents: Data(text.utf8), attributes: [.posixPermissions: 0o600])
    }
}

extension Data {
    /// RFC 4648 section 5, without padding.
    var base64URL: String {
        base64EncodedString().replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
            .trimmingCharacters(in: CharacterSet(charactersIn: "="))
    }
}
