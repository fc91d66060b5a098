import PushCryptCore
import PushCryptPrimitives
import PushCryptSender
import Testing

@Suite("the minimum suite of a sealer") struct MinimumSuiteTests {
    private static let json = #"{"aps":{"alert":"x"}}"#

    private static func isBelowXWing(_ channel: Channel) -> Bool {
        channel.key.hasPrefix("p256") || channel.key.hasPrefix("x25519")
    }

    @Test("with a minimum of suite 3, suites 3 and 4 are sealed to and 1 and 2 are not", arguments: Channel.all)
    func minimum(channel: Channel) throws {
        for minimum in [nil, Suite.p256, .x25519, .xWing, .shared] {
            let options = Sealer.Options(minimumSuite: minimum)
            guard Self.isBelowXWing(channel), minimum == .xWing || minimum == .shared else {
                #expect(try Reading(channel.seal(Self.json, options), channel).payload == Self.json)
                continue
            }
            let reason = try #require(expectSenderError(.suiteTooLow) { try channel.seal(Self.json, options) }?.reason)
            let recipient = try channel.recipient()
            let start = "key \(recipient.kid) has suite \(recipient.suite.rawValue) (\(recipient.suite)), "
            #expect(reason.hasPrefix(start), "\(reason)")
            guard minimum == .xWing else { continue }
            #expect(reason.contains("at least suite 3 (HPKE X-Wing, AES-256-GCM) is required"), "\(reason)")
        }
    }

    @Test("one call can set the minimum, and another one can remove the sealer's")
    func changed() throws {
        let channel = Channel(key: "p256", isSigned: false)
        let recipient = try channel.recipient()
        expectSenderError(.suiteTooLow) {
            try channel.sealer().seal(Self.json, to: recipient) { $0.minimumSuite = .xWing }
        }
        _ = try channel.sealer(Sealer.Options(minimumSuite: .xWing))
            .seal(Self.json, to: recipient) { $0.minimumSuite = nil }
    }

    @Test("sealing to a key below the minimum suite uploads no payload, and the observer gets the suite and the error")
    func nothingStored() throws {
        let seen = Locked<[SealObservation]>([])
        let sealer = try Sealer(topic: "com.example.app", observer: { seal in seen.withLock { $0.append(seal) } })
        let long = PushNotification(title: String(repeating: "t", count: 9_000), body: "b")
        expectSenderError(.suiteTooLow) {
            try sealer.seal(long, to: Channel(key: "p256", isSigned: false).recipient()) {
                $0.minimumSuite = .xWing
                $0.oversize = .shortenBodyOrOffload(toAtLeast: 1) { _ in
                    Issue.record("a blob was stored")
                    return "https://a.b/c"
                }
            }
        }
        #expect(seen.withLock { $0.map(\.refusal) } == [.suiteTooLow])
        #expect(seen.withLock { $0.map(\.suite) } == [.p256])
    }

    @Test("of several recipients those below the minimum get the error, and the others their pushes, in their order")
    func each() throws {
        let channels = Channel.all.filter { !$0.isSigned }
        let sealer = try Channel.simple.sealer(Sealer.Options(minimumSuite: .xWing))
        let results = try sealer.seal(Self.json, toEach: channels.map { try $0.recipient() })
        #expect(results.count == channels.count)
        for (channel, result) in zip(channels, results) {
            if Self.isBelowXWing(channel) {
                expectSenderError(.suiteTooLow, "\(channel)") { try result.get() }
            } else {
                #expect(try Reading(result.get(), channel).payload == Self.json, "\(channel)")
            }
        }
    }
}
