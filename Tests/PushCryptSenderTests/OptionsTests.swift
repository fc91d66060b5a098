import Foundation
import PushCryptSender
import Testing

@Suite struct OptionsTests {
    private static let json = #"{"aps":{"alert":"x"}}"#
    private static let latest = UnixTime.protocolRange.upperBound

    @Test(
        "the message expires after the lifetime in the options", arguments: [1, 2, 3_600, 30 * 86_400 - 1, 30 * 86_400])
    func lifetime(seconds: Int64) throws {
        let push = try Channel.simple.seal(Self.json, Sealer.Options(expiresAfterInSeconds: seconds))
        #expect(push.expiresAt == Channel.now + seconds)
    }

    @Test("a lifetime outside 1 second to 30 days is refused", arguments: [0, -1, .min, 30 * 86_400 + 1, .max])
    func noLifetime(seconds: Int64) {
        expectSenderError(.invalidOption) {
            try Channel.simple.seal(Self.json, Sealer.Options(expiresAfterInSeconds: seconds))
        }
    }

    private func seal(at time: Int64, expiresAfter seconds: Int64 = 1) throws -> SealedPush {
        let options = Sealer.Options(expiresAfterInSeconds: seconds)
        let sealer = try Sealer(topic: "com.example.app", options: options) { UnixTime(time) }
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

    @Test("the options of a call replace those of the sealer") func optionsOfACall() throws {
        let (sealer, recipient) = (try Channel.simple.sealer(), try Channel.simple.recipient())
        let options = Sealer.Options(padding: .limit, limitInBytes: 1_000, expiresAfterInSeconds: 7)
        let push = try sealer.seal(
            Data(Self.json.utf8), to: recipient, placeholder: Channel.placeholder, options: options)
        #expect((999...1_000).contains(push.byteCount))
        #expect(push.expiresAt == Channel.now + 7)
        let other = try sealer.seal(Data(Self.json.utf8), to: recipient, placeholder: Channel.placeholder)
        #expect(other.expiresAt == Channel.now + 30 * 86_400)
    }

    @Test(
        "Sealer.init throws invalidTopic for a topic that isn't a bundle identifier",
        arguments: ["", "com example", "com.example.app\n", "é", String(repeating: "a", count: 156)])
    func topic(topic: String) {
        let error = #expect(throws: KeyError.self) { try Sealer(topic: topic) }
        #expect(error?.code == .invalidTopic)
    }

    @Test("the standard options are those of the documentation") func standard() {
        let options = Sealer.Options()
        #expect(options.padding == .multiple(of: 128))
        #expect(options.limitInBytes == 4_096)
        #expect(options.expiresAfterInSeconds == 2_592_000)
        #expect(options.exposed.isEmpty)
    }
}
