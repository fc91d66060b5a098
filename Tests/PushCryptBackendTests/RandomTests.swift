import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@Suite struct RandomTests {
    @Test("random functions return as many bytes as requested", arguments: Backends.all)
    func lengths(_ named: NamedBackend) throws {
        for count in [0, 1, 2, 12, 16, 31, 32, 33, 1000, 65_537] {
            #expect(try named.backend.randomBytes(count: count).count == count)
            #expect(try named.backend.randomSecret(count: count).count == count)
        }
    }

    /// 2,000 values of 16 bytes: two equal ones have a chance of 2^-107.
    @Test("2,000 random values of 16 bytes are all different", arguments: Backends.all)
    func noRepetition(_ named: NamedBackend) throws {
        var seen = Set<[UInt8]>()
        for _ in 0..<1000 {
            #expect(seen.insert(try named.backend.randomBytes(count: 16)).inserted)
            #expect(seen.insert(try named.backend.randomSecret(count: 16).revealed).inserted)
        }
    }

    /// Every byte of the buffer is written: a zero stays in one place of 64 values with a chance of 2^-512.
    @Test("64 random values have no position that is always zero", arguments: Backends.all)
    func everyByteIsWritten(_ named: NamedBackend) throws {
        var publicUnion = [UInt8](repeating: 0, count: 100)
        var secretUnion = publicUnion
        for _ in 0..<64 {
            let bytes = try named.backend.randomBytes(count: 100)
            let secret = try named.backend.randomSecret(count: 100).revealed
            for index in 0..<100 {
                publicUnion[index] |= bytes[index]
                secretUnion[index] |= secret[index]
            }
        }
        #expect(!publicUnion.contains(0))
        #expect(!secretUnion.contains(0))
    }

    @Test("generated keys are all different and can be exported", arguments: Backends.all)
    func freshKeys(_ named: NamedBackend) throws {
        var seen = Set<[UInt8]>()
        for _ in 0..<20 {
            for type in KeyPairType.allCases where named.backend.supports(type) {
                let key = try named.backend.generateKeyPair(type)
                let (publicKey, bytes) = (key.publicKey.serialized, try key.serialized.revealed)
                #expect(key.publicKey.type == type && publicKey.count == type.publicKeyByteCount)
                #expect(seen.insert(bytes).inserted)
                #expect(try named.backend.privateKey(type, bytes.bytes).publicKey.serialized == publicKey)
            }
            #expect(seen.insert(try named.backend.generateSigningKey().serialized.revealed).inserted)
        }
    }
}
