/// Numbers modulo p = 2^255 - 19, little-endian.
enum Field25519 {
    /// Whether 32 bytes are a number below p. A key with another encoding would have a second thumbprint.
    static func isCanonical(_ bytes: [UInt8]) -> Bool {
        guard bytes.count == 32, bytes[31] <= 0x7f else { return false }
        let isAtLeastP = bytes[31] == 0x7f && bytes[1..<31].allSatisfy { $0 == 0xff } && bytes[0] >= 0xed
        return !isAtLeastP
    }
}

/// Ed25519 public keys of small order, for which an attacker can forge signatures.
enum Ed25519Points {
    /// The y-coordinate, without the bit of the sign of x.
    static func withoutSign(_ point: [UInt8]) -> [UInt8] {
        var y = point
        y[31] &= 0x7f
        return y
    }

    /// Whether the point's order is 1, 2, 4 or 8. Encodings at or above p are refused as not canonical.
    static func hasSmallOrder(_ point: [UInt8]) -> Bool { smallOrderY.contains(withoutSign(point)) }

    /// 0 (order 4), 1 (order 1), -1 (order 2) and the two of order 8.
    private static let smallOrderY: [[UInt8]] = [
        [0] + [UInt8](repeating: 0, count: 31),
        [1] + [UInt8](repeating: 0, count: 31),
        [0xec] + [UInt8](repeating: 0xff, count: 30) + [0x7f],
        [
            0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4, 0x89, 0xf2, 0xef, 0x98, 0xf0,
            0xd5, 0xdf, 0xac, 0x05, 0xd3, 0xc6, 0x33, 0x39, 0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53, 0xfc, 0x05,
        ],
        [
            0xc7, 0x17, 0x6a, 0x70, 0x3d, 0x4d, 0xd8, 0x4f, 0xba, 0x3c, 0x0b, 0x76, 0x0d, 0x10, 0x67, 0x0f,
            0x2a, 0x20, 0x53, 0xfa, 0x2c, 0x39, 0xcc, 0xc6, 0x4e, 0xc7, 0xfd, 0x77, 0x92, 0xac, 0x03, 0x7a,
        ],
    ]
}
