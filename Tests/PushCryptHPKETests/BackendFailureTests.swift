import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptHPKE

/// A failure of the library, such as no memory, isn't translated to OpenError.
@Suite struct BackendFailureTests {
    private static let failure = CryptoError(.backendFailure, "out of memory")

    @Test("a failure of the backend in a single-shot call is thrown as it is", arguments: Scenario.all, Backends.all)
    func singleShot(_ scenario: Scenario, _ named: NamedBackend) throws {
        let working = try Parties(scenario, named.backend)
        let failing = try Parties(scenario, StubBackend(named.backend, failure: Self.failure))
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

    @Test(
        "a Seal or Open that fails in the backend doesn't use a sequence number", arguments: Scenario.all, Backends.all)
    func contexts(_ scenario: Scenario, _ named: NamedBackend) throws {
        let failing = try Parties(scenario, StubBackend(named.backend, failure: Self.failure))
        var setup = try failing.senderSetup()
        var receiving = try failing.recipientContext(setup.enc)
        do {
            _ = try setup.context.seal([1].bytes)
            Issue.record("sealed")
        } catch {
            #expect(error as? CryptoError == Self.failure)
        }
        do {
            _ = try receiving.open([UInt8](repeating: 0, count: 16).bytes)
            Issue.record("opened")
        } catch {
            #expect(error as? CryptoError == Self.failure)
        }
        let sequences = [setup.context.sequence.bytes, receiving.sequence.bytes]
        #expect(sequences == [SequenceNumber().bytes, SequenceNumber().bytes])
    }
}
