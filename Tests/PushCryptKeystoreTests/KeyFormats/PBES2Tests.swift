import PushCryptKeystore
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@Suite struct PBES2Tests {
    private let containers: ForeignContainers
    /// 1,000 iterations.
    private let pbkdf2: [UInt8]
    private let scrypt: [UInt8]

    init() throws {
        containers = try ForeignContainers.shared.get()
        pbkdf2 = try containers.der("p256 PBKDF2 and AES-256-CBC")
        scrypt = try containers.der("p256 scrypt")
    }

    @Test func `an encrypted container without a passphrase is refused`() throws {
        #expect(try KeyContainer.refusal(pbkdf2) == .passphraseNeeded)
        #expect(try KeyContainer.refusal(scrypt) == .passphraseNeeded)
    }

    /// About one wrong passphrase in 256 decrypts to bytes with valid padding and must have the same code.
    @Test func `every wrong passphrase is refused with the same code`() throws {
        let codes = try (0..<2_000).map { try KeyContainer.refusal(pbkdf2, passphrase: "wrong \($0)") }
        #expect(codes.allSatisfy { $0 == .wrongPassphrase })
        for passphrase in [containers.passphrase + " ", String(containers.passphrase.dropLast()), ""] {
            #expect(try KeyContainer.refusal(pbkdf2, passphrase: passphrase) == .wrongPassphrase)
            #expect(try KeyContainer.refusal(scrypt, passphrase: passphrase) == .wrongPassphrase)
        }
    }

    /// P-256 containers also contain the public key, so that every change of the ciphertext is detected.
    @Test func `a flipped bit of the ciphertext is refused`() throws {
        let damage: Set<KeyContainerError.Code> = [
            .wrongPassphrase, .inconsistentKeyPair, .invalidKey, .unsupportedKey,
        ]
        let start = pbkdf2.count - 144
        for bit in start * 8..<pbkdf2.bitCount {
            let code = try KeyContainer.refusal(pbkdf2.flipping(bit: bit), passphrase: containers.passphrase)
            #expect(code.map(damage.contains) == true, "bit \(bit), \(String(describing: code))")
        }
    }

    @Test func `a ciphertext that was cut is refused`() throws {
        let scheme = Array(pbkdf2[3..<pbkdf2.count - 147])
        for count in [0, 1, 15, 16, 17, 127, 128, 143] {
            let container = DER.sequence(scheme, DER.octets(Array(pbkdf2.suffix(144).prefix(count))))
            let code = try KeyContainer.refusal(container, passphrase: containers.passphrase)
            #expect(code == .wrongPassphrase, "\(count)")
        }
    }

    @Test func `a changed iteration count is refused`() throws {
        // 1,000.
        let original: [UInt8] = [0x02, 0x02, 0x03, 0xe8]
        for (changed, code) in [
            ([0x02, 0x02, 0x00, 0x00], KeyContainerError.Code.malformed),
            ([0x02, 0x02, 0x83, 0xe8], .malformed),
            ([0x02, 0x02, 0x00, 0x7f], .malformed),
            ([0x02, 0x02, 0x03, 0xe9], .wrongPassphrase),
            ([0x02, 0x02, 0x00, 0xff], .wrongPassphrase),
        ] as [([UInt8], KeyContainerError.Code)] {
            let container = try pbkdf2.replacing(original, with: changed)
            #expect(try KeyContainer.refusal(container, passphrase: containers.passphrase) == code)
        }
    }

    /// Zero, and counts above the limit with up to 128 bits.
    private static let refusedIterations: [[UInt8]] = [
        [0], [0x00, 0x98, 0x96, 0x81], [0x7f, 0xff, 0xff, 0xff], [0x7f] + [UInt8](repeating: 0xff, count: 7),
        [0x00] + [UInt8](repeating: 0xff, count: 8), [0x7f] + [UInt8](repeating: 0xff, count: 15),
    ]

    @Test func `a count outside the limits, or an unknown scheme, derivation, PRF or cipher is refused`() throws {
        let changes: [(inout PBES2Scheme) -> Void] = [
            { $0.scheme[9] = 0x0e }, { $0.derivation[9] = 0x0e }, { $0.prf[8] = 0x63 }, { $0.cipher[9] = 0x63 },
            // AES-256-GCM, which PBES2 doesn't support, and an IV of 8 bytes.
            { $0.cipher[9] = 0x2e }, { $0.iv = DER.octets([UInt8](repeating: 0, count: 8)) },
        ]
        var schemes = Self.refusedIterations.map { PBES2Scheme(iterations: $0) }
        for change in changes {
            var scheme = PBES2Scheme(iterations: [1])
            #expect(try KeyContainer.refusal(scheme.container, passphrase: "") == .wrongPassphrase)
            change(&scheme)
            schemes.append(scheme)
        }
        for scheme in schemes {
            #expect(try KeyContainer.refusal(scheme.container, passphrase: "") == .unsupportedEncryption)
        }
    }

    /// N 3 and 0; r 0 and 33; p 17; numbers of 64 bits and more; and 1 GiB, which is above OpenSSL's limit.
    @Test func `scrypt parameters outside the limits are refused`() throws {
        let large = [UInt8](repeating: 0xff, count: 8)
        let costs: [[[UInt8]]] = [
            [[3], [8], [1]], [[0], [8], [1]], [[16], [0], [1]], [[16], [33], [1]], [[16], [8], [17]],
            [[0x40] + [UInt8](repeating: 0, count: 7), [8], [1]], [[0x01] + large, [8], [1]], [[16], [0] + large, [1]],
            [[16], [8], [0x7f] + large], [[0x10, 0x00, 0x00], [8], [1]],
        ]
        for cost in costs {
            let container = PBES2Scheme(scrypt: cost).container
            #expect(try KeyContainer.refusal(container, passphrase: "") == .unsupportedEncryption)
        }
        let allowed = PBES2Scheme(scrypt: [[16], [8], [1]]).container
        #expect(try KeyContainer.refusal(allowed, passphrase: "") == .wrongPassphrase)
    }
}

