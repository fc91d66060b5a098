import CPushCryptOpenSSL
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptOpenSSL

@Suite struct AEADKnownAnswerTests {
    @Test("published inputs seal to the published bytes and open again", arguments: AEADKnownAnswer.all, Backends.all)
    func sealsAndOpens(_ answer: AEADKnownAnswer, _ named: NamedBackend) throws {
        #expect(try answer.message.seal(with: named.backend) == answer.sealed)
        #expect(try answer.message.open(answer.sealed, with: named.backend) == answer.message.plaintext)
    }
}

/// One published message per algorithm, for a clone without the public vectors.
struct AEADKnownAnswer: Sendable, CustomStringConvertible {
    let description: String
    let message: AEADMessage
    let sealed: [UInt8]

    private init(
        _ description: String, _ algorithm: AEADAlgorithm, key: String, nonce: String = "cafebabefacedbaddecaf888",
        aad: String = "feedfacedeadbeeffeedfacedeadbeefabaddad2", _ plaintext: [UInt8], sealed: String
    ) {
        self.description = description
        message = AEADMessage(
            algorithm, key: .init(hex: key), nonce: .init(hex: nonce), aad: .init(hex: aad), plaintext: plaintext)
        self.sealed = [UInt8](hex: sealed)
    }

    static let all = [
        AEADKnownAnswer(
            "GCM specification, test case 4", .aes128GCM, key: "feffe9928665731c6d6a8f9467308308", gcmPlaintext,
            sealed: """
                42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e
                21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091
                5bc94fbc3221a5db94fae95ae7121a47
                """),
        AEADKnownAnswer(
            "GCM specification, test case 16", .aes256GCM,
            key: "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308", gcmPlaintext,
            sealed: """
                522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa
                8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662
                76fc6ece0f4e1768cddf8853bb2d551b
                """),
        AEADKnownAnswer(
            "RFC 8439 section 2.8.2", .chaCha20Poly1305,
            key: "808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f",
            nonce: "070000004041424344454647", aad: "50515253c0c1c2c3c4c5c6c7",
            Array(
                """
                Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, \
                sunscreen would be it.
                """.utf8),
            sealed: """
                d31a8d34648e60db7b86afbc53ef7ec2a4aded51296e08fea9e2b5a736ee62d6
                3dbea45e8ca9671282fafb69da92728b1a71de0a9e060b2905d6a5b67ecd3b36
                92ddbd7f2d778b8c9803aee328091b58fab324e4fad675945585808b4831d7bc
                3ff4def08e4b7a9de576d26586cec64b61161ae10b594f09e26a7e902ecbd0600691
                """),
    ]

    private static let gcmPlaintext = [UInt8](
        hex: """
            d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72
            1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39
            """)
}

@Suite struct AEADRoundTripTests {
    /// Lengths around the block sizes of AES (16) and ChaCha20 (64), around the widths of vector code, and 256 KiB.
    static let byteCounts = [
        0, 1, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 4096, 4097, 1 << 18,
    ]

