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

    @Test("a P-256 point off the curve throws invalidKey", arguments: Backends.all)
    func p256OffTheCurve(backend: NamedBackend) throws {
        let (x, y) = (Self.p256.bytes("x"), Self.p256.bytes("y"))
        for index in 0..<32 {
            for bit in [1, 0x80] as [UInt8] {
                let moved = Self.changed(y, at: index, by: bit)
                try expectInvalid(Self.p256.with("y", bytes: moved), backend)
                try expectInvalid(Self.p256.with("x", bytes: Self.changed(x, at: index, by: bit)), backend)
            }
        }
        try expectInvalid(Self.p256.with("x", bytes: y).with("y", bytes: x), backend)
        try expectInvalid(Self.p256.with("x", bytes: Self.zero).with("y", bytes: Self.zero), backend)
    }

    @Test("the P-256 coordinate 0 is accepted and its other encoding p throws invalidKey", arguments: Backends.all)
    func p256CoordinateNotBelowP(backend: NamedBackend) throws {
        let y = [UInt8](hex: "66485c780e2f83d72433bd5d84a06bb6541c2af31dae871728bf856a174f93f4")
        let p = [UInt8](hex: "ffffffff00000001000000000000000000000000ffffffffffffffffffffffff")
        let valid = Self.p256.with("x", bytes: Self.zero).with("y", bytes: y)
        #expect(try valid.withOwnKeyID().record(backend.backend).kind == .recipient)
        try expectInvalid(valid.with("x", bytes: p), backend)
        try expectInvalid(valid.with("y", bytes: p), backend)
        try expectInvalid(valid.with("x", bytes: [UInt8](repeating: 0xff, count: 32)), backend)
    }

    @Test("an X25519 coordinate at or above p throws invalidKey", arguments: Backends.all)
    func x25519NotBelowP(backend: NamedBackend) throws {
        for low in UInt8(0xed)...0xff {
            try expectInvalid(Self.x25519.with("x", bytes: Self.nearP(low: low, high: 0x7f)), backend)
        }
        for x in [Self.zero, [9] + Self.zero.dropFirst(), Self.x25519.bytes("x"), Self.nearP(low: 0xff, high: 0x7f)] {
            try expectInvalid(Self.x25519.with("x", bytes: Self.changed(x, at: 31, by: 0x80)), backend)
        }
        for low in UInt8(0xe0)...0xeb {
            let valid = Self.x25519.with("x", bytes: Self.nearP(low: low, high: 0x7f))
            #expect(try valid.withOwnKeyID().record(backend.backend).kind == .recipient)
        }
    }

    @Test("every encoding of an Ed25519 point of small order throws invalidKey", arguments: Backends.all)
    func ed25519SmallOrder(backend: NamedBackend) throws {
        let order8 = [
            "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
            "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
        ].map { [UInt8](hex: $0) }
        let one = [1] + Self.zero.dropFirst()
        let minusOne = Self.nearP(low: 0xec, high: 0x7f)
        let notCanonical = [0xed, 0xee].map { Self.nearP(low: $0, high: 0x7f) }
        for y in [Self.zero, one, minusOne] + order8 + notCanonical {
            try expectInvalid(Self.sender.with("x", bytes: y), backend)
            try expectInvalid(Self.sender.with("x", bytes: Self.changed(y, at: 31, by: 0x80)), backend)
        }
    }

    @Test("an Ed25519 coordinate at or above p throws invalidKey", arguments: Backends.all)
    func ed25519NotBelowP(backend: NamedBackend) throws {
        for low in UInt8(0xed)...0xff {
            for high in [0x7f, 0xff] as [UInt8] {
                try expectInvalid(Self.sender.with("x", bytes: Self.nearP(low: low, high: high)), backend)
            }
        }
    }

    /// p - 0xed + low, with the top byte `high`.
    private static func nearP(low: UInt8, high: UInt8) -> [UInt8] {
        [low] + [UInt8](repeating: 0xff, count: 30) + [high]
    }

    private static func changed(_ bytes: [UInt8], at index: Int, by mask: UInt8) -> [UInt8] {
        var changed = bytes
        changed[index] ^= mask
        return changed
    }

    private func expectInvalid(
        _ jwk: TestJWK, _ backend: NamedBackend, _ location: SourceLocation = #_sourceLocation
    ) throws {
        let own = try jwk.withOwnKeyID()
        expectKeyError(.invalidKey, "\(own.json)", location: location) { try own.record(backend.backend) }
    }
}
