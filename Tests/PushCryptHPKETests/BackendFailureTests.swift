import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptHPKE

/// A failure of the library, such as no memory, isn't translated to OpenError.
@Suite struct BackendFailureTests {
    private static let failure = StubBackend.failure

    @Test("a failure of the backend in a single-shot call is thrown as it is", arguments: Scenario.all, Backends.all)
    func singleShot(_ scenario: Scenario, _ named: NamedBackend) throws {
        let working = try Parties(scenario, named.backend)
        let failing = try Parties(scenario, StubBackend(named.backend, failing: [.seal, .open]))
        let sealed = try working.seal()
        #expect(throws: Self.failure) { try failing.open(sealed) }
        var output: [UInt8] = [1, 2, 3]
        #expect(throws: Self.failure) {
            try failing.hpke.seal(
                [7].bytes, to: failing.recipientPublic, info: failing.info.bytes, psk: failing.psk,
                senderKey: failing.senderKey, appendingTo: &output)
        }
        #expect(output == [1, 2, 3], "enc was removed again")
    }

    @Test("a Seal or Open that fails in the backend uses no sequence number", arguments: Scenario.all, Backends.all)
    func contexts(_ scenario: Scenario, _ named: NamedBackend) throws {
        let failing = try Parties(scenario, StubBackend(named.backend, failing: [.seal, .open]))
        var setup = try failing.senderSetup()
        var receiving = try failing.recipientContext(setup.enc)
        func failure(_ body: () throws -> [UInt8]) -> (any Error)? {
            do { _ = try body() } catch { return error }
            return nil
        }
        let sealing = failure { try setup.context.seal([1].bytes) }
        let opening = failure { try receiving.open([UInt8](repeating: 0, count: 16).bytes) }
        #expect([sealing as? CryptoError, opening as? CryptoError] == [Self.failure, Self.failure])
        let sequences = [setup.context.sequence.bytes, receiving.sequence.bytes]
        #expect(sequences == [SequenceNumber().bytes, SequenceNumber().bytes])
    }
}
