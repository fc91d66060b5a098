import PushCryptSender
import Testing

@Suite struct CampaignTests {
    private static let json = #"{"aps":{"alert":"x"}}"#

    /// Sealed twice, it is one message to the device; and nothing else of the two is the same.
    @Test("the same campaign gives a recipient the same message id", arguments: Channel.all)
    func twice(channel: Channel) throws {
        let pushes = try (0..<2).map { _ in try channel.seal(Self.json, Sealer.Options(campaign: "spring")) }
        #expect(pushes[0].id == pushes[1].id)
        #expect(pushes[0].json != pushes[1].json)
        let headers = try pushes.map { try Reading($0, channel).inner.header }
        #expect(headers[0] != nil && headers[0] == headers[1])
    }

    @Test("another campaign or recipient gives another message id") func another() throws {
        let names: [String?] = ["spring", "Spring", "spring ", "autumn", nil, nil]
        let ids = try names.map { try Channel.simple.seal(Self.json, Sealer.Options(campaign: $0)).id }
        #expect(Set(ids).count == names.count)
    }

    @Test("a campaign name of 1 to 255 bytes is accepted", arguments: ["x", String(repeating: "x", count: 255)])
    func names(campaign: String) throws {
        #expect(try Channel.simple.seal(Self.json, Sealer.Options(campaign: campaign)).id.count == 22)
    }

    @Test(
        "a campaign name of no or more than 255 bytes is refused",
        arguments: ["", String(repeating: "x", count: 256), String(repeating: "é", count: 128)])
    func noNames(campaign: String) {
        expectSenderError(.invalidOption) { try Channel.simple.seal(Self.json, Sealer.Options(campaign: campaign)) }
    }
}