extension ForeignContainers {
    func der(_ name: String) throws -> [UInt8] {
        try derOfPEM(try #require(keys.first { $0.name == name }).pem)
    }
}

extension [UInt8] {
    /// A copy with the one occurrence of `old` changed.
    fileprivate func replacing(_ old: [UInt8], with new: [UInt8]) throws -> [UInt8] {
        let places = indices.dropLast(old.count - 1).filter { self[$0...].starts(with: old) }
        try #require(places.count == 1)
        return Array(self[..<places[0]]) + new + Array(self[(places[0] + old.count)...])
    }
}

/// An encrypted container whose parts can be changed. Its ciphertext decrypts to nothing valid.
struct PBES2Scheme {
    var scheme = DER.element(0x06, [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x05, 0x0d])
    var derivation: [UInt8]
    var cost: [UInt8]
    var prf = DER.element(0x06, [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x02, 0x09])
    /// AES-256-CBC.
    var cipher = DER.element(0x06, [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x01, 0x2a])
    var iv = DER.octets([UInt8](repeating: 0, count: 16))

    /// PBKDF2 with HMAC-SHA-256.
    init(iterations: [UInt8]) {
        derivation = DER.element(0x06, [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x05, 0x0c])
        cost = DER.element(0x02, iterations)
    }

    /// N, r, p.
    init(scrypt numbers: [[UInt8]]) {
        derivation = DER.element(0x06, [0x2b, 0x06, 0x01, 0x04, 0x01, 0xda, 0x47, 0x04, 0x0b])
        cost = numbers.flatMap { DER.element(0x02, $0) }
        prf = []
    }

    var container: [UInt8] {
        let salt = DER.octets([UInt8](repeating: 1, count: 16))
        let function = prf.isEmpty ? [] : DER.sequence(prf, DER.element(0x05))
        let parameters = DER.sequence(
            DER.sequence(derivation, DER.sequence(salt, cost, function)), DER.sequence(cipher, iv))
        return DER.sequence(DER.sequence(scheme, parameters), DER.octets([UInt8](repeating: 2, count: 64)))
    }
}
