import PushCryptPrimitives
import PushCryptSender
import PushCryptTestSupport
import Testing

@Suite struct BatchSealerTests {
    /// Sealed and refused requests alternate at random.
    @Test(
        "outcomes are in the order of their requests, which are asynchronous or a sequence",
        arguments: [nil, 1, 2, 7, 64, 1_000], [Channel.all[0], Channel.all[11], .simple])
    func order(width: Int?, channel: Channel) async throws {
        var random = SplitMix64(seed: UInt64(width ?? 0))
        let areGood = (0..<300).map { _ in Bool.random(using: &random) }
        let sealer = BatchSealer(try channel.sealer(), width: width)
        for isListed in [false, true] {
            let requests = try Requests(channel, count: areGood.count) { areGood[$0] ? Requests.payload($0) : "{}" }
            var contexts: [Int] = []
            for try await outcome in isListed ? sealer.seal(requests.listed) : sealer.seal(requests) {
                contexts.append(outcome.context)
                if areGood[outcome.context] {
                    let push = try outcome.result.get()
                    #expect(try Reading(push, channel).payload == Requests.payload(outcome.context))
                } else {
                    expectSenderError(.invalidPayload) { try outcome.result.get() }
                }
            }
            #expect(contexts == Array(0..<300))
        }
    }

    @Test(
        "a batch of any width seals all requests; a width below one counts as one",
        arguments: [(.max, 3), (0, 3), (-1, 3), (4, 0)] as [(width: Int, count: Int)], [true, false])
    func anyWidth(batch: (width: Int, count: Int), isListed: Bool) async throws {
        let requests = try Requests(Channel.simple, count: batch.count)
        let sealer = BatchSealer(try Channel.simple.sealer(), width: batch.width)
        var contexts: [Int] = []
        for try await outcome in isListed ? sealer.seal(requests.listed) : sealer.seal(requests) {
            contexts.append(outcome.context)
        }
        #expect(contexts == Array(0..<batch.count))
    }

    /// Requests of a sequence are read in chunks, which count as a whole.
    @Test("a batch reads no more requests ahead than its width", arguments: [1, 2, 5, 32, 333, 1_000], [true, false])
    func backpressure(width: Int, isListed: Bool) async throws {
        let requests = try Requests(Channel.simple, count: .max)
        let sealer = BatchSealer(try Channel.simple.sealer(), width: width)
        var outcomes = (isListed ? sealer.seal(requests.listed) : sealer.seal(requests)).makeAsyncIterator()
        for taken in 1...(isListed ? 1_500 : 200) {
            #expect(try await outcomes.next()?.context == taken - 1)
            // The permit of the outcome that was just taken is available already.
            #expect(requests.readCount <= taken + width)
        }
    }

    @Test("an outcome is available before the next request arrives") func prompt() async throws {
        let (stream, continuation) = AsyncStream.makeStream(of: SealRequest<Int>.self)
        var outcomes = BatchSealer(try Channel.simple.sealer(), width: 8).seal(stream).makeAsyncIterator()
        for number in 0..<5 {
            continuation.yield(try Requests.request(Channel.simple, number))
            #expect(try await outcomes.next()?.context == number)
        }
        continuation.finish()
        #expect(try await outcomes.next() == nil)
    }

    @Test("a request's changes of the options are used, and the error of an encoder isn't quoted")
    func ownOptionsAndEncodable() async throws {
        let (stream, continuation) = AsyncStream.makeStream(of: SealRequest<Void>.self)
        let recipient = try Channel.simple.recipient()
        continuation.yield(
            SealRequest(
                PushNotification(body: "x"), to: recipient, placeholder: .standard, context: (),
                changing: { $0.expiresAfter = .seconds(7) }))
        continuation.yield(SealRequest(Unwritable(), to: recipient, placeholder: .standard, context: ()))
        continuation.finish()
        var outcomes = BatchSealer(try Channel.simple.sealer()).seal(stream).makeAsyncIterator()
        #expect(try await outcomes.next()?.result.get().expiresAt == Channel.now + 7)
        let second = try #require(try await outcomes.next())
        let error = expectSenderError(.invalidPayload) { try second.result.get() }
        #expect(error?.reason.contains("secret") == false)
    }
}

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

/// An encoder's error quotes what it couldn't write.
private struct Unwritable: Encodable {
    func encode(to encoder: any Encoder) throws {
        throw EncodingError.invalidValue(
            self, EncodingError.Context(codingPath: encoder.codingPath, debugDescription: "secret"))
    }
}

/// Numbered requests to one recipient. They count how many were read.
struct Requests: AsyncSequence, Sendable {
    typealias Element = SealRequest<Int>

    private let count: Int
    private let recipient: Recipient
    private let payload: @Sendable (Int) -> String
    private let read = Locked(0)

    init(_ channel: Channel, count: Int, payload: @escaping @Sendable (Int) -> String = Requests.payload) throws {
        recipient = try channel.recipient()
        self.count = count
        self.payload = payload
    }

    static func payload(_ number: Int) -> String { #"{"aps":{"alert":"x"},"n":\#(number)}"# }

    static func request(_ channel: Channel, _ number: Int) throws -> SealRequest<Int> {
        SealRequest(
            Array(payload(number).utf8), to: try channel.recipient(), placeholder: Channel.placeholder, context: number)
    }

    var readCount: Int { read.withLock { $0 } }

    func makeAsyncIterator() -> Iterator { Iterator(requests: self) }

    struct Iterator: AsyncIteratorProtocol {
        fileprivate let requests: Requests

        mutating func next() async -> SealRequest<Int>? { requests.next() }
    }

    /// The same requests as a sequence that isn't asynchronous.
    struct Listed: Sequence, IteratorProtocol, Sendable {
        fileprivate let requests: Requests

        mutating func next() -> SealRequest<Int>? { requests.next() }
    }

    var listed: Listed { Listed(requests: self) }

    private func next() -> SealRequest<Int>? {
        let number = read.withLock { count in
            defer { count += 1 }
            return count
        }
        guard number < count else { return nil }
        return SealRequest(
            Array(payload(number).utf8), to: recipient, placeholder: Channel.placeholder, context: number)
    }
}
