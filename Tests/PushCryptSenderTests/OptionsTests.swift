import Foundation
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
        #expect(options.expiresAfterInSeconds == 90)
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
        #expect(options.limitInBytes == 4_096)
        #expect(options.expiresAfterInSeconds == 2_592_000)
        #expect(options.exposed.isEmpty)
    }
}

@Suite struct CampaignTests {
    private static let json = #"{"aps":{"alert":"x"}}"#

    @Test("the same campaign gives a recipient the same message id", arguments: Channel.all)
    func twice(channel: Channel) throws {
        let pushes = try (0..<2).map { _ in try channel.seal(Self.json, Sealer.Options(campaign: "spring")) }
        #expect(pushes[0].id == pushes[1].id)
        #expect(pushes[0].json != pushes[1].json)
        let headers = try pushes.map { try Reading($0, channel).inner.header(proof: .signature) }
        #expect(headers[0] != nil && headers[0] == headers[1])
    }

    @Test("another campaign name gives another message id, and a push without one has a random id") func another()
        throws
    {
        let names: [String?] = ["spring", "Spring", "spring ", "autumn", nil, nil]
        let ids = try names.map { try Channel.simple.seal(Self.json, Sealer.Options(campaign: $0)).id }
        #expect(Set(ids).count == names.count)
    }
}
