import Foundation
import PushCryptCore
import PushCryptPrimitives
import PushCryptSender
import Testing

@Suite struct OptionsTests {
    private static let json = #"{"aps":{"alert":"x"}}"#
    private static let latest = UnixTime.protocolRange.upperBound

    @Test("a message expires after the lifetime in the options", arguments: [1, 3_600, 30 * 86_400])
    func lifetime(seconds: Int64) throws {
        let push = try Channel.simple.seal(Self.json, Sealer.Options(expiresAfter: .seconds(seconds)))
        #expect(push.expiresAt == Channel.now + seconds)
    }

    @Test("a negative or extreme lifetime is refused", arguments: [-1, .min, .max])
    func noLifetime(seconds: Int64) {
        expectSenderError(.invalidOption) {
            try Channel.simple.seal(Self.json, Sealer.Options(expiresAfter: .seconds(seconds)))
        }
    }

    private func seal(at time: Int64, expiresAfter seconds: Int64 = 1) throws -> SealedPush {
        let options = Sealer.Options(expiresAfter: .seconds(seconds))
        let sealer = try Sealer(topic: "com.example.app", options: options, clock: { UnixTime(time) })
        let recipient = try Channel.simple.recipient()
        return try sealer.seal(Data(Self.json.utf8), to: recipient, placeholder: Channel.placeholder)
    }

    @Test("the lifetime of a message begins at the clock's time", arguments: [0, 1, 1_800_000_000, latest - 1])
    func clock(time: Int64) throws {
        #expect(try seal(at: time).expiresAt == UnixTime(time + 1))
    }

    /// The protocol's integers can't represent these times.
    @Test("a clock outside the protocol's range is refused", arguments: [-1, .min, latest, latest + 1, .max - 1, .max])
    func clockOutOfRange(time: Int64) {
        expectSenderError(.invalidOption) { try seal(at: time) }
        expectSenderError(.invalidOption) { try seal(at: time, expiresAfter: 30 * 86_400) }
    }

    /// A call that replaced the options would undo a privacy setting of the sealer.
    @Test("a call that changes one option keeps the others of the sealer, and the next call has all of them")
    func optionsOfACall() throws {
        let sealer = try Channel.simple.sealer(
            Sealer.Options(padding: .limit, limitInBytes: 1_000, expiresAfter: .seconds(7), exposed: ["badge"]))
        let recipient = try Channel.simple.recipient()
        let payload = #"{"aps":{"alert":"x","badge":3}}"#
        let push = try sealer.seal(payload, to: recipient) { $0.campaign = "order-4711" }
        #expect(push.id == (try recipient.messageID(ofCampaign: "order-4711")))
        let other = try sealer.seal(payload, to: recipient) { $0.expiresAfter = .seconds(8) }
        #expect(other.expiresAt == Channel.now + 8)
        for sealed in [push, other, try sealer.seal(payload, to: recipient)] {
            #expect((999...1_000).contains(sealed.byteCount))
            #expect(try Reading(sealed, .simple).aps["badge"] as? Int == 3)
        }
        #expect(push.expiresAt == Channel.now + 7)
    }

    @Test("a call without placeholder has the sealer's, and one with a placeholder that one") func placeholder() throws
    {
        let recipient = try Channel.simple.recipient()
        let sealer = try Sealer(
            topic: "com.example.app", placeholder: .literal(title: "Clinic", body: nil), clock: { Channel.now })
        #expect(try Reading(sealer.seal(Self.json, to: recipient), .simple).alert["title"] as? String == "Clinic")
        let push = try sealer.seal(Self.json, to: recipient, placeholder: .literal(title: "Other", body: nil))
        #expect(try Reading(push, .simple).alert["title"] as? String == "Other")
    }

    @Test("times are given and read as seconds, durations and dates") func times() throws {
        var options = Sealer.Options(expiresAfter: .seconds(60))
        #expect(options.expiresAfter == .seconds(60))
        options.expiresAfter = .milliseconds(90_999)
        #expect(options.expiresAfter?.components.seconds == 90)
        #expect(PendingRegistration.validity == .seconds(600))
        #expect(UnixTime(Date(timeIntervalSince1970: 1.9)) == UnixTime(1))
        #expect(UnixTime(Date(timeIntervalSince1970: -0.1)) == UnixTime(-1))
        #expect(UnixTime(Date(timeIntervalSince1970: 1e300)) == UnixTime(.max))
        #expect(UnixTime(1_800_000_000).date == Date(timeIntervalSince1970: 1_800_000_000))
    }

    @Test(
        "Sealer.init throws invalidTopic for a topic that isn't a bundle identifier",
        arguments: ["", "com example", "com.example.app\n", "é", String(repeating: "a", count: 156)])
    func topic(topic: String) {
        expectKeyError(.invalidTopic) { try Sealer(topic: topic) }
    }

    @Test("the standard options are those of the documentation") func standard() {
        let options = Sealer.Options()
        #expect(options.padding == .multiple(of: 128))
        #expect(options.limitInBytes == nil && options.carrier == .apns)
        #expect(options.expiresAfter == nil)
        #expect(options.exposed.isEmpty)
    }

    @Test("another campaign name gives another message id, and a push without one has a random id")
    func campaigns() throws {
        let names: [String?] = ["spring", "Spring", "spring ", "autumn", nil, nil]
        let ids = try names.map { try Channel.simple.seal(Self.json, Sealer.Options(campaign: $0)).id }
        #expect(Set(ids).count == names.count)
    }
}

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
