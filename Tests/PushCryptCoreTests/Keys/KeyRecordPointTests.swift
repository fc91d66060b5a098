import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptCore

/// Public keys that aren't points, not canonical, or of small order. Each record has the kid of its own members, so
/// that nothing but the point is wrong with it.
@Suite struct KeyRecordPointTests {
    private static let p256 = TestJWK.named("p256").withoutPrivateKey
    private static let x25519 = TestJWK.named("x25519").withoutPrivateKey
    private static let sender = TestJWK.named("sender").withoutPrivateKey
    private static let zero = [UInt8](repeating: 0, count: 32)
    private static let one: [UInt8] = [1] + zero.dropFirst()
    private static let nine: [UInt8] = [9] + zero.dropFirst()

    struct Points: Sendable, CustomStringConvertible {
        let description: String
        let records: [TestJWK]
    }

    private static let invalid = [
        Points(description: "P-256, off the curve", records: offTheCurve),
        Points(
            description: "P-256, a coordinate not below p",
            records: [("x", p), ("y", p), ("x", ones)].map { onTheYAxis.with($0, bytes: $1) }),
        Points(description: "X25519, not below p", records: with(x25519, x: notBelowP(0x7f) + highestBitSet)),
        Points(
            description: "X25519, of small order", records: with(x25519, x: [zero, one, minusOne] + order8OfX25519)),
        Points(
            description: "Ed25519, of small order",
            records: with(sender, x: ([zero, one, minusOne] + order8).flatMap { [$0, withHighestBit($0)] })),
        Points(description: "Ed25519, not below p", records: with(sender, x: notBelowP(0x7f) + notBelowP(0xff))),
    ]

    @Test("a public key that isn't canonical, or of small order, throws invalidKey", arguments: invalid, Backends.all)
    func refused(points: Points, backend: NamedBackend) throws {
        for jwk in points.records {
            let own = try jwk.withOwnKeyID()
            expectKeyError(.invalidKey, "\(own.json)") { try own.record(backend.backend) }
        }
    }

    @Test("P-256's point with x = 0, X25519's base point and those next to p are accepted", arguments: Backends.all)
    func accepted(backend: NamedBackend) throws {
        let coordinates = [Self.nine] + (0xe0...0xeb).map { Self.nearP(low: $0, high: 0x7f) }
        for jwk in [Self.onTheYAxis] + Self.with(Self.x25519, x: coordinates) {
            #expect(try jwk.withOwnKeyID().record(backend.backend).kind == .recipient)
        }
    }

    private static let offTheCurve: [TestJWK] = {
        let (x, y) = (p256.bytes("x"), p256.bytes("y"))
        var points = [(y, x), (zero, zero)]
        for index in 0..<32 {
            for bit in [1, 0x80] as [UInt8] {
                points += [(changed(x, at: index, by: bit), y), (x, changed(y, at: index, by: bit))]
            }
        }
        return points.map { x, y in p256.with("x", bytes: x).with("y", bytes: y) }
    }()

    private static let onTheYAxis = p256.with("x", bytes: zero).with(
        "y", bytes: [UInt8](hex: "66485c780e2f83d72433bd5d84a06bb6541c2af31dae871728bf856a174f93f4"))
    private static let p = [UInt8](hex: "ffffffff00000001000000000000000000000000ffffffffffffffffffffffff")
    private static let ones = [UInt8](repeating: 0xff, count: 32)
    private static let minusOne = nearP(low: 0xec, high: 0x7f)
    private static let highestBitSet = [zero, nine, x25519.bytes("x"), nearP(low: 0xff, high: 0x7f)].map(withHighestBit)
    private static let order8OfX25519 = [
        "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
        "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
    ].map { [UInt8](hex: $0) }
    private static let order8 = [
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    ].map { [UInt8](hex: $0) }

    /// p - 0xed + low, with the top byte `high`.
    private static func nearP(low: UInt8, high: UInt8) -> [UInt8] {
        [low] + [UInt8](repeating: 0xff, count: 30) + [high]
    }

    private static func notBelowP(_ high: UInt8) -> [[UInt8]] { (0xed...0xff).map { nearP(low: $0, high: high) } }

    private static func with(_ jwk: TestJWK, x: [[UInt8]]) -> [TestJWK] { x.map { jwk.with("x", bytes: $0) } }

    private static func withHighestBit(_ bytes: [UInt8]) -> [UInt8] { changed(bytes, at: 31, by: 0x80) }

    private static func changed(_ bytes: [UInt8], at index: Int, by mask: UInt8) -> [UInt8] {
        var changed = bytes
        changed[index] ^= mask
        return changed
    }
}
