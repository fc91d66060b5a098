import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptHPKE

@Suite struct ExportTests {
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
            let receiveCode = try hpkeErrorCode { try receiving.export([1].bytes, count: count) }
            #expect([sendCode, receiveCode] == [.invalidLength, .invalidLength], "\(count) bytes")
        }
    }

    @Test("another context or length changes an export; a message doesn't", arguments: scenarios, Backends.all)
    func contextAndLengthSeparate(_ scenario: Scenario, _ named: NamedBackend) throws {
        var setup = try Parties(scenario, named.backend).senderSetup()
        let first = try setup.context.export([1].bytes, count: 32).revealed
        if scenario.aead != .exportOnly { _ = try setup.context.seal([1].bytes) }
        let again = try setup.context.export([1].bytes, count: 32).revealed
        let otherContext = try setup.context.export([2].bytes, count: 32).revealed
        let noContext = try setup.context.export(.init(), count: 32).revealed
        let longer = try setup.context.export([1].bytes, count: 33).revealed
        #expect(first == again)
        #expect(Set([first, otherContext, noContext, Array(longer.prefix(32))]).count == 4)
    }

    @Test("an export-only context refuses Seal and Open with exportOnly", arguments: Scenario.exportOnly, Backends.all)
    func exportOnlySealsAndOpensNothing(_ scenario: Scenario, _ named: NamedBackend) throws {
        let parties = try Parties(scenario, named.backend)
        var setup = try parties.senderSetup()
        var receiving = try parties.recipientContext(setup.enc)
        let ciphertext = [UInt8](repeating: 0, count: 32)
        let contextSeal = try hpkeErrorCode { try setup.context.seal([1].bytes) }
        let contextOpen = try hpkeErrorCode { try receiving.open(ciphertext.bytes) }
        let codes = try [contextSeal, contextOpen, parties.sealCode(), parties.openCode(setup.enc + ciphertext)]
        #expect(codes == Array(repeating: .exportOnly, count: 4))
    }
}

@Suite struct SequenceTests {
    static let scenarios = Scenario.all.filter { $0.mode == .base }
    static let last = [UInt8](repeating: 0xff, count: 11) + [0xfe]
    static let limit = [UInt8](repeating: 0xff, count: 12)

    @Test func `increment adds one to the big-endian number with carry`() {
        var sequence = SequenceNumber()
        let wrong = (0..<UInt64(70_000)).first { number in
            defer { sequence.increment() }
            return sequence.bytes != SequenceNumber(number).bytes
        }
        #expect(wrong == nil)
        var carried = SequenceNumber(bytes: [0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff])
        carried.increment()
        #expect(carried.bytes == [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0])
        carried = SequenceNumber(bytes: [0] + [UInt8](repeating: 0xff, count: 11))
        carried.increment()
        #expect(carried.bytes == [1] + [UInt8](repeating: 0, count: 11))
    }

    @Test func `the nonce is the exclusive or of base nonce and number`() {
        let bytes: [UInt8] = Array(0x10..<0x1c)
        let base = SecretBytes(copying: bytes.bytes)
        #expect(SequenceNumber().nonce(base) == bytes)
        var expected = bytes
        expected[10] ^= 1
        expected[11] ^= 2
        #expect(SequenceNumber(0x0102).nonce(base) == expected)
        #expect(SequenceNumber(bytes: Self.limit).nonce(base) == bytes.map { $0 ^ 0xff })
    }

    @Test("300 messages of a context open in order", arguments: scenarios, Backends.all)
    func threeHundredMessages(_ scenario: Scenario, _ named: NamedBackend) throws {
        let parties = try Parties(scenario, named.backend)
        var setup = try parties.senderSetup()
        var receiving = try parties.recipientContext(setup.enc)
        var seen = Set<[UInt8]>()
        for _ in 0..<300 {
            let ciphertext = try setup.context.seal(parties.plaintext.bytes)
            seen.insert(ciphertext)
            let opened = try receiving.open(ciphertext.bytes)
            #expect(opened == parties.plaintext)
        }
        #expect(seen.count == 300)
    }

    @Test("the last message before the limit opens, and every later one is refused", arguments: scenarios, Backends.all)
    func limit(_ scenario: Scenario, _ named: NamedBackend) throws {
        let parties = try Parties(scenario, named.backend)
        var setup = try parties.senderSetup()
        var receiving = try parties.recipientContext(setup.enc)
        setup.context.sequence = SequenceNumber(bytes: Self.last)
        receiving.sequence = SequenceNumber(bytes: Self.last)
        let ciphertext = try setup.context.seal(parties.plaintext.bytes)
        let opened = try receiving.open(ciphertext.bytes)
        #expect(opened == parties.plaintext)
        for _ in 0..<2 {
            let sealCode = try hpkeErrorCode { try setup.context.seal(parties.plaintext.bytes) }
            let openCode = try hpkeErrorCode { try receiving.open(ciphertext.bytes) }
            #expect([sealCode, openCode] == [.messageLimitReached, .messageLimitReached])
        }
        let sequences = [setup.context.sequence.bytes, receiving.sequence.bytes]
        #expect(sequences == [Self.limit, Self.limit])
        let sent = try setup.context.export([1].bytes, count: 32)
        let received = try receiving.export([1].bytes, count: 32)
        #expect(sent == received)
    }

    @Test("a failed Open leaves the sequence number for the next message", arguments: scenarios, Backends.all)
    func failedOpenDoesNotAdvance(_ scenario: Scenario, _ named: NamedBackend) throws {
        let parties = try Parties(scenario, named.backend)
        var setup = try parties.senderSetup()
        var receiving = try parties.recipientContext(setup.enc)
        var messages = [[UInt8]]()
        for number: UInt8 in 1...3 { messages.append(try setup.context.seal([number].bytes)) }
        for (index, message) in messages.enumerated() {
            for (otherIndex, other) in messages.enumerated() where otherIndex != index {
                let code = try hpkeErrorCode { try receiving.open(other.bytes) }
                #expect(code == .open, "out of order or repeated")
            }
            let wrongAAD = try hpkeErrorCode { try receiving.open(message.bytes, aad: [0].bytes) }
            let short = try hpkeErrorCode { try receiving.open([1, 2].bytes) }
            #expect([wrongAAD, short] == [.open, .open])
            let before = receiving.sequence.bytes
            #expect(before == SequenceNumber(UInt64(index)).bytes)
            let opened = try receiving.open(message.bytes)
            #expect(opened == [UInt8(index + 1)])
        }
    }

    @Test("one plaintext has two ciphertexts under two numbers, each for its place", arguments: scenarios, Backends.all)
    func messagesArePlaced(_ scenario: Scenario, _ named: NamedBackend) throws {
        let parties = try Parties(scenario, named.backend)
        var setup = try parties.senderSetup()
        let first = try setup.context.seal(parties.plaintext.bytes)
        let second = try setup.context.seal(parties.plaintext.bytes)
        #expect(first != second)
        var receiving = try parties.recipientContext(setup.enc)
        receiving.sequence = SequenceNumber(1)
        let code = try hpkeErrorCode { try receiving.open(first.bytes) }
        #expect(code == .open)
        let opened = try receiving.open(second.bytes)
        #expect(opened == parties.plaintext)
    }
}
