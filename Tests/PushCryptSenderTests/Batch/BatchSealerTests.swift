import PushCryptSender
import PushCryptTestSupport
import Testing

@Suite struct BatchSealerTests {
    /// Sealed and refused requests alternate at random.
    @Test(
        "outcomes are in the order of their requests", arguments: [1, 2, 7, 64, 1_000],
        [Channel.all[0], Channel.all[11]])
    func order(width: Int, channel: Channel) async throws {
        var random = SplitMix64(seed: UInt64(width))
        let areGood = (0..<100).map { _ in Bool.random(using: &random) }
        let requests = try Requests(channel, count: areGood.count) { areGood[$0] ? Requests.payload($0) : "{}" }
        var contexts: [Int] = []
        for try await outcome in BatchSealer(try channel.sealer(), width: width).seal(requests) {
            contexts.append(outcome.context)
            if areGood[outcome.context] {
                let push = try outcome.result.get()
                #expect(try Reading(push, channel).payload == Requests.payload(outcome.context))
            } else {
                expectSenderError(.invalidPayload) { try outcome.result.get() }
            }
        }
        #expect(contexts == Array(0..<100))
    }

    /// The source has no end, so a batch without a bound would read far ahead.
    @Test("a batch with the largest width seals all requests", arguments: [true, false])
    func largestWidth(isListed: Bool) async throws {
        let requests = try Requests(Channel.simple, count: 3)
        let sealer = BatchSealer(try Channel.simple.sealer(), width: .max)
        let outcomes = isListed ? sealer.seal(requests.listed) : sealer.seal(requests)
        var contexts: [Int] = []
        for try await outcome in outcomes { contexts.append(outcome.context) }
        #expect(contexts == [0, 1, 2])
    }

    @Test("a batch reads no more requests ahead than its width", arguments: [1, 2, 5, 32])
    func backpressure(width: Int) async throws {
        let requests = try Requests(Channel.simple, count: .max)
        let outcomes = BatchSealer(try Channel.simple.sealer(), width: width).seal(requests).makeAsyncIterator()
        var iterator = outcomes
        for taken in 1...200 {
            let outcome = try await iterator.next()
            #expect(outcome?.context == taken - 1)
            // The permit of the outcome that was just taken is available already.
            #expect(requests.readCount <= taken + width)
        }
    }

    @Test("outcomes of a sequence are in the order of its requests", arguments: [nil, 1, 7, 64, 1_000])
    func orderOfSequence(width: Int?) async throws {
        let requests = try Requests(Channel.simple, count: 300) { $0 % 3 == 0 ? "{}" : Requests.payload($0) }.listed
        var contexts: [Int] = []
        for try await outcome in BatchSealer(try Channel.simple.sealer(), width: width).seal(requests) {
            contexts.append(outcome.context)
            if outcome.context % 3 == 0 {
                expectSenderError(.invalidPayload) { try outcome.result.get() }
            } else {
                #expect(try Reading(outcome.result.get(), .simple).payload == Requests.payload(outcome.context))
            }
        }
        #expect(contexts == Array(0..<300))
    }

    /// Requests are read in chunks, which count as a whole.
    @Test("a batch reads no more requests of a sequence ahead than its width", arguments: [1, 2, 5, 32, 333, 1_000])
    func backpressureOfSequence(width: Int) async throws {
        let requests = try Requests(Channel.simple, count: .max)
        let batch = BatchSealer(try Channel.simple.sealer(), width: width).seal(requests.listed)
        var outcomes = batch.makeAsyncIterator()
        for taken in 1...1_500 {
            #expect(try await outcomes.next()?.context == taken - 1)
            #expect(requests.readCount <= taken + width)
        }
    }

    @Test("a width below one counts as one", arguments: [0, -1])
    func widthIsOneAtLeast(width: Int) async throws {
        let requests = try Requests(Channel.simple, count: 3)
        var count = 0
        for try await _ in BatchSealer(try Channel.simple.sealer(), width: width).seal(requests) { count += 1 }
        #expect(count == 3)
    }

    @Test("a batch without requests has no outcomes") func nothing() async throws {
        let requests = try Requests(Channel.simple, count: 0)
        for try await _ in BatchSealer(try Channel.simple.sealer()).seal(requests) { Issue.record("an outcome") }
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
    func ownOptionsAndEncodable()
        async throws
    {
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

/// An encoder's error quotes what it couldn't write.
private struct Unwritable: Encodable {
    func encode(to encoder: any Encoder) throws {
        throw EncodingError.invalidValue(
            self, EncodingError.Context(codingPath: encoder.codingPath, debugDescription: "secret"))
    }
}
