import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptCore

/// A key with which both backends refuse to agree, because every shared secret is zero, is refused at its import.
@Suite struct X25519SmallOrderTests {
    static let points = [
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000000",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
        "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
    ]

    @Test("an X25519 record with a point of small order throws invalidKey", arguments: points, Backends.all)
    func isRefused(_ point: String, _ named: NamedBackend) throws {
        let u = [UInt8](hex: point)
        #expect(X25519Points.hasSmallOrder(u))
        let key = try named.backend.generateKeyPair(.x25519)
        let publicKey = try named.backend.publicKey(.x25519, u.bytes)
        #expect(throws: CryptoError.self) { try key.sharedSecret(with: publicKey) }
        let jwk = #"{"kty":"OKP","crv":"X25519","alg":"HPKE-3","kid":"AAAAAAAAAAA","x":"\#(Base64URL.encode(u))"}"#
        let error = #expect(throws: KeyError.self) { try Recipient(jwk: jwk.utf8, backend: named.backend) }
        #expect(error?.code == .invalidKey)
    }

    @Test("the base point of X25519 is accepted")
    func basePointIsNot() {
        #expect(!X25519Points.hasSmallOrder([9] + [UInt8](repeating: 0, count: 31)))
    }
}
