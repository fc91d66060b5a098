import PushCryptTestSupport

/// Values of P-256 (SEC 2 section 2.4.2) and points whose coordinates are small, each 32 bytes.
enum P256Curve {
    static let prime = [UInt8](hex: "ffffffff00000001000000000000000000000000ffffffffffffffffffffffff")
    static let order = [UInt8](hex: "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551")
    static let baseX = [UInt8](hex: "6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296")
    static let baseY = [UInt8](hex: "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5")
    /// p - baseY
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

    /// Big-endian addition modulo 2^256.
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
