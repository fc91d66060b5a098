import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@Suite struct AEADRoundTripTests {
    /// Lengths around the block sizes of AES (16) and ChaCha20 (64), and around the widths of vector code.
    static let byteCounts = [0, 1, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 4096, 4097]

    @Test(
        "a plaintext of any length around the block sizes opens again", arguments: AEADAlgorithm.allCases, Backends.all)
    func everyLength(_ algorithm: AEADAlgorithm, _ named: NamedBackend) throws {
        for (seed, byteCount) in Self.byteCounts.enumerated() {
            for aadByteCount in [0, 1, 16, 100] {
                let message = AEADMessage(
                    algorithm, seed: UInt64(seed), plaintextByteCount: byteCount, aadByteCount: aadByteCount)
                let sealed = try message.seal(with: named.backend)
                #expect(sealed.count == byteCount + AEADAlgorithm.tagByteCount)
                #expect(try message.open(sealed, with: named.backend) == message.plaintext)
            }
        }
    }

    @Test("256 KiB seal and open, and one flipped bit is refused", arguments: AEADAlgorithm.allCases, Backends.all)
    func quarterOfAMegabyte(_ algorithm: AEADAlgorithm, _ named: NamedBackend) throws {
        let message = AEADMessage(algorithm, seed: 1, plaintextByteCount: 1 << 18, aadByteCount: 20)
        let sealed = try message.seal(with: named.backend)
        #expect(sealed.count == 1 << 18 + AEADAlgorithm.tagByteCount)
        #expect(try message.open(sealed, with: named.backend) == message.plaintext)
        #expect(try message.openCode(sealed.flipping(bit: 1_000_001), with: named.backend) == .authenticationFailure)
    }

    @Test("an empty plaintext seals to a tag that authenticates aad", arguments: AEADAlgorithm.allCases, Backends.all)
    func aadOnly(_ algorithm: AEADAlgorithm, _ named: NamedBackend) throws {
        var message = AEADMessage(algorithm, seed: 2, plaintextByteCount: 0, aadByteCount: 64)
        let tag = try message.seal(with: named.backend)
        #expect(tag.count == AEADAlgorithm.tagByteCount)
        #expect(try message.open(tag, with: named.backend).isEmpty)
        message.aad[63] ^= 1
        #expect(try message.openCode(tag, with: named.backend) == .authenticationFailure)
    }

    @Test("seal appends to the bytes that the output contains", arguments: AEADAlgorithm.allCases, Backends.all)
    func sealAppends(_ algorithm: AEADAlgorithm, _ named: NamedBackend) throws {
        let message = AEADMessage(algorithm, seed: 3, plaintextByteCount: 50, aadByteCount: 5)
        let sealed = try message.seal(with: named.backend)
        let prefix = Array("prefix".utf8)
        var output = prefix
        let copyFromBefore = output
        for count in 1...3 {
            try named.backend.seal(
                algorithm, key: message.key.bytes, nonce: message.nonce.bytes, aad: message.aad.bytes,
                plaintext: message.plaintext.bytes, appendingTo: &output)
            #expect(output == prefix + (1...count).flatMap { _ in sealed })
        }
        #expect(copyFromBefore == prefix)
    }

    @Test(
        "a reused context carries nothing from one message into the next, not even after a failure",
        arguments: Backends.all)
    func messagesDoNotTouchEachOther(_ named: NamedBackend) throws {
        let messages = (0..<60).map { seed in
            AEADMessage(
                AEADAlgorithm.allCases[seed % 3], seed: UInt64(seed), plaintextByteCount: seed % 7 * 13,
                aadByteCount: seed % 5 * 11)
        }
        let sealed = try messages.map { try $0.seal(with: named.backend) }
        for (index, message) in messages.enumerated() {
            #expect(try message.openCode(sealed[(index + 3) % 60], with: named.backend) == .authenticationFailure)
            #expect(try message.seal(with: named.backend) == sealed[index])
            #expect(try message.openCode([1, 2, 3], with: named.backend) == .authenticationFailure)
            #expect(try message.open(sealed[index], with: named.backend) == message.plaintext)
        }
    }
}
