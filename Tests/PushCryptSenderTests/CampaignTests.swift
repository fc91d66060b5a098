import PushCryptSender
import Testing

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

    @Test("a campaign name of 1 to 255 bytes is accepted", arguments: ["x", String(repeating: "x", count: 255)])
    func names(campaign: String) throws {
        #expect(try Channel.simple.seal(Self.json, Sealer.Options(campaign: campaign)).id.count == 22)
    }

    @Test(
        "an empty campaign name and one above 255 bytes are refused",
        arguments: ["", String(repeating: "x", count: 256), String(repeating: "é", count: 128)])
    func noNames(campaign: String) {
        expectSenderError(.invalidOption) { try Channel.simple.seal(Self.json, Sealer.Options(campaign: campaign)) }
    }
}
