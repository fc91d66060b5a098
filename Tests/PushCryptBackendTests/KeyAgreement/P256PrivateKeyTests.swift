import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@Suite struct P256PrivateKeyTests {
    typealias Curve = P256Curve

    @Test("the private keys 1 and n - 1 have the base point and its negative as public keys", arguments: Backends.all)
    func smallestAndLargest(_ named: NamedBackend) throws {
        let smallestBytes = Curve.one
        let smallest = try named.backend.privateKey(.p256, smallestBytes.bytes)
        #expect(smallest.publicKey.serialized == Curve.base)
        #expect(try smallest.serialized.revealed == smallestBytes)
        var largestBytes = Curve.order
        largestBytes[31] -= 1
        let largest = try named.backend.privateKey(.p256, largestBytes.bytes)
        #expect(largest.publicKey.serialized == [4] + Curve.baseX + Curve.negativeBaseY)
        #expect(try largest.serialized.revealed == largestBytes)
        #expect(try smallest.sharedSecret(with: largest.publicKey).revealed == Curve.baseX)
        #expect(try largest.sharedSecret(with: largest.publicKey).revealed == Curve.baseX)
    }

    @Test("the private keys 0, n and above are refused with invalidPrivateKey", arguments: Backends.all)
    func outOfRange(_ named: NamedBackend) throws {
        let largest = [UInt8](repeating: 0xff, count: 32)
        let values = [
            Curve.zero, Curve.order, Curve.adding(1, to: Curve.order), Curve.adding(2, to: Curve.order), Curve.prime,
            largest,
        ]
        for value in values {
            let code = try cryptoErrorCode { try named.backend.privateKey(.p256, value.bytes) }
            #expect(code == .invalidPrivateKey, "\(value)")
        }
    }

    @Test(
        "a private key of another length is refused even if its value is in range", arguments: KeyPairType.allCases,
        Backends.all)
    func wrongLength(_ type: KeyPairType, _ named: NamedBackend) throws {
        for count in 0...66 where count != KeyPairType.privateKeyByteCount {
            for byte: UInt8 in [0, 1] {
                let bytes = Array(([0] + [UInt8](repeating: byte, count: 66)).prefix(count))
                let code = try cryptoErrorCode { try named.backend.privateKey(type, bytes.bytes) }
                #expect(code == .invalidPrivateKey, "\(count) bytes")
            }
        }
    }
}
