import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptHPKE

@Suite struct DeriveKeyPairTests {
    @Test("keying material below 32 bytes is refused with invalidLength", arguments: KEM.dhkems, Backends.all)
    func shortKeyingMaterial(_ kem: KEM, _ named: NamedBackend) throws {
        let hpke = HPKE(kem: kem, aead: .aes128GCM, backend: named.backend)
        for count in 0..<32 {
            let ikm = [UInt8](repeating: 1, count: count)
            #expect(try hpkeErrorCode { try hpke.deriveKeyPair(ikm.bytes) } == .invalidLength, "\(count) bytes")
        }
        for count in [32, 33, 64, 1000] {
            let ikm = [UInt8](repeating: 1, count: count)
            #expect(try hpkeErrorCode { try hpke.deriveKeyPair(ikm.bytes) } == nil, "\(count) bytes")
        }
    }

    @Test("both backends derive the same key pair from the same keying material", arguments: KEM.dhkems)
    func backendsAgree(_ kem: KEM) throws {
        var generator = SplitMix64(seed: 60)
        var seen = Set<[UInt8]>()
        for count in 32..<82 {
            let ikm = generator.bytes(count)
            let keys = try Backends.all.map { named in
                try HPKE(kem: kem, aead: .aes128GCM, backend: named.backend).deriveKeyPair(ikm.bytes)
            }
            let serialized = try keys.map { try $0.serialized.revealed }
            #expect(Set(serialized).count == 1)
            #expect(Set(keys.map(\.publicKey.serialized)).count == 1)
            seen.insert(serialized[0])
        }
        #expect(seen.count == 50)
    }

    @Test("the derived pair is the same for every AEAD (RFC 9180 section 7.1.3)", arguments: KEM.dhkems, AEAD.allCases)
    func aeadHasNoPart(_ kem: KEM, _ aead: AEAD) throws {
        for named in Backends.all {
            let ikm = Parties.seed(1)
            let first = try HPKE(kem: kem, aead: .aes128GCM, backend: named.backend).deriveKeyPair(ikm.bytes)
            let second = try HPKE(kem: kem, aead: aead, backend: named.backend).deriveKeyPair(ikm.bytes)
            #expect(first.publicKey.serialized == second.publicKey.serialized)
        }
    }

    @Test("P-256 skips refused candidates; 256 throw DeriveKeyPairError", arguments: [1, 2, 255, 256], Backends.all)
    func refusedCandidates(_ number: Int, _ named: NamedBackend) throws {
        let ikm = Parties.seed(1)
        let candidates = try (0...255).map { try Self.candidate($0, ikm, named.backend) }
        #expect(Set(candidates).count == 256)
        let stub = StubBackend(named.backend, refusedPrivateKeys: Set(candidates.prefix(number)))
        let hpke = HPKE(kem: .dhkemP256, aead: .aes128GCM, backend: stub)
        guard number < 256 else {
            #expect(try hpkeErrorCode { try hpke.deriveKeyPair(ikm.bytes) } == .deriveKeyPair)
            return
        }
        #expect(try hpke.deriveKeyPair(ikm.bytes).serialized.revealed == candidates[number])
    }

    /// `LabeledExpand(dkp_prk, "candidate", I2OSP(counter, 1), Nsk)` of DHKEM(P-256, HKDF-SHA256), spelt out.
    private static func candidate(_ counter: UInt8, _ ikm: [UInt8], _ backend: any CryptoBackend) throws -> [UInt8] {
        let prefix = Array("HPKE-v1KEM".utf8) + [0x00, 0x10]
        let labeledIKM = prefix + Array("dkp_prk".utf8) + ikm
        let prk = HKDF.extract(salt: .init(), ikm: labeledIKM.bytes, backend: backend)
        let labeledInfo = [0, 32] + prefix + Array("candidate".utf8) + [counter]
        return try HKDF.expand(backend.hmacSHA256(key: prk.bytes), info: labeledInfo.bytes, count: 32).revealed
    }
}
