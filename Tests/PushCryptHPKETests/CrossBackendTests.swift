import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptHPKE

@Suite struct CrossBackendTests {
    @Test("a single-shot message that one backend seals opens with the other", arguments: Scenario.onPairs)
    func singleShot(_ scenario: Scenario, _ pair: BackendPair) throws {
        let sender = try Parties(scenario, pair.first)
        let recipient = try Parties(scenario, pair.second)
        let sealed = try sender.seal()
        #expect(sealed.count == scenario.kem.encByteCount + sender.plaintext.count + AEADAlgorithm.tagByteCount)
        #expect(try recipient.open(sealed) == sender.plaintext)
        guard scenario.kem != .xWing else { return }
        #expect(try sender.sealWithFixedEphemeral() == recipient.sealWithFixedEphemeral())
    }

    @Test("the messages of a context of one backend open in order with the other", arguments: Scenario.onPairs)
    func contexts(_ scenario: Scenario, _ pair: BackendPair) throws {
        var setup = try Parties(scenario, pair.first).senderSetup()
        var receiving = try Parties(scenario, pair.second).recipientContext(setup.enc)
        for number: UInt8 in 0..<5 {
            let plaintext = [UInt8](repeating: number, count: Int(number) * 10)
            let ciphertext = try setup.context.seal(plaintext.bytes, aad: [number].bytes)
            let opened = try receiving.open(ciphertext.bytes, aad: [number].bytes)
            #expect(opened == plaintext)
        }
        let sent = try setup.context.export([1].bytes, count: 50)
        let received = try receiving.export([1].bytes, count: 50)
        #expect(sent == received)
    }

    @Test("export-only contexts of two backends export the same secret", arguments: Scenario.exportOnly, Backends.pairs)
    func exportOnly(_ scenario: Scenario, _ pair: BackendPair) throws {
        let setup = try Parties(scenario, pair.first).senderSetup()
        let receiving = try Parties(scenario, pair.second).recipientContext(setup.enc)
        let sent = try setup.context.export([1].bytes, count: 50)
        let received = try receiving.export([1].bytes, count: 50)
        #expect(sent == received)
    }

    @Test("a single-shot message is a context's first one (RFC 9180 section 6)", arguments: Scenario.onBackends)
    func singleShotIsAContextsFirstMessage(_ scenario: Scenario, _ named: NamedBackend) throws {
        let parties = try Parties(scenario, named.backend)
        let sealed = try parties.seal()
        let encByteCount = scenario.kem.encByteCount
        var receiving = try parties.recipientContext(Array(sealed.prefix(encByteCount)))
        let ciphertext = Array(sealed.dropFirst(encByteCount))
        let opened = try receiving.open(ciphertext.bytes, aad: parties.aad.bytes)
        #expect(opened == parties.plaintext)

        var setup = try parties.senderSetup()
        let sent = try setup.context.seal(parties.plaintext.bytes, aad: parties.aad.bytes)
        let message = setup.enc + sent
        #expect(try parties.open(message) == parties.plaintext)
    }

    @Test("ten seals of one plaintext have ten encapsulated keys and ten ciphertexts", arguments: Scenario.onBackends)
    func everySealHasItsOwnEphemeralKey(_ scenario: Scenario, _ named: NamedBackend) throws {
        let parties = try Parties(scenario, named.backend)
        let messages = try (0..<10).map { _ in try parties.seal() }
        #expect(Set(messages.map { $0.prefix(scenario.kem.encByteCount) }).count == 10)
        #expect(Set(messages.map { $0.dropFirst(scenario.kem.encByteCount) }).count == 10)
        let (first, second) = (try parties.senderSetup().enc, try parties.senderSetup().enc)
        #expect(first != second)
    }

    @Test("messages with empty and long info, aad and plaintext open again", arguments: Scenario.onPairs)
    func fieldLengths(_ scenario: Scenario, _ pair: BackendPair) throws {
        for field in [\Parties.info, \.aad, \.plaintext] {
            for count in LongTests.areEnabled ? [0, 1, 64, 5000] : [0, 5000] {
                var sender = try Parties(scenario, pair.first)
                var recipient = try Parties(scenario, pair.second)
                sender[keyPath: field] = [UInt8](repeating: 8, count: count)
                recipient[keyPath: field] = sender[keyPath: field]
                #expect(try recipient.open(sender.seal()) == sender.plaintext)
            }
        }
    }
}
