import PushCryptKeystore
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@Suite struct KeyContainerMutationTests {
    private static let unencrypted: [(KeyContainer.Form, ContainedKey.Algorithm)] =
        ContainedKey.Algorithm.allCases.flatMap { [(.publicKey, $0), (.privateKey, $0)] }

    /// For X25519 and Ed25519, a flip of the last 256 bits, which are the key, gives another key. For P-256 it gives a point
    /// off the curve. A container of a private key with version 1 is valid too and contains the same key.
    @Test("a flipped bit gives another key or a refusal", arguments: ContainedKey.Algorithm.allCases, [false, true])
    func everyBit(_ algorithm: ContainedKey.Algorithm, isPrivate: Bool) throws {
        let key = try ContainedKey.sample(algorithm)
        let container = try key.written(as: isPrivate ? .privateKey : .publicKey, .der)
        let bits = 0..<container.bitCount
        let version = isPrivate ? [algorithm == .p256 ? 5 * 8 : 4 * 8] : []
        let readable = try bits.filter { try KeyContainer.refusal(container.flipping(bit: $0)) == nil }
        #expect(readable == version + (algorithm == .p256 ? [] : Array(bits.suffix(256))))
        for bit in readable {
            let other = try KeyContainer.read(container.flipping(bit: bit))
            let isSame = isPrivate ? other.privateKey == key.privateKey : other.publicKey == key.publicKey
            #expect(other.algorithm == algorithm && isSame == version.contains(bit))
        }
    }

    @Test("a container that was cut, or extended by any byte, is refused", arguments: ContainedKey.Algorithm.allCases)
    func lengths(_ algorithm: ContainedKey.Algorithm) throws {
        let key = try ContainedKey.sample(algorithm)
        let passphrase = SecretBytes(text: "passphrase")
        let forms = [KeyContainer.Form.publicKey, .privateKey, .encryptedPrivateKey(passphrase: passphrase)]
        for form in forms {
            let container = try key.written(as: form, .der)
            for count in 0..<container.count {
                let code = try KeyContainer.refusal(Array(container.prefix(count)), passphrase: "passphrase")
                #expect(code == (count == 0 ? .notAKeyContainer : .malformed))
            }
            for byte in UInt8.min...UInt8.max {
                #expect(try KeyContainer.refusal(container + [byte], passphrase: "passphrase") == .malformed)
            }
        }
    }

    @Test("randomly changed DER gives a writable key or a refusal", arguments: 0..<10)
    func randomDER(_ round: UInt64) throws {
        let originals = try Self.originals()
        let passphrase = try ForeignContainers.shared.get().passphrase
        var generator = SplitMix64(seed: 1_000 + round)
        var codes = Set<KeyContainerError.Code?>()
        for index in 0..<1_000 {
            let container = originals[index % originals.count].mutated(with: &generator)
            let code = try KeyContainer.refusal(container, passphrase: passphrase)
            codes.insert(code)
            if code == nil { try expectWritable(KeyContainer.read(container, passphrase: passphrase)) }
        }
        #expect(codes.isSuperset(of: [nil, .malformed, .notAKeyContainer, .unsupportedKey, .wrongPassphrase]))
    }

    @Test func `randomly changed PEM gives a writable key or a refusal`() throws {
        let pems = try ForeignContainers.shared.get().keys.map { Array($0.pem.utf8) }
        let passphrase = try ForeignContainers.shared.get().passphrase
        var generator = SplitMix64(seed: 2_000)
        for index in 0..<2_000 {
            let container = pems[index % pems.count].mutated(with: &generator)
            if try KeyContainer.refusal(container, passphrase: passphrase) == nil {
                try expectWritable(KeyContainer.read(container, passphrase: passphrase))
            }
        }
    }

    @Test func `a key file of random bytes, bare or in a DER sequence, is refused`() throws {
        var generator = SplitMix64(seed: 3_000)
        for _ in 0..<2_000 {
            let bytes = generator.bytes(Int.random(in: 0..<200, using: &generator))
            #expect(try KeyContainer.refusal(bytes, passphrase: "") != nil)
            #expect(try KeyContainer.refusal([0x30, UInt8(bytes.count % 128)] + bytes, passphrase: "") != nil)
        }
    }

    private func expectWritable(_ key: ContainedKey) throws {
        let form = key.privateKey == nil ? KeyContainer.Form.publicKey : .privateKey
        #expect(try KeyContainer.read(key.written(as: form, .der)).isSame(as: key))
    }

    private static func originals() throws -> [[UInt8]] {
        try unencrypted.map { form, algorithm in try ContainedKey.sample(algorithm).written(as: form, .der) }
            + ForeignContainers.shared.get().keys.map { try derOfPEM($0.pem) }
    }
}

extension [UInt8] {
    /// A copy with one to four random changes: a bit, a byte, bytes taken out, put in or repeated.
    fileprivate func mutated(with generator: inout SplitMix64) -> [UInt8] {
        var copy = self
        for _ in 0..<Int.random(in: 1...4, using: &generator) where !copy.isEmpty {
            let place = Int.random(in: copy.indices, using: &generator)
            let end = Swift.min(copy.count, place + Int.random(in: 1...8, using: &generator))
            switch Int.random(in: 0..<8, using: &generator) {
            case 0...2: copy[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            case 3...4: copy[place] = .random(in: .min ... .max, using: &generator)
            case 5: copy.removeSubrange(place..<end)
            case 6: copy.insert(contentsOf: generator.bytes(end - place), at: place)
            default: copy.insert(contentsOf: copy[place..<end], at: place)
            }
        }
        return copy
    }
}
