import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptHPKE

@Suite struct ModifiedMessageTests {
    static let scenarios = Scenario.all.filter { $0.mode == .base || $0.mode == .authPSK }

    /// A changed enc is no point of P-256; every 32 bytes are an X25519 key, and the wrong one doesn't open.
    @Test(arguments: scenarios, Backends.all)
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

    @Test(arguments: scenarios, Backends.all)
    func everyTruncation(_ scenario: Scenario, _ named: NamedBackend) throws {
        let parties = try Parties(scenario, named.backend)
        let sealed = try parties.sealWithFixedEphemeral()
        for count in 0..<sealed.count {
            #expect(try parties.openCode(Array(sealed.prefix(count))) == .open, "the first \(count) bytes")
            let code = try parties.openCode(Array(sealed.suffix(count)))
            #expect(code == .open || code == .validation, "the last \(count) bytes")
        }
    }

    @Test(arguments: scenarios, Backends.all)
    func extended(_ scenario: Scenario, _ named: NamedBackend) throws {
        let parties = try Parties(scenario, named.backend)
        let sealed = try parties.sealWithFixedEphemeral()
        for extra in [[0], [4], [0xff], sealed] {
            #expect(try parties.openCode(sealed + extra) == .open)
            let code = try parties.openCode(extra + sealed)
            // A second message in front is opened in its place and its tag isn't where it should be.
            #expect(code == .open || code == .validation)
        }
        let enc = Array(sealed.prefix(scenario.kem.encByteCount))
        #expect(try parties.openCode(enc + sealed) == .open)
    }

    /// The parts of two messages don't go together.
    @Test(arguments: scenarios, Backends.all)
    func partsOfTwoMessages(_ scenario: Scenario, _ named: NamedBackend) throws {
        let parties = try Parties(scenario, named.backend)
        let first = try parties.seal()
        let second = try parties.seal()
        let count = scenario.kem.encByteCount
        #expect(try parties.openCode(Array(first.prefix(count) + second.dropFirst(count))) == .open)
        #expect(try parties.openCode(Array(second.prefix(count) + first.dropFirst(count))) == .open)
    }

    /// A recipient's context refuses an enc of any other length before anything is opened.
    @Test(arguments: scenarios, Backends.all)
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
