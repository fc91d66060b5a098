import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@Suite(.needsPublicVectors) struct WycheproofAESGCMTests {
    typealias File = WycheproofFile<AEADTest<AESGCM>>
    static let name = "aes_gcm_test.json"

    @Test("the backend gives the verdict of a Wycheproof vector", arguments: try File.vectors(name), Backends.all)
    func vector(_ vector: WycheproofVector<AEADTest<AESGCM>>, _ named: NamedBackend) throws {
        try vector.test.check(named.backend)
    }

    @Test("the vectors of the file are all run or excluded by a named reason", arguments: Backends.all)
    func everyTestIsAccountedFor(_ named: NamedBackend) throws {
        let counts = try File.load(Self.name).tally(named.backend)
        #expect(
            counts == [.matches: 79, .refused: 54, .outside("keySize"): 103, .outside("ivSize"): 80])
    }
}

@Suite(.needsPublicVectors) struct WycheproofChaCha20Poly1305Tests {
    typealias File = WycheproofFile<AEADTest<ChaCha20Poly1305>>
    static let name = "chacha20_poly1305_test.json"

    @Test("the backend gives the verdict of a Wycheproof vector", arguments: try File.vectors(name), Backends.all)
    func vector(_ vector: WycheproofVector<AEADTest<ChaCha20Poly1305>>, _ named: NamedBackend) throws {
        try vector.test.check(named.backend)
    }

    @Test("the vectors of the file are all run or excluded by a named reason", arguments: Backends.all)
    func everyTestIsAccountedFor(_ named: NamedBackend) throws {
        let counts = try File.load(Self.name).tally(named.backend)
        #expect(counts == [.matches: 256, .refused: 60, .outside("ivSize"): 9])
    }
}

protocol AEADFamily: Sendable {
    static var algorithms: [AEADAlgorithm] { get }
}

enum AESGCM: AEADFamily {
    static let algorithms = [AEADAlgorithm.aes128GCM, .aes256GCM]
}

enum ChaCha20Poly1305: AEADFamily {
    static let algorithms = [AEADAlgorithm.chaCha20Poly1305]
}

struct AEADTest<Family: AEADFamily>: WycheproofTest, Decodable {
    typealias Group = WycheproofTests<Self>

    let tcId: Int
    let comment: String
    let result: WycheproofResult
    let key, iv, aad, msg, ct, tag: HexBytes

    private var algorithm: AEADAlgorithm? {
        Family.algorithms.first { $0.keyByteCount == key.bytes.count }
    }

    var category: WycheproofCategory {
        if algorithm == nil { return .outside("keySize") }
        if iv.bytes.count != AEADAlgorithm.nonceByteCount { return .outside("ivSize") }
        return result == .valid ? .matches : .refused
    }

    func check(_ backend: any CryptoBackend) throws {
        switch category {
        case .matches:
            let sealed = try seal(backend, algorithm!)
            try WycheproofMismatch.unless(sealed == ct.bytes + tag.bytes, "sealed \(sealed)")
            let opened = try open(backend, algorithm!)
            try WycheproofMismatch.unless(opened == msg.bytes, "opened \(opened)")
        case .refused:
            let code = try cryptoErrorCode { try open(backend, algorithm!) }
            try WycheproofMismatch.unless(code == .authenticationFailure, "\(code, default: "opened")")
        case .outside:
            for algorithm in algorithm.map({ [$0] }) ?? Family.algorithms {
                let sealCode = try cryptoErrorCode { try seal(backend, algorithm) }
                try WycheproofMismatch.unless(sealCode == .invalidLength, "\(sealCode, default: "sealed")")
                let openCode = try cryptoErrorCode { try open(backend, algorithm) }
                try WycheproofMismatch.unless(openCode == .invalidLength, "\(openCode, default: "opened")")
            }
        }
    }

    private func seal(_ backend: any CryptoBackend, _ algorithm: AEADAlgorithm) throws -> [UInt8] {
        try backend.sealed(algorithm, key: key.bytes, nonce: iv.bytes, aad: aad.bytes, msg.bytes)
    }

    private func open(_ backend: any CryptoBackend, _ algorithm: AEADAlgorithm) throws -> [UInt8] {
        try backend.opened(algorithm, key: key.bytes, nonce: iv.bytes, aad: aad.bytes, ct.bytes + tag.bytes)
    }
}
