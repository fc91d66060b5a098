import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptHPKE

@Suite struct ExportTests {
    /// All AEADs in base mode, including export-only.
    static let scenarios = (Scenario.all + Scenario.exportOnly).filter { $0.mode == .base }

    @Test("Export returns 0 to 8,160 bytes and refuses other lengths", arguments: scenarios, Backends.all)
    func lengths(_ scenario: Scenario, _ named: NamedBackend) throws {
        let parties = try Parties(scenario, named.backend)
        let setup = try parties.senderSetup()
        let receiving = try parties.recipientContext(setup.enc)
        for count in [0, 1, 32, 33, 8160] {
            let sent = try setup.context.export([1].bytes, count: count)
            let received = try receiving.export([1].bytes, count: count)
            #expect(sent.count == count)
            #expect(sent == received)
        }
        for count in [-1, 8161, 65_536, Int.max, Int.min] {
            let sendCode = try hpkeErrorCode { try setup.context.export([1].bytes, count: count) }
            #expect(sendCode == .invalidLength, "\(count) bytes")
            let receiveCode = try hpkeErrorCode { try receiving.export([1].bytes, count: count) }
            #expect(receiveCode == .invalidLength, "\(count) bytes")
        }
    }

    @Test(
        "exports with different contexts or lengths differ, and a repeated export is the same", arguments: scenarios,
        Backends.all)
    func contextAndLengthSeparate(_ scenario: Scenario, _ named: NamedBackend) throws {
        let setup = try Parties(scenario, named.backend).senderSetup()
        let first = try setup.context.export([1].bytes, count: 32).revealed
        let again = try setup.context.export([1].bytes, count: 32).revealed
        let otherContext = try setup.context.export([2].bytes, count: 32).revealed
        let noContext = try setup.context.export(.init(), count: 32).revealed
        let longer = try setup.context.export([1].bytes, count: 33).revealed
        #expect(first == again)
        #expect(Set([first, otherContext, noContext, Array(longer.prefix(32))]).count == 4)
    }

    @Test(
        "an export is the same before and after messages", arguments: scenarios.filter { $0.aead != .exportOnly },
        Backends.all)
    func beforeAndAfterMessages(_ scenario: Scenario, _ named: NamedBackend) throws {
        var setup = try Parties(scenario, named.backend).senderSetup()
        let before = try setup.context.export([1].bytes, count: 32)
        _ = try setup.context.seal([1].bytes)
        let after = try setup.context.export([1].bytes, count: 32)
        #expect(before == after)
    }

    @Test("an export-only context refuses Seal and Open with exportOnly", arguments: Scenario.exportOnly, Backends.all)
    func exportOnlySealsAndOpensNothing(_ scenario: Scenario, _ named: NamedBackend) throws {
        let parties = try Parties(scenario, named.backend)
        var setup = try parties.senderSetup()
        var receiving = try parties.recipientContext(setup.enc)
        let ciphertext = [UInt8](repeating: 0, count: 32)
        let contextSeal = try hpkeErrorCode { try setup.context.seal([1].bytes) }
        #expect(contextSeal == .exportOnly)
        let contextOpen = try hpkeErrorCode { try receiving.open(ciphertext.bytes) }
        #expect(contextOpen == .exportOnly)
        let enc = setup.enc
        #expect(try hpkeErrorCode { try parties.seal() } == .exportOnly)
        #expect(try parties.openCode(enc + ciphertext) == .exportOnly)
    }
}
