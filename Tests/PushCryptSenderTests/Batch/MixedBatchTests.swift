import PushCryptSender
import Testing

/// Batches whose recipients have keys of every suite that the machine has.
@Suite("a batch of several suites") struct MixedBatchTests {
    private static let channels = Channel.all.filter { !$0.isSigned }

    private static func request(_ number: Int) throws -> SealRequest<Int> {
        let payload = number % 7 == 3 ? #"{"aps":{}}"# : Requests.payload(number)
        let recipient = try channels[number % channels.count].recipient()
        return SealRequest(payload, to: recipient, placeholder: Channel.placeholder, context: number) {
            if number % 5 == 4 { $0.minimumSuite = .xWing }
        }
    }

    @Test(
        "every push opens with its key, in the order of the requests, and refused ones stop no others",
        arguments: [1, 8, 64])
    func mixed(width: Int) async throws {
        let requests = try (0..<280).map { try Self.request($0) }
        var contexts: [Int] = []
        var suites: Set<UInt8> = []
        for try await outcome in BatchSealer(try Channel.simple.sealer(), width: width).seal(requests) {
            let number = outcome.context
            contexts.append(number)
            let channel = Self.channels[number % Self.channels.count]
            let suite = try channel.recipient().suite
            if number % 7 == 3 {
                expectSenderError(.invalidPayload) { try outcome.result.get() }
            } else if number % 5 == 4, !suite.isPostQuantum {
                expectSenderError(.suiteTooLow) { try outcome.result.get() }
            } else {
                #expect(try Reading(outcome.result.get(), channel).payload == Requests.payload(number))
                suites.insert(suite.rawValue)
            }
        }
        #expect(contexts == Array(0..<280))
        #expect(suites == (Channel.all.contains(where: \.isXWing) ? [1, 2, 3, 4] : [1, 2, 4]))
    }

    @Test("a campaign has one id for each recipient, whatever the suite, and a repeated seal has the same ids")
    func campaign() throws {
        let recipients = try Self.channels.map { try $0.recipient() }
        let sealer = try Channel.simple.sealer(Sealer.Options(campaign: "spring"))
        let ids = try (0..<2).map { _ in
            try sealer.seal(Requests.payload(0), toEach: recipients).map { try $0.get().id }
        }
        #expect(ids[0] == ids[1])
        #expect(try ids[0] == recipients.map { try $0.messageID(ofCampaign: "spring") })
        #expect(Set(ids[0]).count == recipients.count)
    }
}
