import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@Suite struct AEADRefusalTests {
    @Test(
        "a flip of any bit of ciphertext, tag, key, nonce or aad is refused", arguments: AEADAlgorithm.allCases,
        Backends.all)
    func everyFlippedBit(_ algorithm: AEADAlgorithm, _ named: NamedBackend) throws {
        let message = AEADMessage(algorithm, seed: 10, plaintextByteCount: 21, aadByteCount: 9)
        let sealed = try message.seal(with: named.backend)
        try expectNoneOpens(sealed.bitCount) { try message.openCode(sealed.flipping(bit: $0), with: named.backend) }
        for field in [\AEADMessage.key, \.nonce, \.aad] {
            try expectNoneOpens(message[keyPath: field].bitCount) { bit in
                var changed = message
                changed[keyPath: field] = message[keyPath: field].flipping(bit: bit)
                return try changed.openCode(sealed, with: named.backend)
            }
        }
    }

    @Test("every truncated ciphertext is refused as not authentic", arguments: AEADAlgorithm.allCases, Backends.all)
    func everyTruncation(_ algorithm: AEADAlgorithm, _ named: NamedBackend) throws {
        let message = AEADMessage(algorithm, seed: 11, plaintextByteCount: 40, aadByteCount: 9)
        let sealed = try message.seal(with: named.backend)
        try expectNoneOpens(sealed.count) { try message.openCode(Array(sealed.prefix($0)), with: named.backend) }
        try expectNoneOpens(sealed.count) { try message.openCode(Array(sealed.dropFirst($0 + 1)), with: named.backend) }
    }

    @Test("a ciphertext with added bytes is refused as not authentic", arguments: AEADAlgorithm.allCases, Backends.all)
    func extensions(_ algorithm: AEADAlgorithm, _ named: NamedBackend) throws {
        let message = AEADMessage(algorithm, seed: 12, plaintextByteCount: 40, aadByteCount: 9)
        let sealed = try message.seal(with: named.backend)
        try expectNoneOpens(256) { try message.openCode(sealed + [UInt8($0)], with: named.backend) }
        try expectNoneOpens(256) { try message.openCode([UInt8($0)] + sealed, with: named.backend) }
        // A byte moved from the front of the ciphertext to the end of the aad.
        var moved = message
        moved.aad.append(sealed[0])
        #expect(try moved.openCode(Array(sealed.dropFirst()), with: named.backend) == .authenticationFailure)
    }

    @Test("a key of another length is refused with invalidLength", arguments: AEADAlgorithm.allCases, Backends.all)
    func wrongKeyLength(_ algorithm: AEADAlgorithm, _ named: NamedBackend) throws {
        let message = AEADMessage(algorithm, seed: 13, plaintextByteCount: 10, aadByteCount: 0)
        for byteCount in 0...65 where byteCount != algorithm.keyByteCount {
            var changed = message
            changed.key = [UInt8](repeating: 7, count: byteCount)
            try expectInvalidLength(changed, named.backend)
        }
    }

    @Test("a nonce of another length is refused with invalidLength", arguments: AEADAlgorithm.allCases, Backends.all)
    func wrongNonceLength(_ algorithm: AEADAlgorithm, _ named: NamedBackend) throws {
        let message = AEADMessage(algorithm, seed: 14, plaintextByteCount: 10, aadByteCount: 0)
        for byteCount in 0...33 where byteCount != AEADAlgorithm.nonceByteCount {
            var changed = message
            changed.nonce = [UInt8](repeating: 7, count: byteCount)
            try expectInvalidLength(changed, named.backend)
        }
    }

    /// Expects invalidLength also for a short ciphertext, because a caller's mistake must not look like a forged message.
    private func expectInvalidLength(_ message: AEADMessage, _ backend: any CryptoBackend) throws {
        var output: [UInt8] = [1, 2, 3]
        let sealCode = try cryptoErrorCode {
            try backend.seal(
                message.algorithm, key: message.key.bytes, nonce: message.nonce.bytes, aad: message.aad.bytes,
                plaintext: message.plaintext.bytes, appendingTo: &output)
        }
        #expect(sealCode == .invalidLength)
        #expect(output == [1, 2, 3], "a failed seal leaves the output as it was")
        for byteCount in [0, 15, 16, 26] {
            let ciphertext = [UInt8](repeating: 0, count: byteCount)
            #expect(try message.openCode(ciphertext, with: backend) == .invalidLength)
        }
    }

    private func expectNoneOpens(
        _ count: Int, at location: SourceLocation = #_sourceLocation, _ code: (Int) throws -> CryptoError.Code?
    ) throws {
        let exceptions = try (0..<count).filter { index in try code(index) != .authenticationFailure }
        #expect(exceptions == [], sourceLocation: location)
    }
}
