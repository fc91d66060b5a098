import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@Suite struct P256PublicKeyTests {
    typealias Curve = P256Curve

    @Test("uncompressed points of the curve are accepted and serialised unchanged", arguments: Backends.all)
    func uncompressedPoints(_ named: NamedBackend) throws {
        let withSmallX = Curve.smallX.map { [4] + Curve.adding($0.x, to: Curve.zero) + $0.y }
        let withSmallY = Curve.smallY.map { [4] + $0.x + Curve.adding($0.y, to: Curve.zero) }
        for point in [Curve.base, [4] + Curve.baseX + Curve.negativeBaseY] + withSmallX + withSmallY {
            let key = try named.backend.publicKey(.p256, point.bytes)
            #expect(key.serialized == point)
            #expect(key.type == .p256)
        }
    }

    @Test("a coordinate with p added is refused with invalidPublicKey", arguments: Backends.all)
    func coordinatesNotBelowThePrime(_ named: NamedBackend) throws {
        for point in Curve.smallX {
            try expectRefusal([4] + Curve.adding(point.x, to: Curve.prime) + point.y, named)
        }
        for point in Curve.smallY {
            try expectRefusal([4] + point.x + Curve.adding(point.y, to: Curve.prime), named)
        }
        let largest = [UInt8](repeating: 0xff, count: 32)
        for (x, y) in [(Curve.prime, Curve.prime), (largest, largest), (largest, Curve.baseY), (Curve.baseX, largest)] {
            try expectRefusal([4] + x + y, named)
        }
    }

    @Test("compressed and hybrid forms are refused with invalidPublicKey", arguments: Backends.all)
    func otherForms(_ named: NamedBackend) throws {
        for prefix in UInt8.min...UInt8.max where prefix != 4 {
            try expectRefusal([prefix] + Curve.baseX + Curve.baseY, named)
        }
        for prefix: UInt8 in [2, 3] {
            try expectRefusal([prefix] + Curve.baseX, named)
            try expectRefusal([prefix] + Curve.baseX + Curve.zero, named)
        }
        try expectRefusal(Curve.baseX + Curve.baseY, named)
    }

    @Test("the point at infinity is refused in every form", arguments: Backends.all)
    func infinity(_ named: NamedBackend) throws {
        try expectRefusal([0], named)
        try expectRefusal([UInt8](repeating: 0, count: 65), named)
        try expectRefusal([4] + Curve.zero + Curve.zero, named)
    }

    @Test("a point off the curve is refused with invalidPublicKey", arguments: Backends.all)
    func offTheCurve(_ named: NamedBackend) throws {
        try expectRefusal([4] + Curve.baseX + Curve.zero, named)
        try expectRefusal([4] + Curve.zero + Curve.baseY, named)
        try expectRefusal([4] + Curve.baseY + Curve.baseX, named)
        for bit in 8..<Curve.base.bitCount {
            try expectRefusal(Curve.base.flipping(bit: bit), named)
        }
    }

    @Test("a public key of another length is refused with invalidPublicKey", arguments: Backends.all)
    func wrongLength(_ named: NamedBackend) throws {
        for count in 0..<65 {
            try expectRefusal(Array(Curve.base.prefix(count)), named)
        }
        for byte in [UInt8(0), 4, 0xff] {
            try expectRefusal(Curve.base + [byte], named)
            try expectRefusal([byte] + Curve.base, named)
        }
        try expectRefusal(Curve.base + Curve.base, named)
    }

    private func expectRefusal(
        _ bytes: [UInt8], _ named: NamedBackend, at location: SourceLocation = #_sourceLocation
    ) throws {
        let code = try cryptoErrorCode { try named.backend.publicKey(.p256, bytes.bytes) }
        #expect(code == .invalidPublicKey, "\(bytes)", sourceLocation: location)
    }
}
