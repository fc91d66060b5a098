import PushCryptPrimitives
import PushCryptTestSupport
import Testing

/// RFC 8032 doesn't determine which points of small order and which unusual encodings a verifier accepts. Both backends
/// must agree, so that a signature is valid for all recipients or for none.
@Suite struct Ed25519EdgeCaseTests {
    /// The eight points of small order and their other encodings.
    static let smallOrder: [[UInt8]] = {
        let zeros = [UInt8](repeating: 0, count: 30)
        let ones = [UInt8](repeating: 0xff, count: 30)
        let points: [[UInt8]] = [
            [0] + zeros + [0], [1] + zeros + [0], [0xec] + ones + [0x7f], [0xed] + ones + [0x7f],
            [0xee] + ones + [0x7f],
            .init(hex: "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"),
            .init(hex: "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"),
        ]
        return points + points.map { $0.prefix(31) + [$0[31] | 0x80] }
    }()

    @Test("both backends give the same verdict for keys of small order")
    func backendsAgreeOnPointsOfSmallOrder() throws {
        var verdicts = Set<Bool>()
        for point in Self.smallOrder {
            for commitment in Self.smallOrder {
                let signature = commitment + [UInt8](repeating: 0, count: 32)
                for number: UInt8 in 0..<8 {
                    let verdict = try agreedVerdict(point, signature, [number])
                    verdicts.insert(verdict)
                }
            }
        }
        #expect(verdicts == [true, false], "the cases must produce both verdicts")
    }

    @Test("both backends refuse random signatures under random keys")
    func backendsAgreeOnArbitraryKeys() throws {
        var generator = SplitMix64(seed: 70)
        for _ in 0..<200 {
            let signature = generator.bytes(63) + [0]
            #expect(try !agreedVerdict(generator.bytes(32), signature, [1]))
        }
    }

    /// Returns the verdict that both backends must give. A refused key counts as an invalid signature.
    private func agreedVerdict(_ key: [UInt8], _ signature: [UInt8], _ message: [UInt8]) throws -> Bool {
        let verdicts = Backends.all.map { named in
            (try? named.backend.verificationKey(key.bytes))?.accepts(signature, for: message) ?? false
        }
        #expect(Set(verdicts).count == 1, "key \(key), signature \(signature)")
        return verdicts[0]
    }
}
