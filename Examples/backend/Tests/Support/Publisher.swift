import Crypto
public import Foundation

/// A publisher of sender keys: it signs sets as `pushcrypt publish` does.
public struct Publisher: Sendable {
    private static let set = Data(repeating: 7, count: 16).base64URL
    private let key = Curve25519.Signing.PrivateKey()

    /// Makes a publisher with a key of its own.
    public init() {}

    private var x: String { key.publicKey.rawRepresentation.base64URL }
    private var kid: String { keyID(ofEd25519: x) }

    /// What an app bundles to verify the publisher's sets.
    public var pins: Data {
        Data(
            """
            {"publishers":[{"kty":"OKP","crv":"Ed25519","x":"\(x)","alg":"Ed25519","kid":"\(kid)","role":"publisher"}],
            "set":"\(Self.set)","epoch":1}
            """.utf8)
    }

    /// Signs the public keys.
    ///
    /// - Parameters:
    ///   - sequence: the number of the set.
    ///   - end: when it ends, in UNIX seconds.
    public func sign(
        _ keys: SigningKeys, topic: String = "com.example.app", sequence: Int = 1, until end: Int64
    ) throws -> Data {
        func time(_ seconds: Int64) -> String { Date(timeIntervalSince1970: TimeInterval(seconds)).ISO8601Format() }
        let payload = Data(
            """
            {"keys":[\(String(decoding: keys.publicKey, as: UTF8.self))],
            "pushcrypt":{"seq":\(sequence),"set":"\(Self.set)","topics":["\(topic)"],"epoch":1,
            "issuedAt":"\(time(end - 86_400))","validUntil":"\(time(end))",
            "keys":{"\(keys.kid)":{"activatesAt":"2026-01-01T00:00:00Z"}}}}
            """.utf8
        ).base64URL
        let header = Data(#"{"alg":"Ed25519","kid":"\#(kid)","typ":"pushcrypt-senders+jws"}"#.utf8).base64URL
        let signature = try key.signature(for: Data("\(header).\(payload)".utf8)).base64URL
        return Data(
            #"{"payload":"\#(payload)","signatures":[{"protected":"\#(header)","signature":"\#(signature)"}]}"#.utf8)
    }
}

/// The first 8 bytes of a key's thumbprint (RFC 7638).
func keyID(ofEd25519 x: String) -> String {
    Data(SHA256.hash(data: Data(#"{"crv":"Ed25519","kty":"OKP","x":"\#(x)"}"#.utf8))).prefix(8).base64URL
}
