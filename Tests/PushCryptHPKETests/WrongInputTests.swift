import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptHPKE

/// A recipient with an input other than the sender's can't open, and learns nothing else.
@Suite struct WrongInputTests {
    @Test("a message doesn't open under another info or aad", arguments: Scenario.all, Backends.all)
    func infoAndAAD(_ scenario: Scenario, _ named: NamedBackend) throws {
        let parties = try Parties(scenario, named.backend)
        let sealed = try parties.seal()
        for other in [[], [0], Array("inf".utf8), Array("info\0".utf8), Array("jnfo".utf8), parties.aad] {
            var changed = parties
            changed.info = other
            #expect(try changed.openCode(sealed) == .open)
        }
        for other in [[], [0], Array("aa".utf8), Array("aad\0".utf8), Array("bad".utf8), parties.info] {
            var changed = parties
            changed.aad = other
            #expect(try changed.openCode(sealed) == .open)
        }
        #expect(try parties.open(sealed) == parties.plaintext)
    }

    @Test("a message doesn't open with another psk or psk_id, or without one", arguments: Scenario.all, Backends.all)
    func psk(_ scenario: Scenario, _ named: NamedBackend) throws {
        let parties = try Parties(scenario, named.backend)
        let sealed = try parties.seal()
        let longer = try PSK(SecretBytes(copying: (Parties.seed(4) + [0]).bytes), id: Array("psk id".utf8))
        var wrong: [PSK?] = try [
            Parties.psk(byte: 5), Parties.psk(id: "psk ie"), Parties.psk(id: "psk id "), longer, nil,
        ]
        if !scenario.mode.hasPSK {
            wrong = [try Parties.psk()]
        }
        for psk in wrong {
            var changed = parties
            changed.psk = psk
            #expect(try changed.openCode(sealed) == .open)
        }
    }

    @Test("a message doesn't open with another sender key, or without one", arguments: Scenario.all, Backends.all)
    func senderKey(_ scenario: Scenario, _ named: NamedBackend) throws {
        let parties = try Parties(scenario, named.backend)
        let sealed = try parties.seal()
        let stranger = try parties.hpke.deriveKeyPair(Parties.seed(9).bytes).publicKey
        let wrong: [(any EncapsulationKey)?] =
            if scenario.mode.hasSenderKey {
                [stranger, parties.recipientPublic, parties.ephemeral.publicKey, nil]
            } else {
                [stranger, parties.recipientPublic]
            }
        for key in wrong {
            var changed = parties
            changed.senderPublic = key
            #expect(try changed.openCode(sealed) == .open)
        }
    }

    @Test("a message doesn't open with another recipient's key", arguments: Scenario.all, Backends.all)
    func recipientKey(_ scenario: Scenario, _ named: NamedBackend) throws {
        let parties = try Parties(scenario, named.backend)
        var toAStranger = parties
        toAStranger.recipientPublic = try parties.hpke.deriveKeyPair(Parties.seed(9).bytes).publicKey
        #expect(try parties.openCode(toAStranger.seal()) == .open)
    }

    @Test("a message doesn't open under another AEAD with the same keys", arguments: Scenario.all, Backends.all)
    func aead(_ scenario: Scenario, _ named: NamedBackend) throws {
        let sealed = try Parties(scenario, named.backend).seal()
        for aead in AEAD.allCases where aead != scenario.aead && aead != .exportOnly {
            let other = try Parties(Scenario(kem: scenario.kem, aead: aead, mode: scenario.mode), named.backend)
            #expect(try other.openCode(sealed) == .open)
        }
    }

    @Test("another info, psk or sender key changes the exports", arguments: Scenario.exportOnly, Backends.all)
    func exports(_ scenario: Scenario, _ named: NamedBackend) throws {
        let parties = try Parties(scenario, named.backend)
        let setup = try parties.senderSetup()
        let sent = try setup.context.export([1].bytes, count: 32)
        var changes = [Parties]()
        var changed = parties
        changed.info.append(0)
        changes.append(changed)
        changed = parties
        changed.psk = try scenario.mode.hasPSK ? Parties.psk(byte: 5) : Parties.psk()
        changes.append(changed)
        changed = parties
        changed.senderPublic = try parties.hpke.deriveKeyPair(Parties.seed(9).bytes).publicKey
        changes.append(changed)
        for changed in changes {
            let receiving = try changed.recipientContext(setup.enc)
            let received = try receiving.export([1].bytes, count: 32)
            #expect(received != sent)
        }
    }
}
