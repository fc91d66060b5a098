import PushCryptPrimitives
import PushCryptTestSupport
import Testing

private typealias Curve = P256Curve

@Suite struct P256PrivateKeyTests {
    @Test("the private keys 1 and n - 1 have the base point and its negative as public keys", arguments: Backends.all)
    func smallestAndLargest(_ named: NamedBackend) throws {
        let smallest = try named.backend.privateKey(.p256, Curve.one.bytes)
        #expect(try smallest.serialized.revealed == Curve.one && smallest.publicKey.serialized == Curve.base)
        let largestBytes: [UInt8] = Curve.order.dropLast() + [Curve.order[31] - 1]
        let largest = try named.backend.privateKey(.p256, largestBytes.bytes)
        #expect(largest.publicKey.serialized == [4] + Curve.baseX + Curve.negativeBaseY)
        #expect(try largest.serialized.revealed == largestBytes)
        #expect(try smallest.sharedSecret(with: largest.publicKey).revealed == Curve.baseX)
        #expect(try largest.sharedSecret(with: largest.publicKey).revealed == Curve.baseX)
    }

    @Test("the private keys 0, n and above are refused with invalidPrivateKey", arguments: Backends.all)
    func outOfRange(_ named: NamedBackend) throws {
        for value in [
            Curve.zero, Curve.order, Curve.adding(1, to: Curve.order), Curve.adding(2, to: Curve.order), Curve.prime,
            [UInt8](repeating: 0xff, count: 32),
        ] {
            let code = try cryptoErrorCode { try named.backend.privateKey(.p256, value.bytes) }
            #expect(code == .invalidPrivateKey, "\(value)")
        }
    }

    @Test("a private key of another length is refused", arguments: KeyPairType.allCases, Backends.all)
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

@Suite struct P256PublicKeyTests {
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
        for point in Curve.smallX { try expectRefusal([4] + Curve.adding(point.x, to: Curve.prime) + point.y, named) }
        for point in Curve.smallY { try expectRefusal([4] + point.x + Curve.adding(point.y, to: Curve.prime), named) }
        let largest = [UInt8](repeating: 0xff, count: 32)
        for (x, y) in [(Curve.prime, Curve.prime), (largest, largest), (largest, Curve.baseY), (Curve.baseX, largest)] {
            try expectRefusal([4] + x + y, named)
        }
    }

    @Test("compressed and hybrid forms, and each form of infinity, throw invalidPublicKey", arguments: Backends.all)
    func otherForms(_ named: NamedBackend) throws {
        for prefix in UInt8.min...UInt8.max where prefix != 4 {
            try expectRefusal([prefix] + Curve.baseX + Curve.baseY, named)
        }
        for prefix: UInt8 in [2, 3] {
            try expectRefusal([prefix] + Curve.baseX, named)
            try expectRefusal([prefix] + Curve.baseX + Curve.zero, named)
        }
        try expectRefusal(Curve.baseX + Curve.baseY, named)
        try expectRefusal([0], named)
        try expectRefusal([UInt8](repeating: 0, count: 65), named)
        try expectRefusal([4] + Curve.zero + Curve.zero, named)
    }

    @Test("a point off the curve is refused with invalidPublicKey", arguments: Backends.all)
    func offTheCurve(_ named: NamedBackend) throws {
        try expectRefusal([4] + Curve.baseX + Curve.zero, named)
        try expectRefusal([4] + Curve.zero + Curve.baseY, named)
        try expectRefusal([4] + Curve.baseY + Curve.baseX, named)
        for bit in 8..<Curve.base.bitCount { try expectRefusal(Curve.base.flipping(bit: bit), named) }
    }

    @Test("a public key of another length is refused", arguments: KeyPairType.allCases, Backends.all)
    func wrongLength(_ type: KeyPairType, _ named: NamedBackend) throws {
        guard named.backend.supports(type) else { return }
        let key = try named.backend.generateKeyPair(type).publicKey.serialized
        let twice = key + key
        for count in 0...twice.count where count != key.count {
            try expectRefusal(Array(twice.prefix(count)), named, type)
        }
        for byte in [UInt8(0), 4, 0xff] {
            try expectRefusal(key + [byte], named, type)
            try expectRefusal([byte] + key, named, type)
        }
    }

    private func expectRefusal(
        _ bytes: [UInt8], _ named: NamedBackend, _ type: KeyPairType = .p256,
        at location: SourceLocation = #_sourceLocation
    ) throws {
        let code = try cryptoErrorCode { try named.backend.publicKey(type, bytes.bytes) }
        #expect(code == .invalidPublicKey, "\(bytes)", sourceLocation: location)
    }
}

/// Values of P-256 (SEC 2 section 2.4.2) and points whose coordinates are small, each 32 bytes.
enum P256Curve {
    static let prime = [UInt8](hex: "ffffffff00000001000000000000000000000000ffffffffffffffffffffffff")
    static let order = [UInt8](hex: "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551")
    static let baseX = [UInt8](hex: "6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296")
    static let baseY = [UInt8](hex: "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5")
    static let negativeBaseY = [UInt8](hex: "b01cbd1c01e58065711814b583f061e9d431cca994cea1313449bf97c840ae0a")

    static let base = [4] + baseX + baseY
    static let zero = [UInt8](repeating: 0, count: 32)
    static let one = adding(1, to: zero)

    /// Points on the curve with a coordinate so small that coordinate + p still fits into 32 bytes.
    static let smallX: [(x: UInt8, y: [UInt8])] = [
        (0, .init(hex: "66485c780e2f83d72433bd5d84a06bb6541c2af31dae871728bf856a174f93f4")),
        (5, .init(hex: "459243b9aa581806fe913bce99817ade11ca503c64d9a3c533415c083248fbcc")),
        (6, .init(hex: "36b24c2c54250ac2466985e533720047dcd102b80fe7c0e9220d5128828223cb")),
    ]
    static let smallY: [(x: [UInt8], y: UInt8)] = [
        (.init(hex: "d7325d7646cd60d80a92738ceb345f844cffaf35841022cab176f692de8de1d7"), 5),
        (.init(hex: "9b21c2de1da31d68731dbdaf97d7ab3f979131e28e3dc5b2077d5a7187914a78"), 6),
    ]

    static func adding(_ number: UInt8, to value: [UInt8]) -> [UInt8] {
        var sum = value
        var carry = Int(number)
        for index in sum.indices.reversed() {
            carry += Int(sum[index])
            sum[index] = UInt8(carry & 0xff)
            carry >>= 8
        }
        return sum
    }
}
