import PushCryptSender
import PushCryptTestSupport
import Testing

/// A batch that ends early stops reading requests.
@Suite struct BatchEndTests {
    private struct Broken: Error {}

    /// A source without elements. It gives `isAsked` when a reader waits, and `hasEnded` when that reader is cancelled.
    private struct Silence {
        let isAsked = Signal()
        let hasEnded = Signal()

        var requests: AsyncStream<SealRequest<Int>> {
            AsyncStream { [isAsked, hasEnded] in
                isAsked.give()
                await hasEnded.wait()
                return nil
            } onCancel: { [hasEnded] in
                hasEnded.give()
            }
        }
    }

    @Test("cancelling a batch that waits for a request ends it") func cancelledWhileWaiting() async throws {
        let (silence, sealer) = (Silence(), BatchSealer(try Channel.simple.sealer()))
        let requests = silence.requests
        let reader = Task {
            for try await _ in sealer.seal(requests) { Issue.record("an outcome") }
        }
        await silence.isAsked.wait()
        reader.cancel()
        try await reader.value
        await silence.hasEnded.wait()
    }

    @Test("cancelling a batch in the middle ends it") func cancelledInTheMiddle() async throws {
        let requests = try Requests(Channel.simple, count: .max)
        let sealer = BatchSealer(try Channel.simple.sealer(), width: 3)
        let reader = Task {
            var contexts: [Int] = []
            for try await outcome in sealer.seal(requests) {
                contexts.append(outcome.context)
                if contexts.count == 10 { unsafe withUnsafeCurrentTask { task in unsafe task?.cancel() } }
            }
            return contexts
        }
        #expect(try await reader.value == Array(0..<10))
    }

    @Test("releasing a batch's iterator cancels the reading of requests") func released() async throws {
        let (silence, sealer) = (Silence(), BatchSealer(try Channel.simple.sealer()))
        var iterator: SealedBatch<Int>.AsyncIterator? = sealer.seal(silence.requests).makeAsyncIterator()
        await silence.isAsked.wait()
        #expect(iterator != nil)
        iterator = nil
        await silence.hasEnded.wait()
    }

    @Test("a source's error is thrown after the outcomes of earlier requests", arguments: [1, 4, 100])
    func brokenSource(width: Int) async throws {
        let (stream, continuation) = AsyncThrowingStream.makeStream(of: SealRequest<Int>.self)
        for number in 0..<20 { continuation.yield(try Requests.request(Channel.simple, number)) }
        continuation.finish(throwing: Broken())
        var contexts: [Int] = []
        await #expect(throws: Broken.self) {
            for try await outcome in BatchSealer(try Channel.simple.sealer(), width: width).seal(stream) {
                contexts.append(outcome.context)
            }
        }
        #expect(contexts == Array(0..<20))
    }
}
