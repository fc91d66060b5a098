import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@Suite struct AEADKnownAnswerTests {
    @Test("published inputs seal to the published bytes and open again", arguments: AEADKnownAnswer.all, Backends.all)
    func sealsAndOpens(_ answer: AEADKnownAnswer, _ named: NamedBackend) throws {
        let backend = named.backend
        let sealed = try backend.sealed(
            answer.algorithm, key: answer.key, nonce: answer.nonce, aad: answer.aad, answer.plaintext)
        #expect(sealed == answer.sealed)
        let opened = try backend.opened(
            answer.algorithm, key: answer.key, nonce: answer.nonce, aad: answer.aad, answer.sealed)
        #expect(opened == answer.plaintext)
    }
}

/// One published message per algorithm, for a clone without the public vectors.
struct AEADKnownAnswer: Sendable, CustomStringConvertible {
    let description: String
    let algorithm: AEADAlgorithm
    let key, nonce, aad, plaintext, sealed: [UInt8]

    static let all = [
        AEADKnownAnswer(
            description: "GCM specification, test case 4", algorithm: .aes128GCM,
            key: .init(hex: "feffe9928665731c6d6a8f9467308308"), nonce: gcmNonce, aad: gcmAAD,
            plaintext: gcmPlaintext,
            sealed: .init(
                hex: """
                    42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e
                    21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091
                    5bc94fbc3221a5db94fae95ae7121a47
                    """)),
        AEADKnownAnswer(
            description: "GCM specification, test case 16", algorithm: .aes256GCM,
            key: .init(hex: "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308"), nonce: gcmNonce,
            aad: gcmAAD, plaintext: gcmPlaintext,
            sealed: .init(
                hex: """
                    522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa
                    8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662
                    76fc6ece0f4e1768cddf8853bb2d551b
                    """)),
        AEADKnownAnswer(
            description: "RFC 8439 section 2.8.2", algorithm: .chaCha20Poly1305,
            key: .init(hex: "808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f"),
            nonce: .init(hex: "070000004041424344454647"), aad: .init(hex: "50515253c0c1c2c3c4c5c6c7"),
            plaintext: Array(
                """
                Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, \
                sunscreen would be it.
                """.utf8),
            sealed: .init(
                hex: """
                    d31a8d34648e60db7b86afbc53ef7ec2a4aded51296e08fea9e2b5a736ee62d6
                    3dbea45e8ca9671282fafb69da92728b1a71de0a9e060b2905d6a5b67ecd3b36
                    92ddbd7f2d778b8c9803aee328091b58fab324e4fad675945585808b4831d7bc
                    3ff4def08e4b7a9de576d26586cec64b6116
                    1ae10b594f09e26a7e902ecbd0600691
                    """)),
    ]

    private static let gcmNonce = [UInt8](hex: "cafebabefacedbaddecaf888")
    private static let gcmAAD = [UInt8](hex: "feedfacedeadbeeffeedfacedeadbeefabaddad2")
    private static let gcmPlaintext = [UInt8](
        hex: """
            d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72
            1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39
            """)
}
