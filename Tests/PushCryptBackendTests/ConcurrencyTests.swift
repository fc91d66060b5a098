import Foundation
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

/// All operations on all threads at once, with keys that all threads share.
@Suite struct ConcurrencyTests {
    private static let jobs: Range<UInt64> = 0..<64

    @Test("64 jobs on all threads at once return what one thread returns", arguments: Backends.all)
    func tasks(_ named: NamedBackend) async throws {
        let work = try SharedWork(named.backend)
        let expected = try Self.jobs.map(work.run)
        for _ in 0..<3 {
            let results = try await withThrowingTaskGroup(of: (Int, [UInt8]).self) { group in
                for job in Self.jobs { group.addTask { (Int(job), try work.run(job)) } }
                return try await group.reduce(into: [Int: [UInt8]]()) { $0[$1.0] = $1.1 }
            }
            #expect(results.count == expected.count)
            #expect(expected.indices.filter { results[$0] != expected[$0] } == [])
        }
    }

    @Test("jobs on threads that end return what one thread returns", arguments: Backends.all)
    func threads(_ named: NamedBackend) async throws {
        let work = try SharedWork(named.backend)
        let expected = try Self.jobs.map(work.run)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for thread in 0..<32 {
                group.addTask {
                    let jobs = Self.jobs.filter { $0 % 8 == UInt64(thread % 8) }
                    let results = try await onNewThread { try jobs.map(work.run) }
                    #expect(zip(jobs, results).filter { job, result in expected[Int(job)] != result }.map(\.0) == [])
                }
            }
            try await group.waitForAll()
        }
    }

    private func onNewThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result(catching: body)) }
        }
    }
}

/// A job calls every function of a backend. Its result depends only on its number.
private struct SharedWork: Sendable {
    let backend: any CryptoBackend
    let privateKeys: [any DecapsulationKey]
    let signingKey: any SigningKey

    init(_ backend: any CryptoBackend) throws {
        var generator = SplitMix64(seed: 50)
        self.backend = backend
        privateKeys = try KeyPairType.groups.map { type in
            let bytes = [0x7f] + generator.bytes(31)
            return try backend.privateKey(type, bytes.bytes)
        }
        signingKey = try backend.signingKey(generator.bytes(32).bytes)
    }

    func run(_ job: UInt64) throws -> [UInt8] {
        var generator = SplitMix64(seed: job)
        var results = try keyAgreement(&generator)
        for algorithm in AEADAlgorithm.allCases {
            let message = AEADMessage(algorithm, seed: job, plaintextByteCount: Int(job % 50) * 20, aadByteCount: 13)
            let sealed = try message.seal(with: backend)
            try check(message.open(sealed, with: backend) == message.plaintext)
            try check(message.openCode(sealed.flipping(bit: 7), with: backend) == .authenticationFailure)
            results += sealed
        }
        let message = generator.bytes(100)
        let signature = try signingKey.signature(for: message.bytes)
        try check(signingKey.publicKey.isValid(signature.bytes, for: message.bytes))
        try check(!signingKey.publicKey.isValid(signature.flipping(bit: 300).bytes, for: message.bytes))
        _ = try backend.randomSecret(count: 32)
        return results + backend.hmacSHA256(key: message.bytes).code(message) + (try backend.sha256(message.bytes))
    }

    private func keyAgreement(_ generator: inout SplitMix64) throws -> [UInt8] {
        var results = [UInt8]()
        for key in privateKeys {
            let type = key.publicKey.type
            let bytes = [0x7e] + generator.bytes(31)
            let other = try backend.privateKey(type, bytes.bytes)
            let fresh = try backend.generateKeyPair(type)
            try check(fresh.sharedSecret(with: key.publicKey) == key.sharedSecret(with: fresh.publicKey))
            try check((try? backend.publicKey(.p256, bytes.bytes)) == nil)
            results += try key.sharedSecret(with: other.publicKey).revealed
            results += try other.sharedSecret(with: key.publicKey).revealed
        }
        return results
    }

    private struct Failure: Error {}

    private func check(_ isRight: Bool) throws { if !isRight { throw Failure() } }
}
