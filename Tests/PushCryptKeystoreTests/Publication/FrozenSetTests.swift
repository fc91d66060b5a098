import PushCryptCore
import PushCryptKeysets
import PushCryptTestSupport
import Testing

@testable import PushCryptKeystore

/// Devices refuse another payload under the `seq` of the accepted set. So every later version must make the same bytes of the
/// same keyset.
@Suite struct FrozenSetTests {
    private static let senders = """
        {
          "keys": [
            {"kty":"OKP","crv":"Ed25519","x":"rTVxV30R4kuoXO5CvC240ia9odg2fELgLd9xfidE97Q","d":"pXORseTekG6v_Em2X-d3fOjCX0BL9LQf96Q1fcYM0rw","alg":"Ed25519","kid":"2sN5syDIA6Y"},
            {"kty":"OKP","crv":"Ed25519","x":"juSbWKwCCtjV2i03oBWdTi3-Kp26QwlkmTOfzCfJjVo","d":"fYrXg2eIJOIXNVrfqmoLvNnj4_ykkN9I1Tt0seTva2Q","alg":"Ed25519","kid":"vx91OjzuwOY"},
            {"kty":"OKP","crv":"Ed25519","x":"7gQEF0XLXeZpF-sunc-8qK1nKCQsEy6sQtj0u00bXdc","d":"I4Vl-sppnSzFZGA8WkNcKDCcRqdfhfO3d40mikx-HoA","alg":"Ed25519","kid":"NB5nfTrrBxA"}
          ],
          "pushcrypt": {
            "seq": 4, "updatedAt": "2026-03-26T00:00:00Z", "kind": "sender",
            "publication": {"set": "ZI55id6V3KKToc0CfA1t-g", "topics": ["com.example.app", "com.example.other"], "epoch": 2, "validFor": "P60D"},
            "keys": {
              "2sN5syDIA6Y": {"createdAt": "2026-01-01T00:00:00Z", "activatesAt": "2026-01-01T00:00:00Z", "retiresAt": "2026-04-01T00:00:00Z", "expiresAt": "2026-06-30T00:10:00Z", "revokedAt": "2026-03-26T00:00:00Z", "suite": "ed25519"},
              "vx91OjzuwOY": {"createdAt": "2026-03-26T00:00:00Z", "activatesAt": "2026-03-26T00:00:00Z", "retiresAt": "2026-04-01T00:00:00Z", "expiresAt": "2026-06-30T00:10:00Z", "suite": "ed25519"},
              "NB5nfTrrBxA": {"createdAt": "2026-03-25T00:00:00Z", "activatesAt": "2026-04-01T00:00:00Z", "suite": "ed25519"},
              "8sN5syDIA6Y": {"createdAt": "2026-01-01T00:00:00Z", "destroyedAt": "2026-03-26T00:00:00Z", "suite": "ed25519"}
            }
          }
        }
        """

    private static let publisher = """
        {
          "keys": [
            {"kty":"OKP","crv":"Ed25519","x":"guCyrt7q07WocqGr_Edy_67EJfZ-da_LZxgC7Q39XA8","d":"td83nkEOsmqMQSwT3Sb8ft2Z2bMJF3EJ1Lfoef-dLM0","alg":"Ed25519","kid":"F6fT8oFH0gk","role":"publisher"}
          ],
          "pushcrypt": {
            "seq": 1, "updatedAt": "2026-01-01T00:00:00Z", "kind": "publisher",
            "keys": {
              "F6fT8oFH0gk": {"createdAt": "2026-01-01T00:00:00Z", "activatesAt": "2026-01-01T00:00:00Z", "suite": "ed25519-publisher"}
            }
          }
        }
        """

    private static let payload = """
        {
          "keys": [
            {"kty":"OKP","crv":"Ed25519","x":"rTVxV30R4kuoXO5CvC240ia9odg2fELgLd9xfidE97Q","alg":"Ed25519","kid":"2sN5syDIA6Y"},
            {"kty":"OKP","crv":"Ed25519","x":"7gQEF0XLXeZpF-sunc-8qK1nKCQsEy6sQtj0u00bXdc","alg":"Ed25519","kid":"NB5nfTrrBxA"},
            {"kty":"OKP","crv":"Ed25519","x":"juSbWKwCCtjV2i03oBWdTi3-Kp26QwlkmTOfzCfJjVo","alg":"Ed25519","kid":"vx91OjzuwOY"}
          ],
          "pushcrypt": {"seq": 4, "set": "ZI55id6V3KKToc0CfA1t-g", "topics": ["com.example.app", "com.example.other"], "epoch": 2, "issuedAt": "2026-03-26T00:00:00Z", "validUntil": "2026-05-25T00:00:00Z", "keys": {
            "2sN5syDIA6Y": {"activatesAt": "2026-01-01T00:00:00Z", "retiresAt": "2026-04-01T00:00:00Z", "expiresAt": "2026-06-30T00:10:00Z", "revokedAt": "2026-03-26T00:00:00Z"},
            "NB5nfTrrBxA": {"activatesAt": "2026-04-01T00:00:00Z"},
            "vx91OjzuwOY": {"activatesAt": "2026-03-26T00:00:00Z", "retiresAt": "2026-04-01T00:00:00Z", "expiresAt": "2026-06-30T00:10:00Z"}
          }}
        }

        """

    private static func stored(_ text: String) throws -> StoredKeyset {
        try KeysetFile(Array(text.utf8), path: "keyset.json").unlocked(.none)
    }

    @Test("a fixed keyset gives the payload, byte by byte, and the signature of every version of this library")
    func frozen() throws {
        let set = try PublishedSet(of: Self.stored(Self.senders), by: Self.stored(Self.publisher), at: "Publisher/app")
        let document = try JSONText(set.document(at: #require(UnixTime(rfc3339: "2026-03-26T00:00:00Z")))).root
        let payload = try #require(document["payload"]?.utf8.flatMap(Base64URL.decode))
        #expect(String(decoding: payload, as: UTF8.self) == Self.payload)
        #expect(
            document["signatures"]?.elements.map { $0["signature"]?.string } == [
                "-agHG4f4-Ll2atf0CIy2QvU2MlIVaZNeWusVOdJ797y_6pryhhS1WRO7sB2AqlgyM2v7ZD_j1r2Q7GkRpQ6DCA"
            ])
    }
}
