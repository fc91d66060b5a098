import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@Suite struct X25519KeyTests {
    private static let scalar = [UInt8](hex: "77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a")
    private static let peer = [UInt8](hex: "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f")

    @Test(
        "the top bit of a public key doesn't change the secret and stays in the serialised key", arguments: Backends.all
    )
    func topBitIsMasked(_ named: NamedBackend) throws {
        var withTopBit = Self.peer
        withTopBit[31] |= 0x80
        let key = try named.backend.publicKey(.x25519, withTopBit.bytes)
        #expect(key.serialized == withTopBit)
        let ours = try named.backend.privateKey(.x25519, Self.scalar.bytes)
        let plain = try named.backend.publicKey(.x25519, Self.peer.bytes)
        #expect(try ours.sharedSecret(with: key) == ours.sharedSecret(with: plain))
    }

    @Test("a public key at or above p is accepted, as RFC 7748 requires", arguments: Backends.all)
    func nonCanonicalPublicKey(_ named: NamedBackend) throws {
        let shifted = [0xf6] + [UInt8](repeating: 0xff, count: 30) + [0x7f]
        let key = try named.backend.publicKey(.x25519, shifted.bytes)
        let ours = try named.backend.privateKey(.x25519, Self.scalar.bytes)
        #expect(try ours.sharedSecret(with: key).revealed == ours.publicKey.serialized)
    }

    /// All u-coordinates of order 1, 2, 4 and 8 on the curve and its twist (https://cr.yp.to/ecdh.html), with and
    /// without the masked bit. With every private key the result is zero.
    @Test("a public key of small order throws degenerateSharedSecret", arguments: Backends.all)
    func pointsOfSmallOrder(_ named: NamedBackend) throws {
        let ones = [UInt8](repeating: 0xff, count: 30)
        let points = [
            [UInt8](repeating: 0, count: 32),
            [1] + [UInt8](repeating: 0, count: 31),
            [UInt8](hex: "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800"),
            [UInt8](hex: "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157"),
            [0xec] + ones + [0x7f], [0xed] + ones + [0x7f], [0xee] + ones + [0x7f],
        ]
        let ours = try named.backend.privateKey(.x25519, Self.scalar.bytes)
        for point in points {
            for topBit: UInt8 in [0, 0x80] {
                var bytes = point
                bytes[31] |= topBit
                let key = try named.backend.publicKey(.x25519, bytes.bytes)
                #expect(try cryptoErrorCode { try ours.sharedSecret(with: key) } == .degenerateSharedSecret)
            }
        }
    }

    @Test("bits that are clamped don't change the secret and stay in the serialised key", arguments: Backends.all)
    func clamping(_ named: NamedBackend) throws {
        var clamped = Self.scalar
        clamped[0] &= 0xf8
        clamped[31] = clamped[31] & 0x7f | 0x40
        let publicKey = try named.backend.privateKey(.x25519, clamped.bytes).publicKey.serialized
        for bit in [0, 1, 2, 254, 255] {
            let other = clamped.flipping(bit: bit)
            let key = try named.backend.privateKey(.x25519, other.bytes)
            #expect(key.publicKey.serialized == publicKey)
            #expect(try key.serialized.revealed == other)
        }
        for bit in [3, 100, 253] {
            let key = try named.backend.privateKey(.x25519, clamped.flipping(bit: bit).bytes)
            #expect(key.publicKey.serialized != publicKey)
        }
    }

    @Test("private keys of 32 bytes 0x00 and of 32 bytes 0xff are accepted and agree", arguments: Backends.all)
    func extremePrivateKeys(_ named: NamedBackend) throws {
        for byte: UInt8 in [0, 0xff] {
            let bytes = [UInt8](repeating: byte, count: 32)
            let key = try named.backend.privateKey(.x25519, bytes.bytes)
            let other = try named.backend.generateKeyPair(.x25519)
            #expect(try key.sharedSecret(with: other.publicKey) == other.sharedSecret(with: key.publicKey))
        }
    }

    @Test("a public key of another length is refused with invalidPublicKey", arguments: Backends.all)
    func wrongPublicKeyLength(_ named: NamedBackend) throws {
        for count in 0...66 where count != 32 {
            let bytes = [UInt8](repeating: 9, count: count)
            let code = try cryptoErrorCode { try named.backend.publicKey(.x25519, bytes.bytes) }
            #expect(code == .invalidPublicKey, "\(count) bytes")
        }
    }
}
