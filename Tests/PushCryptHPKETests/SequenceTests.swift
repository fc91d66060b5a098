import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptHPKE

@Suite struct SequenceTests {
    static let scenarios = Scenario.all.filter { $0.mode == .base }
    static let last = [UInt8](repeating: 0xff, count: 11) + [0xfe]
    static let limit = [UInt8](repeating: 0xff, count: 12)

    @Test("increment adds one to the big-endian number with carry")
    func increments() {
        var sequence = SequenceNumber()
        for number: UInt64 in 0..<70_000 {
            if sequence.bytes != SequenceNumber(number).bytes {
                Issue.record("\(sequence.bytes) is not \(number)")
                return
            }
            sequence.increment()
        }
        var carried = SequenceNumber(bytes: [0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff])
        carried.increment()
        #expect(carried.bytes == [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0])
        carried = SequenceNumber(bytes: [0] + [UInt8](repeating: 0xff, count: 11))
        carried.increment()
        #expect(carried.bytes == [1] + [UInt8](repeating: 0, count: 11))
    }

    @Test("the nonce is the exclusive or of base nonce and number")
    func nonceIsTheExclusiveOr() {
        let base = SecretBytes(copying: Array(0x10..<0x1c).bytes)
        #expect(SequenceNumber().nonce(base) == Array(0x10..<0x1c))
        #expect(SequenceNumber(0x0102).nonce(base) == Array(0x10..<0x1a) + [0x1a ^ 1, 0x1b ^ 2])
        #expect(SequenceNumber(bytes: Self.limit).nonce(base) == (0x10..<0x1c).map { $0 ^ 0xff })
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

    @Test(
        "the message before the limit is sealed and opened, and every later one is refused", arguments: scenarios,
        Backends.all)
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
            #expect(sealCode == .messageLimitReached)
            let openCode = try hpkeErrorCode { try receiving.open(ciphertext.bytes) }
            #expect(openCode == .messageLimitReached)
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
        for plaintext: [UInt8] in [[1], [2], [3]] {
            messages.append(try setup.context.seal(plaintext.bytes))
        }
        for (index, message) in messages.enumerated() {
            for (otherIndex, other) in messages.enumerated() where otherIndex != index {
                let code = try hpkeErrorCode { try receiving.open(other.bytes) }
                #expect(code == .open, "out of order or repeated")
            }
            let wrongAAD = try hpkeErrorCode { try receiving.open(message.bytes, aad: [0].bytes) }
            #expect(wrongAAD == .open)
            let short = try hpkeErrorCode { try receiving.open([1, 2].bytes) }
            #expect(short == .open)
            let before = receiving.sequence.bytes
            #expect(before == SequenceNumber(UInt64(index)).bytes)
            let opened = try receiving.open(message.bytes)
            #expect(opened == [UInt8(index + 1)])
        }
    }

    @Test(
        "one plaintext under two numbers has two ciphertexts, and each opens only in its place", arguments: scenarios,
        Backends.all)
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
