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

    @Test("every truncated message fails to open", arguments: scenarios, Backends.all)
    func everyTruncation(_ scenario: Scenario, _ named: NamedBackend) throws {
        let parties = try Parties(scenario, named.backend)
        let sealed = try parties.sealWithFixedEphemeral()
        for count in 0..<sealed.count {
            #expect(try parties.openCode(Array(sealed.prefix(count))) == .open, "the first \(count) bytes")
            let code = try parties.openCode(Array(sealed.suffix(count)))
            #expect(code == .open || code == .validation, "the last \(count) bytes")
        }
    }

    @Test("a message with added bytes fails to open", arguments: scenarios, Backends.all)
    func extended(_ scenario: Scenario, _ named: NamedBackend) throws {
        let parties = try Parties(scenario, named.backend)
        let sealed = try parties.sealWithFixedEphemeral()
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
        let first = try parties.seal()
        let second = try parties.seal()
        let count = scenario.kem.encByteCount
        #expect(try parties.openCode(Array(first.prefix(count) + second.dropFirst(count))) == .open)
        #expect(try parties.openCode(Array(second.prefix(count) + first.dropFirst(count))) == .open)
    }

    @Test("a recipient context refuses an enc of any other length", arguments: scenarios, Backends.all)
    func encLength(_ scenario: Scenario, _ named: NamedBackend) throws {
        let parties = try Parties(scenario, named.backend)
        let setup = try parties.senderSetup()
        let enc = setup.enc
        for count in 0..<enc.count {
            #expect(try parties.setupCode(Array(enc.prefix(count))) == .validation, "\(count) bytes")
        }
        for extra in [[0], [4], enc] {
            #expect(try parties.setupCode(enc + extra) == .validation)
            #expect(try parties.setupCode(extra + enc) == .validation)
        }
    }
}