    @Test("a plaintext of any length opens, and not after a change", arguments: AEADAlgorithm.allCases, Backends.all)
    func everyLength(_ algorithm: AEADAlgorithm, _ named: NamedBackend) throws {
        for (seed, byteCount) in Self.byteCounts.enumerated() {
            for aadByteCount in [0, 1, 16, 100] {
                let message = AEADMessage(
                    algorithm, seed: UInt64(seed), plaintextByteCount: byteCount, aadByteCount: aadByteCount)
                let sealed = try message.seal(with: named.backend)
                #expect(sealed.count == byteCount + AEADAlgorithm.tagByteCount)
                #expect(try message.open(sealed, with: named.backend) == message.plaintext)
                let flipped = sealed.flipping(bit: sealed.bitCount / 2)
                #expect(try message.openCode(flipped, with: named.backend) == .authenticationFailure)
                guard aadByteCount > 0 else { continue }
                var changed = message
                changed.aad[aadByteCount - 1] ^= 1
                #expect(try changed.openCode(sealed, with: named.backend) == .authenticationFailure)
            }
        }
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

    @Test("a reused context carries nothing into the next message, not even after a failure", arguments: Backends.all)
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

@Suite struct AEADRefusalTests {
    @Test("a flipped bit of ciphertext, key, nonce or aad is refused", arguments: AEADAlgorithm.allCases, Backends.all)
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

    @Test("a cut or extended ciphertext is refused as not authentic", arguments: AEADAlgorithm.allCases, Backends.all)
    func otherLengths(_ algorithm: AEADAlgorithm, _ named: NamedBackend) throws {
        let message = AEADMessage(algorithm, seed: 11, plaintextByteCount: 40, aadByteCount: 9)
        let sealed = try message.seal(with: named.backend)
        try expectNoneOpens(sealed.count) { try message.openCode(Array(sealed.prefix($0)), with: named.backend) }
        try expectNoneOpens(sealed.count) { try message.openCode(Array(sealed.dropFirst($0 + 1)), with: named.backend) }
        try expectNoneOpens(256) { try message.openCode(sealed + [UInt8($0)], with: named.backend) }
        try expectNoneOpens(256) { try message.openCode([UInt8($0)] + sealed, with: named.backend) }
        // A byte moved from the front of the ciphertext to the end of the aad.
        var moved = message
        moved.aad.append(sealed[0])
        #expect(try moved.openCode(Array(sealed.dropFirst()), with: named.backend) == .authenticationFailure)
    }

    @Test("a key or nonce of another length throws invalidLength", arguments: AEADAlgorithm.allCases, Backends.all)
    func wrongLengths(_ algorithm: AEADAlgorithm, _ named: NamedBackend) throws {
        let message = AEADMessage(algorithm, seed: 13, plaintextByteCount: 10, aadByteCount: 0)
        for field in [\AEADMessage.key, \.nonce] {
            for byteCount in 0...65 where byteCount != message[keyPath: field].count {
                var changed = message
                changed[keyPath: field] = [UInt8](repeating: 7, count: byteCount)
                try expectInvalidLength(changed, named.backend)
            }
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
            #expect(try message.openCode([UInt8](repeating: 0, count: byteCount), with: backend) == .invalidLength)
        }
    }

    private func expectNoneOpens(
        _ count: Int, at location: SourceLocation = #_sourceLocation, _ code: (Int) throws -> CryptoError.Code?
    ) throws {
        let exceptions = try (0..<count).filter { index in try code(index) != .authenticationFailure }
        #expect(exceptions == [], sourceLocation: location)
    }
}

/// What was decrypted and isn't authentic is erased before the memory is freed.
@Suite struct ErasedPlaintextTests {
    @Test func `a cipher that fails after it wrote half of the plaintext leaves only zeros in the buffer`() throws {
        let cipher = unsafe try unwrap(EVP_CIPHER_meth_new(NID_undef, 1, 16), "EVP_CIPHER_meth_new")
        defer { unsafe EVP_CIPHER_meth_free(cipher) }
        unsafe EVP_CIPHER_meth_set_flags(cipher, UInt(EVP_CIPH_FLAG_CUSTOM_CIPHER))
        unsafe EVP_CIPHER_meth_set_do_cipher(cipher) { _, output, _, count in
            for index in 0..<count / 2 { unsafe output?[index] = 0xaa }
            return -1
        }
        let context = unsafe try CipherContext(.aes128GCM, .open, cipher)
        #expect(Self.leftover(by: context, of: [UInt8](repeating: 1, count: 80), .backendFailure) == Self.zeros)
    }

    @Test("a ciphertext with a wrong tag leaves only zeros in the buffer", arguments: AEADAlgorithm.allCases)
    func wrongTag(_ algorithm: AEADAlgorithm) throws {
        let context = try CipherContext(algorithm, .open)
        try context.begin(
            key: [UInt8](repeating: 2, count: algorithm.keyByteCount).bytes,
            nonce: [UInt8](repeating: 3, count: 12).bytes, aad: [UInt8]().bytes)
        #expect(Self.leftover(by: context, of: [UInt8](repeating: 1, count: 80), .authenticationFailure) == Self.zeros)
    }

    private static let zeros = [UInt8](repeating: 0, count: 64)

    private static func leftover(
        by context: CipherContext, of ciphertext: [UInt8], _ code: CryptoError.Code
    ) -> [UInt8] {
        [UInt8](count: zeros.count) { plaintext in
            do {
                try context.finishOpening(ciphertext.bytes, into: &plaintext)
                Issue.record("opened")
            } catch {
                #expect((error as? CryptoError)?.code == code)
            }
        }
    }
}
