import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptHPKE

@Suite struct ModifiedMessageTests {
    static let scenarios = Scenario.all.filter { $0.mode == .base || $0.mode == .authPSK }

    @Test("a flip in any byte of enc or ct makes Open fail", arguments: scenarios, Backends.all)
    func everyByteFlipped(_ scenario: Scenario, _ named: NamedBackend) throws {
        let parties = try Parties(scenario, named.backend)
        let sealed = try parties.sealWithFixedEphemeral()
        for mask: UInt8 in [0x01, 0x80] {
            let codes = try sealed.indices.map { index in
                var changed = sealed
                changed[index] ^= mask
                return try parties.openCode(changed)
            }
            let encCode = scenario.kem == .dhkemP256 ? HPKEError.Code.validation : .open
            #expect(codes.prefix(scenario.kem.encByteCount).allSatisfy { $0 == encCode })
            #expect(codes.dropFirst(scenario.kem.encByteCount).allSatisfy { $0 == .open })
        }
        #expect(try parties.open(sealed) == parties.plaintext)
    }

    @Test("a cut or extended message fails to open", arguments: scenarios, Backends.all)
    func otherLengths(_ scenario: Scenario, _ named: NamedBackend) throws {
        let parties = try Parties(scenario, named.backend)
        let sealed = try parties.sealWithFixedEphemeral()
        for count in 0..<sealed.count {
            #expect(try parties.openCode(Array(sealed.prefix(count))) == .open, "the first \(count) bytes")
            let code = try parties.openCode(Array(sealed.suffix(count)))
            #expect(code == .open || code == .validation, "the last \(count) bytes")
        }
        for extra in [[0], [4], [0xff], sealed] {
            #expect(try parties.openCode(sealed + extra) == .open)
            let code = try parties.openCode(extra + sealed)
            // With a second message in front, the opener reads that message's enc and finds no valid tag at the end.
            #expect(code == .open || code == .validation)
        }
        let enc = Array(sealed.prefix(scenario.kem.encByteCount))
        #expect(try parties.openCode(enc + sealed) == .open)
    }

    @Test("the enc of one message with the ct of another fails to open", arguments: scenarios, Backends.all)
    func partsOfTwoMessages(_ scenario: Scenario, _ named: NamedBackend) throws {
        let parties = try Parties(scenario, named.backend)
        let (first, second) = (try parties.seal(), try parties.seal())
        let count = scenario.kem.encByteCount
        #expect(try parties.openCode(Array(first.prefix(count) + second.dropFirst(count))) == .open)
        #expect(try parties.openCode(Array(second.prefix(count) + first.dropFirst(count))) == .open)
    }

    @Test("a recipient context refuses an enc of any other length", arguments: scenarios, Backends.all)
    func encLength(_ scenario: Scenario, _ named: NamedBackend) throws {
        let parties = try Parties(scenario, named.backend)
        let enc = try parties.senderSetup().enc
        for count in 0..<enc.count {
            #expect(try parties.setupCode(Array(enc.prefix(count))) == .validation, "\(count) bytes")
        }
        for extra in [[0], [4], enc] {
            #expect(try parties.setupCode(enc + extra) == .validation)
            #expect(try parties.setupCode(extra + enc) == .validation)
        }
    }
}

/// A recipient with an input other than the sender's can't open, and learns nothing else.
@Suite struct WrongInputTests {
    @Test("a message doesn't open under another info or aad", arguments: Scenario.onBackends)
    func infoAndAAD(_ scenario: Scenario, _ named: NamedBackend) throws {
        let parties = try Parties(scenario, named.backend)
        let sealed = try parties.seal()
        for (field, others) in [
            (\Parties.info, ["inf", "info\0", "jnfo", "aad"]), (\.aad, ["aa", "aad\0", "bad", "info"]),
        ] {
            for other in ["", "\0"] + others {
                var changed = parties
                changed[keyPath: field] = Array(other.utf8)
                #expect(try changed.openCode(sealed) == .open)
            }
        }
        #expect(try parties.open(sealed) == parties.plaintext)
    }

    @Test("a message doesn't open with another psk or psk_id, or without one", arguments: Scenario.onBackends)
    func psk(_ scenario: Scenario, _ named: NamedBackend) throws {
        let parties = try Parties(scenario, named.backend)
        let sealed = try parties.seal()
        let longer = try PSK(SecretBytes(copying: (Parties.seed(4) + [0]).bytes), id: Array("psk id".utf8))
        var wrong: [PSK?] = try [
            Parties.psk(byte: 5), Parties.psk(id: "psk ie"), Parties.psk(id: "psk id "), longer, nil,
        ]
        if !scenario.mode.hasPSK { wrong = [try Parties.psk()] }
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
        var wrong: [(any EncapsulationKey)?] = [try parties.hpke.testKey(9).publicKey, parties.recipientPublic]
        if scenario.mode.hasSenderKey { wrong += [try parties.hpke.testKey(2).publicKey, nil] }
        for key in wrong {
            var changed = parties
            changed.senderPublic = key
            #expect(try changed.openCode(sealed) == .open)
        }
    }

    @Test("a message doesn't open with another recipient's key", arguments: Scenario.onBackends)
    func recipientKey(_ scenario: Scenario, _ named: NamedBackend) throws {
        let parties = try Parties(scenario, named.backend)
        var toAStranger = parties
        toAStranger.recipientPublic = try parties.hpke.testKey(9).publicKey
        #expect(try parties.openCode(toAStranger.seal()) == .open)
    }

    @Test("a message doesn't open under another AEAD with the same keys", arguments: Scenario.onBackends)
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
        let otherPSK = try scenario.mode.hasPSK ? Parties.psk(byte: 5) : Parties.psk()
        let stranger = try parties.hpke.testKey(9).publicKey
        let changes: [(inout Parties) -> Void] = [
            { $0.info.append(0) }, { $0.psk = otherPSK }, { $0.senderPublic = stranger },
        ]
        for change in changes {
            var changed = parties
            change(&changed)
            let receiving = try changed.recipientContext(setup.enc)
            let received = try receiving.export([1].bytes, count: 32)
            #expect(received != sent)
        }
    }
}
